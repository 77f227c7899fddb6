"""Whether the best softmax head at a prompt length reaches the Bayes risk of that length."""

from collections.abc import Mapping, Sequence

import pandas as pd

from largeprompt.claims.decision import Control, Decision

COLUMNS = ["variant", "covariance", "method", "attention", "L", "quantity", "value", "stderr"]
_CASE = ["variant", "covariance", "L"]


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge the distance of the best softmax risk from ridge regression's (see the registry)."""
    (table,) = tables
    ridge = table[table["method"] == "ridge"].set_index(_CASE)
    best = table[(table["method"] == "optimum") & (table["attention"] == "softmax")]
    best = best.set_index(_CASE)["value"]
    shared = ridge.index.intersection(best.index)
    error = tolerance["z"] * ridge["stderr"].loc[shared]
    excess = best.loc[shared] - ridge["value"].loc[shared]
    share = excess / ridge["value"].loc[shared]
    lengths = share.index.get_level_values("L")
    floor = best.xs(lengths.min(), level="L").min() - ridge["value"].min()
    shortest, longest = (share[lengths == L].max() for L in (lengths.min(), lengths.max()))
    return Decision(
        measured=f"the best softmax head is above the Bayes risk by {shortest:.0%} at "
        f"L = {lengths.min():g} and {longest:.0%} at L = {lengths.max():g}",
        allowed=f"{tolerance['z']:g} standard errors of the Bayes risk",
        control=Control(
            f"the shortest prompt against the Bayes risk of the longest: {floor:.2g} above",
            failed=bool(floor > error.max()),
        ),
        holds=bool((excess <= error).all()),
        refuted=bool((excess > error).all()),
        numbers={"share_shortest": shortest, "share_longest": longest},
    )
