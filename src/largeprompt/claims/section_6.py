"""Section 6: trained softmax attention approaches trained linear attention."""

from collections.abc import Mapping, Sequence

import pandas as pd

from largeprompt.claims.decision import Control, Decision

COLUMNS = [
    *("variant", "covariance", "method", "attention", "start", "L", "seed"),
    *("quantity", "value", "stderr"),
]
_RUN = ["variant", "covariance", "start", "seed"]


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge how the distance in test loss shrinks with the prompt (see the registry)."""
    (table,) = tables
    table = table[(table["method"] == "sgd") & (table["attention"] != "infinite")]
    shortest, longest = table["L"].min(), table["L"].max()
    gaps = table[table["quantity"] == "minus_linear"].set_index([*_RUN, "L"])
    first, last = (gaps.xs(L, level="L") for L in (shortest, longest))
    both = first.index.intersection(last.index)
    first, last = first.loc[both], last.loc[both]
    shrinks = last["value"].abs() + tolerance["z"] * last["stderr"]
    ratio = (shrinks / first["value"].abs()).max()
    blurred = (first["value"].abs() <= tolerance["z"] * first["stderr"]).any()
    losses = table[table["quantity"] == "loss"].set_index(["attention", "L", *_RUN])["value"]
    fixed, long, short = (
        losses[name][L].loc[both]
        for name, L in (("linear", shortest), ("softmax", longest), ("softmax", shortest))
    )
    control = ((long - fixed) / (short - fixed)).abs()
    return Decision(
        measured=f"distance at L = {longest:g} is {ratio:.2g} of that at L = {shortest:g}",
        allowed=f"{tolerance['ratio']:g}, {tolerance['z']:g} standard errors included",
        control=Control(
            f"from linear attention at L = {shortest:g}: {control.min():.2g}",
            failed=bool((control > tolerance["ratio"]).all()),
        ),
        holds=None if blurred or shortest == longest else bool(ratio <= tolerance["ratio"]),
        numbers={"ratio": ratio, "control_ratio": control.min()},
    )
