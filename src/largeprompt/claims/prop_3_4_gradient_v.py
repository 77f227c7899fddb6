"""Prop 3.4: the mean square error of the gradient in V is below its envelope."""

from collections.abc import Mapping, Sequence

import pandas as pd

from largeprompt.claims.decision import Decision
from largeprompt.claims.envelope import judged

COLUMNS = [
    *("quantity", "sigma", "L", "error", "stderr"),
    *("calibrates", "bound", "sigma_free_bound"),
]


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge the bound on prompts longer than those that set c1, and at L = 1 (see the registry)."""
    (table,) = tables
    return judged(table[table["quantity"] == "gradient_v"].reset_index(drop=True), tolerance["z"])
