"""Theorems 4.3 and 5.1: where training at finite prompts ends."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from largeprompt.figures import style

COLUMNS = ["case", "start", "series", "L", "quantity", "value"]
_COLOURS = (style.SKY, style.BLUE, style.GREEN, style.ORANGE, style.VERMILION, style.BLACK)
_MARKERS = ("o", "s", "D", "^", "v", "P")


def draw(table: pd.DataFrame) -> Figure:
    """Excess against length, length against eps, and how far the weights end from (A*, b*)."""
    figure, (excess, required, weights) = style.panels(3, width=style.PAGE, height=3.0)
    trained = table[table["series"] == "trained"]
    cases = list(table["case"].unique())
    handles = []
    for number, case in enumerate(cases):
        look = {"color": _COLOURS[number % 6], "marker": _MARKERS[number % 6], "markersize": 3}
        rows = trained[trained["case"] == case].set_index("quantity")
        for panel, quantity, line in (
            (excess, "excess", "-"),
            (weights, "distance", "-"),
            (weights, "product_error", ":"),
        ):
            curve = rows[rows.index == quantity]
            panel.plot(curve["L"], curve["value"], line, **look)
        lengths = rows[rows.index == "excess eps"]
        required.plot(lengths["value"], lengths["L"], "-", **look)
        handles.append(Line2D([], [], **look, label=case))
    zero = table[(table["series"] == "zero") & (table["quantity"] == "excess")]
    for _, curve in zero.groupby("case"):
        excess.plot(curve["L"], curve["value"], color="0.6", linewidth=0.8)
    excess.set(ylabel="limiting risk above infinite prompt", title="excess (grey: zero weights)")
    required.set(xlabel=r"$\varepsilon$", ylabel=r"$L(\varepsilon)$", title="prompt length needed")
    weights.set_title("weights: $(A,b)$ solid, $bA$ dotted")
    weights.set_ylabel("distance from the end point")
    for panel in (excess, required, weights):
        panel.set(xscale="log", yscale="log")
    for panel in (excess, weights):
        panel.set_xlabel("prompt length $L$")
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure
