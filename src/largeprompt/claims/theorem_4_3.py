"""Theorem 4.3: the limit of training at long prompts is nearly that of the infinite prompt."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from largeprompt.claims.decision import Control, Decision

COLUMNS = ["case", "start", "series", "L", "quantity", "value"]


def lengths_for(table: pd.DataFrame, series: str, quantity: str) -> pd.DataFrame:
    """L(eps) of a series, (case, eps); infinite where no length of the grid suffices."""
    rows = table[(table["series"] == series) & (table["quantity"] == f"{quantity} eps")]
    return rows.pivot(index="case", columns="value", values="L")


def scaling(lengths: pd.DataFrame) -> pd.Series:
    """-d ln L(eps) / d ln eps between the two smallest eps, for each case."""
    first, second = lengths.columns[:2]
    return np.log(lengths[first] / lengths[second]) / np.log(second / first)


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge whether every case has a length for every eps (see the registry)."""
    (table,) = tables
    trained = table[table["series"] == "trained"]
    converged = trained[trained["quantity"] == "converged"]["value"]
    growth = trained[trained["quantity"] == "growth"]["value"].max()
    lengths, zero = (lengths_for(table, series, "excess") for series in ("trained", "zero"))
    met = np.isfinite(lengths).all(axis=1)
    smallest = lengths.columns.min()
    exponents = scaling(lengths[met])
    powers = f"{exponents.min():.2f} to {exponents.max():.2f}" if met.any() else "unknown"
    return Decision(
        measured=f"{met.sum()} of {len(lengths)} cases have an L(eps) for every eps from "
        f"{lengths.columns.max():g} to {smallest:g}, at most {lengths[smallest].max():.2g}; "
        f"L(eps) ~ eps^-p with p = {powers}; the risk grows by at most {growth:.1g} in a step",
        allowed=f"every case; growth {tolerance['growth']:g}",
        control=Control(
            f"zero weights, which stay: {np.isfinite(zero).all(axis=1).sum()} of {len(zero)} "
            "cases, reported but not counted",
            failed=len(zero) > 0 and not np.isfinite(zero).all(axis=1).any(),
        ),
        holds=bool(met.all() and growth <= tolerance["growth"]) if converged.all() else None,
        numbers={
            "cases": len(lengths),
            "smallest_eps": smallest,
            "largest_length": lengths[smallest].max() if met.all() else -1.0,
            "growth": growth,
        },
    )
