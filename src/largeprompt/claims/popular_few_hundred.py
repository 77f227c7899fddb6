"""Popular claim: softmax attention is essentially linear beyond a few hundred tokens."""

from collections.abc import Mapping, Sequence

import pandas as pd

from largeprompt.claims.decision import Control, Decision

COLUMNS = ["kind", "weights", "dimension", "tilt", "L", "relative_error"]


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge the relative deviation at a few hundred tokens in each setting (see the registry)."""
    (table,) = tables
    few, peaked = (table[table["kind"] == kind] for kind in ("few", "peaked"))
    allowed = tolerance["deviation"]
    passes = few["relative_error"] <= allowed
    ordered = few.sort_values("relative_error")
    best, worst = (_named(ordered.iloc[i]) for i in (0, -1))
    required = table[table["kind"] == "required"]
    loosest = required["relative_error"].max()
    needed = required[required["relative_error"] == loosest]["L"]
    return Decision(
        measured=f"deviation at L = {few['L'].iloc[0]:g}: from {best} to {worst}; "
        f"{passes.sum()} of {len(few)} settings pass; {loosest:.0%} takes {needed.min():g} "
        f"to {needed.max():g} tokens",
        allowed=f"{allowed:.0%} in norm, every setting",
        control=Control(
            f"peaked scores: {_named(peaked.iloc[0])}",
            failed=bool((peaked["relative_error"] > allowed).all()),
        ),
        holds=bool(passes.all()),
        refuted=True,
        numbers={
            "best": ordered["relative_error"].iloc[0],
            "worst": ordered["relative_error"].iloc[-1],
            "fewest_needed": needed.min(),
        },
    )


def _named(row: pd.Series) -> str:
    return f"{row['relative_error']:.0%} ({row['weights']}, d = {row['dimension']})"
