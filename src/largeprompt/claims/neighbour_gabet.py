"""Gabet, Boursier & Boyer: on Gaussian mixtures softmax attention gates affine experts."""

from collections.abc import Mapping, Sequence

import pandas as pd

from largeprompt.claims import operator_neighbour_rule
from largeprompt.claims.decision import Decision

COLUMNS = operator_neighbour_rule.COLUMNS


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge where the distance from the operator levels off (see the registry)."""
    (table,) = tables
    return operator_neighbour_rule.judge(table, "gabet", tolerance)
