"""Section 6: loss along training, softmax and linear attention beside the infinite prompt."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from largeprompt.figures import style
from largeprompt.main_case import first_seed, main_case

COLUMNS = ["variant", "covariance", "method", "attention", "start", "L", "seed", "time", "loss"]

CURVES = 6


def draw(table: pd.DataFrame) -> Figure:
    """Loss against t = steps x learning rate, one panel a kind of attention: flow and SGD."""
    table = first_seed(main_case(table))
    figure, axes = style.panels(2, width=style.PAGE, height=2.6, sharey=True)
    infinite = table[table["attention"] == "infinite"]
    for panel, attention in zip(axes, ("softmax", "linear"), strict=True):
        rows = table[table["attention"] == attention]
        simulated = rows[rows["method"] == "sgd"]
        lengths = _shown(sorted(simulated["L"].unique()))
        tints = style.shades(style.COLOURS[attention], len(lengths))
        for tint, L in zip(tints, lengths, strict=True):
            _curves(panel, rows[rows["L"] == L], tint, f"$L={L:g}$")
        _curves(panel, infinite, style.BLACK, style.NAMES["infinite"])
        panel.set(xscale="log", yscale="log", xlabel="time $t$ = steps × learning rate")
        panel.set_xlim(left=simulated["time"].min() / 1.3)
        style.plain_ticks(panel.yaxis)
        panel.set_title(f"{style.NAMES[attention]} attention")
        panel.legend(loc="lower left")
    axes[0].set_ylabel("loss $E\\,(\\hat y - y_q)^2$")
    figure.supxlabel("lines: exact gradient flow; dots: SGD", fontsize=7)
    return figure


def _shown(lengths: list[float]) -> list[float]:
    """At most CURVES of the lengths, first and last among them, evenly spaced in the list."""
    places = np.linspace(0, len(lengths) - 1, min(CURVES, len(lengths)))
    return [lengths[round(place)] for place in places]


def _curves(panel: Axes, rows: pd.DataFrame, colour: tuple | str, label: str) -> None:
    """The flow as a line, SGD as dots, one of each a seed."""
    for method, line in (("flow", "-"), ("sgd", ".")):
        for _, curve in rows[rows["method"] == method].groupby("seed"):
            name, label = (label, None) if method == "flow" else (None, label)
            panel.plot(
                *(curve["time"], curve["loss"], line),
                **{"color": colour, "label": name, "markersize": 1.8, "linewidth": 0.9},
            )
