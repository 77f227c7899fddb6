"""Theorem 5.1: what finite prompts cost at its end point, and from where the flow gets there."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from largeprompt.figures import style

COLUMNS = ["panel", "series", "d", "x", "y", "reached"]
_LINES = {"endpoint": "-", "best": ":", "linear": "--"}
_NAMES = {"endpoint": "end point of Theorem 5.1", "best": "best softmax", "linear": "best linear"}
_MARKERS = ("o", "s", "D", "^", "v", "P")


def draw(table: pd.DataFrame) -> Figure:
    """Left L times the excess, flat where it decays like 1/L; right the starts that converge."""
    figure, (left, right) = style.panels(2, width=style.PAGE, height=3.0)
    _excess(left, table[table["panel"] == "excess"])
    _map(right, table[table["panel"] == "map"])
    return figure


def _excess(panel: Axes, curves: pd.DataFrame) -> None:
    dimensions = sorted(curves["d"].unique())
    tints = style.shades(style.COLOURS["softmax"], len(dimensions) + 2)[2:]
    colours = dict(zip(dimensions, tints, strict=True))
    for (series, d), curve in curves.groupby(["series", "d"]):
        plain = series == "endpoint"
        panel.plot(
            *(curve["x"], curve["y"], _LINES[series]),
            **{"color": colours[d], "linewidth": 1.3 if plain else 0.8},
            label=f"$d={d}$" if plain else None,
        )
    first = panel.legend(loc="upper left", ncols=2)
    panel.add_artist(first)
    handles = [Line2D([], [], color="0.3", linestyle=s, label=_NAMES[n]) for n, s in _LINES.items()]
    panel.legend(handles=handles, loc="lower right")
    panel.set(xscale="log", yscale="log", xlabel="prompt length $L$")
    panel.set_ylim(bottom=curves["y"].min() / 20)  # room for the legend
    panel.set(ylabel=r"$L \times$ excess risk", title="decay like $1/L$ is flat ($\\Sigma = I$)")


def _map(panel: Axes, points: pd.DataFrame) -> None:
    dimensions = sorted(points["d"].unique())
    colours = (style.SKY, style.GREEN, style.ORANGE, style.PURPLE, style.BLUE, style.BLACK)
    for d, colour, marker in zip(dimensions, colours, _MARKERS, strict=False):
        rows = points[points["d"] == d]
        border = rows[rows["series"] == "interval"].sort_values("x")
        panel.plot(border["x"], border["y"], color=colour, linewidth=0.8)
        flows = rows[rows["series"] == "flow"]
        for reached, filled in ((1, colour), (0, "none")):
            chosen = flows[flows["reached"] == reached]
            panel.plot(
                *(chosen["x"] * 1.18 ** (dimensions.index(d) - 1.5), chosen["y"]),
                **{"linestyle": "none", "marker": marker, "markersize": 4, "color": colour},
                **{"markerfacecolor": filled, "label": f"$d={d}$" if reached else None},
            )
    panel.set(xscale="log", yscale="log", xlabel=r"$\|\Sigma\|_{op}$", ylabel=r"$\alpha$")
    panel.set_title("filled: Bayes risk reached; line: stated bound on $\\alpha$")
    panel.legend(loc="lower left")
