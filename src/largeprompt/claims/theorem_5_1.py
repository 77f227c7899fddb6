"""Theorem 5.1: the infinite-prompt flow reaches the Bayes risk at the stated end point."""

from collections.abc import Mapping, Sequence

import pandas as pd

from largeprompt.claims.decision import Control, Decision

COLUMNS = [
    *("d", "condition", "norm", "alpha_ratio", "start", "excess_ratio", "product_error"),
    *("b_error", "drift", "identity_risk", "time", "rate"),
]


def ends_there(flows: pd.DataFrame, tolerance: Mapping[str, float]) -> pd.Series:
    """Whether each flow ends at the Bayes risk, at (A*, b*), with its invariant kept."""
    return (
        (flows["excess_ratio"] <= tolerance["excess"])
        & (flows["product_error"] <= tolerance["end_point"])
        & (flows["b_error"] <= tolerance["end_point"])
        & (flows["drift"] <= tolerance["end_point"])
    )


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge the flows that start inside the stated interval (see the registry)."""
    (table,) = tables
    theorem = table[(table["start"] == "theorem") & (table["alpha_ratio"] < 1)]
    good = ends_there(theorem, tolerance)
    unbalanced = table[table["start"] == "unbalanced"]
    control = ends_there(unbalanced, tolerance)
    pace = theorem["time"] * theorem["rate"]
    apart = theorem[(theorem["condition"] != 1) | (theorem["norm"] != 1)]
    identity = apart["identity_risk"]
    return Decision(
        measured=f"{good.sum()} of {len(theorem)} flows end there: excess at most "
        f"{theorem['excess_ratio'].max():.1g}, b A off by {theorem['product_error'].max():.1g}, "
        f"b by {theorem['b_error'].max():.1g}, invariant by {theorem['drift'].max():.1g}",
        allowed=f"all; excess {tolerance['excess']:g}, the rest {tolerance['end_point']:g}",
        control=Control(
            f"unbalanced starts: {control.sum()} of {len(unbalanced)}, b off by "
            f"{unbalanced['b_error'].min():.1g} or more; identity in place of Sigma^-1: excess "
            f"{identity.min():.1g} or more",
            failed=len(unbalanced) > 0
            and not control.any()
            and bool((identity > tolerance["excess"]).all()),
        ),
        holds=bool(good.all()) if len(theorem) else None,
        numbers={
            "flows": len(theorem),
            "excess_ratio": theorem["excess_ratio"].max(),
            "product_error": theorem["product_error"].max(),
            "b_error": theorem["b_error"].max(),
            "drift": theorem["drift"].max(),
            "time_times_rate": pace.median(),
        },
    )
