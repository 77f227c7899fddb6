"""Prop 3.1 for tokens that are sub-Gaussian but not Gaussian."""

from collections.abc import Mapping, Sequence

import pandas as pd

from largeprompt.claims.decision import Control, Decision

COLUMNS = ["law", "heavy", "sigma", "quantity", "L", "error", "stderr", "calibrates", "bound"]


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge errors of sub-Gaussian and spreads of heavy-tailed laws by one bound (registry)."""
    (table,) = tables
    tests = table[(table["L"] >= 2) & ~table["calibrates"].astype(bool)]
    tests = tests.assign(ratio=(tests["error"] - tolerance["z"] * tests["stderr"]) / tests["bound"])
    heavy = tests["heavy"].astype(bool)
    covered = tests[~heavy & (tests["quantity"] == "error")]
    outside = tests[heavy & (tests["quantity"] == "spread")].groupby("law")["ratio"].max()
    ratio = covered["ratio"].max()
    laws = ", ".join(covered["law"].unique())
    return Decision(
        measured=f"error / bound at most {ratio:.2g} on {len(covered)} cells of {laws} tokens",
        allowed=f"1, {tolerance['z']:g} standard errors granted, one c1 for all laws and sigmas",
        control=Control(
            "without exponential moment, two prompts apart: "
            + ", ".join(f"{law} {r:.2g} of the bound" for law, r in outside.items()),
            failed=len(outside) > 0 and bool((outside > 1).all()),
        ),
        holds=bool(ratio <= 1),
        refuted=True,
        numbers={"ratio": ratio, **{law: float(r) for law, r in outside.items()}},
    )
