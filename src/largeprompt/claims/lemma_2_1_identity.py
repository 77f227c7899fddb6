"""Lemma 2.1 on random problems: the affine formula against sums that do not use it."""

from collections.abc import Mapping, Sequence

import pandas as pd

from largeprompt.claims.decision import Control, Decision

COLUMNS = ["route", "dimension", "rank", "formula", "deviation", "error", "size", "z_score"]


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge the largest deviation of each route (see the registry)."""
    (table,) = tables
    affine, control = (_worst(table, name) for name in ("affine", "uncentred"))
    sampled = table[(table["route"] == "sampling") & (table["formula"] == "affine")]
    blur = float((sampled["error"] / sampled["size"]).max())
    holds = affine[0] <= tolerance["relative"] and affine[1] <= tolerance["z"]
    singular = int((sampled["rank"] < sampled["dimension"]).sum())
    return Decision(
        measured=f"relative deviation {affine[0]:.1g} by quadrature, {affine[1]:.2g} standard "
        f"errors by sampling (up to d = {table['dimension'].max()}, {singular} of {len(sampled)} "
        f"sampled with singular Gamma; error {blur:.2g} of the output)",
        allowed=f"{tolerance['relative']:.0e}; {tolerance['z']:g} standard errors, each at most "
        f"{tolerance['precision']:g} of the output",
        control=Control(
            f"uncentred second moment: {control[0]:.2g}; {control[1]:.3g} standard errors",
            failed=control[0] > tolerance["relative"] and control[1] > tolerance["z"],
        ),
        holds=holds if blur <= tolerance["precision"] else None,
        refuted=not holds,
        numbers={"relative": affine[0], "z_score": affine[1], "precision": blur},
    )


def _worst(table: pd.DataFrame, formula: str) -> tuple[float, float]:
    """Largest relative deviation by quadrature and largest z score by sampling."""
    rows = table[table["formula"] == formula]
    exact = rows[rows["route"] == "quadrature"]
    sampled = rows[rows["route"] == "sampling"]
    return float((exact["deviation"] / exact["size"]).max()), float(sampled["z_score"].max())
