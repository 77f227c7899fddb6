"""Section 6: final loss against prompt length, and how it falls to the infinite prompt's."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from largeprompt.figures import style
from largeprompt.main_case import main_case

COLUMNS = [
    *("variant", "covariance", "method", "attention", "start", "L", "seed"),
    *("quantity", "value", "stderr"),
]


def draw(table: pd.DataFrame) -> Figure:
    """Points with 2 standard errors for SGD, lines for exact flows and references."""
    table = main_case(table)
    trained = table[table["method"] == "sgd"]
    figure, (left, right) = style.panels(2, width=style.PAGE, height=2.7)
    for attention in ("softmax", "linear"):
        for panel, exact, simulated in (
            (left, "risk", "loss"),
            (right, "minus_infinite", "minus_infinite"),
        ):
            rows = table[(table["attention"] == attention) & (table["quantity"] == exact)]
            _lines(panel, rows, attention)
            points = trained[trained["attention"] == attention]
            _points(panel, points[points["quantity"] == simulated], attention)
    _references(left, table)
    left.set(ylabel="loss $E\\,(\\hat y-y_q)^2$", title="loss at the horizon")
    right.set(ylabel="excess loss", title="in excess of the infinite prompt")
    for panel in (left, right):
        panel.set(xscale="log", yscale="log", xlabel="prompt length $L$")
    finite = trained["L"][np.isfinite(trained["L"])]
    left.set_xlim(finite.min() / 1.3, finite.max() * 1.3)
    style.plain_ticks(left.yaxis)
    figure.supxlabel(
        "points: SGD, 2 standard errors; solid: exact gradient flow; dotted: best weights",
        fontsize=7,
    )
    left.legend(loc="upper right")
    right.legend(loc="lower left")
    return figure


def _lines(panel: Axes, rows: pd.DataFrame, attention: str) -> None:
    """Exact flow solid, the best weights of this attention dotted."""
    flows = rows[rows["method"] == "flow"].sort_values("L")
    for _, flow in flows.groupby("seed"):
        panel.plot(flow["L"], flow["value"], color=style.COLOURS[attention])
    best = rows[rows["method"] == "optimum"].sort_values("L")
    panel.plot(best["L"], best["value"], ":", color=style.COLOURS[attention], linewidth=1.6)


def _points(panel: Axes, rows: pd.DataFrame, attention: str) -> None:
    panel.errorbar(
        *(rows["L"], rows["value"], 2 * rows["stderr"]),
        **{"color": style.COLOURS[attention], "marker": style.MARKERS[attention]},
        **{"label": style.NAMES[attention], **style.POINTS},
    )


def _references(panel: Axes, table: pd.DataFrame) -> None:
    ridge = table[table["method"] == "ridge"].sort_values("L")
    panel.plot(ridge["L"], ridge["value"], color=style.COLOURS["ridge"], label=style.NAMES["ridge"])
    infinite = table[(table["attention"] == "infinite") & (table["quantity"] == "risk")]
    panel.axhline(
        *(infinite["value"].mean(),),
        **{"color": style.BLACK, "linestyle": "--", "linewidth": 0.9},
        **{"label": style.NAMES["infinite"]},
    )
