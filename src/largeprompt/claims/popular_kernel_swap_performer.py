"""Popular claim: Performer can be swapped in for softmax attention on long prompts."""

from collections.abc import Mapping, Sequence

import pandas as pd

from largeprompt.claims import kernel_swap_rule
from largeprompt.claims.decision import Decision

COLUMNS = kernel_swap_rule.COLUMNS


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge the rise in risk at the longest prompt (see the registry)."""
    (table,) = tables
    return kernel_swap_rule.judge(table, "performer", "simulation", tolerance)
