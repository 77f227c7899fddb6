"""The rule that the claims about operators of related papers share: that of Lemma 2.1."""

from collections.abc import Mapping

import pandas as pd

from largeprompt.claims.decision import Control, Decision

COLUMNS = ["neighbour", "case", "applies", "quantity", "L", "value", "stderr"]


def judge(table: pd.DataFrame, neighbour: str, tolerance: Mapping[str, float]) -> Decision:
    """Judge where the distance from the operator levels off, case by case (see the registry)."""
    rows = table[(table["neighbour"] == neighbour) & (table["quantity"] == "floor")]
    applies = rows["applies"].astype(bool)
    cases, controls = rows[applies], rows[~applies]
    z = tolerance["z"]
    off = cases["value"].abs() > z * cases["stderr"]
    precise = (z * cases["stderr"] <= tolerance["precision"]).all()
    stays = controls["value"] - z * controls["stderr"] > tolerance["precision"]
    return Decision(
        measured=f"distance from the operator: {_listed(cases)} of the squared output",
        allowed=f"0 within {z:g} standard errors, known to {tolerance['precision']:g}",
        control=Control(_listed(controls), failed=len(controls) > 0 and bool(stays.all())),
        holds=bool(not off.any()) if precise else None,
        refuted=bool(off.any()),
        numbers=dict(zip(cases["case"], cases["value"], strict=True)),
    )


def _listed(rows: pd.DataFrame) -> str:
    return ", ".join(
        f"{case} {value:.2g} ± {stderr:.1g}"
        for case, value, stderr in rows[["case", "value", "stderr"]].itertuples(index=False)
    )
