"""Section 6: final loss against prompt length, with the Bayes risk and the infinite prompt."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from largeprompt.figures import style

COLUMNS = ["method", "attention", "start", "L", "seed", "quantity", "value", "stderr"]


def draw(table: pd.DataFrame) -> Figure:
    """Points with 2 standard errors for trained models, lines for the references."""
    losses = table[table["quantity"] == "loss"]
    figure, (panel,) = style.panels(1, height=2.5)
    for attention in ("softmax", "linear"):
        rows = losses[(losses["attention"] == attention) & (losses["start"] == "random")]
        panel.errorbar(
            *(rows["L"], rows["value"], 2 * rows["stderr"]),
            **{"color": style.COLOURS[attention], "marker": style.MARKERS[attention]},
            **{"label": f"{style.NAMES[attention]}, trained", **style.POINTS},
        )
    ridge = losses[losses["method"] == "ridge"]
    panel.plot(ridge["L"], ridge["value"], color=style.COLOURS["ridge"], label=style.NAMES["ridge"])
    infinite = table[(table["quantity"] == "risk") & np.isinf(table["L"])]
    infinite = infinite[infinite["start"] == "random"]
    panel.axhline(
        *(infinite["value"].mean(),),
        **{"color": style.BLACK, "linestyle": "--", "linewidth": 0.9},
        **{"label": "infinite prompt, same time"},
    )
    panel.set(xscale="log", yscale="log", xlabel="prompt length $L$")
    style.plain_ticks(panel.yaxis)
    panel.set_ylabel("loss on held-out prompts")
    panel.legend(loc="upper right")
    return figure
