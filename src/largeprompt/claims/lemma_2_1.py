"""Lemma 2.1: the infinite-prompt operator of Gaussian tokens is affine in the query."""

from collections.abc import Mapping, Sequence

import pandas as pd

from largeprompt.claims.decision import Control, Decision

COLUMNS = ["law", "limit", "quantity", "L", "value", "stderr"]


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge the floor of the distance from the affine formula (see the registry)."""
    (table,) = tables
    affine = table[table["limit"] == "affine"].set_index(["quantity", "law"])
    floors, gaps = affine.loc["floor"], affine.loc["gap"]
    value, stderr = floors.loc["gaussian", ["value", "stderr"]]
    z = tolerance["z"]
    precise = stderr * z <= tolerance["precision"]
    off = abs(value) > z * stderr
    others = floors.drop("gaussian")
    stays = others["value"] > z * others["stderr"]
    error = (others["stderr"] ** 2 + gaps["stderr"].reindex(others.index) ** 2) ** 0.5
    exact = (others["value"] - gaps["value"].reindex(others.index)).abs() <= z * error
    return Decision(
        measured=f"distance {value:.2g} ± {stderr:.1g} of the squared output",
        allowed=f"0 within {z:g} standard errors, known to {tolerance['precision']:g}",
        control=Control(
            ", ".join(
                f"{law} {v:.2g} ± {e:.1g}" for law, v, e in others[["value", "stderr"]].itertuples()
            ),
            failed=len(others) > 0 and bool((stays & exact).all()),
        ),
        holds=not off if precise else None,
        refuted=off,
        numbers={"distance": value, "stderr": stderr},
    )
