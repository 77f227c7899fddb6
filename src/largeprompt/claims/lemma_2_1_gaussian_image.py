"""Lemma 2.1: the infinite-prompt operator maps a Gaussian query law to a Gaussian law."""

from collections.abc import Mapping, Sequence

import pandas as pd
from scipy.stats import norm

from largeprompt.claims.decision import Control, Decision

COLUMNS = ["law", "quantity", "measured", "expected", "z_score"]


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge the largest z score of moments and normality of each law (see the registry)."""
    (table,) = tables
    gaussian = table[table["law"] == "gaussian"]
    allowed = float(norm.isf(tolerance["level"] / len(gaussian) / 2))
    worst = table.assign(z_score=table["z_score"].abs())
    worst = worst.groupby(["law", worst["quantity"] == "normality"])["z_score"].max().unstack()
    moments, normality = (float(worst.loc["gaussian", k]) for k in (False, True))
    others = worst.drop("gaussian")
    holds = max(moments, normality) <= allowed
    return Decision(
        measured=f"z scores at most {moments:.2g} of mean and covariance, {normality:.2g} of "
        f"normality, {len(gaussian)} tests",
        allowed=f"{allowed:.2g} (level {tolerance['level']:g} in all)",
        control=Control(
            "normality: " + ", ".join(f"{law} {v:.3g}" for law, v in others[True].items()),
            failed=len(others) > 0 and bool((others[True] > allowed).all()),
        ),
        holds=holds,
        refuted=not holds,
        numbers={"moments": moments, "normality": normality},
    )
