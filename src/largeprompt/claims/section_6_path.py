"""Section 6: softmax follows the path of linear attention."""

from collections.abc import Mapping, Sequence

import pandas as pd

from largeprompt.claims.decision import Control, Decision
from largeprompt.claims.section_6_runs import ends

COLUMNS = ["variant", "covariance", "method", "start", "L", "seed", "quantity", "value", "control"]
_RUN = ["variant", "covariance", "start", "seed", "quantity"]


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge how the largest distance along the flows shrinks with the prompt (see the registry)."""
    (table,) = tables
    table = table[(table["method"] == "flow") & table["quantity"].isin(["loss", "product"])]
    first, last = ends(table, _RUN)
    ratios = (last["value"] / first["value"]).groupby("quantity").max()
    control = (last["control"] / first["value"]).min()
    worst = ratios.max()
    return Decision(
        measured=f"largest distance along the path at the longest prompt, in units of that at the "
        f"shortest: loss {ratios['loss']:.2g}, product {ratios['product']:.2g}",
        allowed=f"{tolerance['ratio']:g}",
        control=Control(
            f"from a model that stands still: at least {control:.2g}",
            failed=bool(control > tolerance["ratio"]),
        ),
        holds=bool(worst <= tolerance["ratio"]),
        numbers={"loss_ratio": ratios["loss"], "product_ratio": ratios["product"]},
    )
