"""Section 6: trained softmax and linear attention both approach the Bayes risk."""

from collections.abc import Mapping, Sequence

import pandas as pd

from largeprompt.claims.decision import Control, Decision
from largeprompt.claims.section_6_runs import ends

COLUMNS = [
    *("variant", "covariance", "method", "attention", "start", "L", "seed"),
    *("quantity", "value", "stderr"),
]
_CASE = ["variant", "covariance", "L"]
_RUN = ["variant", "covariance", "attention", "start", "seed"]


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge how the excess over the Bayes risk at the same L shrinks (see the registry)."""
    (table,) = tables
    table = table[table["quantity"] == "loss"]
    ridge = table[table["method"] == "ridge"].set_index(_CASE)[["value", "stderr"]]
    trained = table[(table["method"] == "sgd") & (table["attention"] != "infinite")]
    trained = trained.join(ridge, on=_CASE, rsuffix="_ridge")
    first, last = ends(trained, _RUN)
    excess = (last["value"] - last["value_ridge"]).abs()
    excess += tolerance["z"] * (last["stderr"] + last["stderr_ridge"])
    start = first["value"] - first["value_ridge"]
    ratio = (excess / start).max()
    control = ((first["value"] - last["value_ridge"]) / start).min()
    return Decision(
        measured=f"excess over the Bayes risk at the longest prompt is at most {ratio:.2g} of that "
        f"at the shortest, {len(start)} runs",
        allowed=f"{tolerance['ratio']:g}, {tolerance['z']:g} standard errors included",
        control=Control(
            f"models of the shortest prompt against the Bayes risk of the longest: {control:.2g}",
            failed=bool(control > tolerance["ratio"]),
        ),
        holds=bool(ratio <= tolerance["ratio"]),
        numbers={"ratio": ratio, "control_ratio": control},
    )
