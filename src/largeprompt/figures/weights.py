"""Section 6: learned weights beside the optimum of the infinite prompt."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from largeprompt.figures import style
from largeprompt.main_case import first_seed, main_case

COLUMNS = [
    *("variant", "covariance", "method", "attention", "start", "L", "seed", "time"),
    *("quantity", "row", "column", "value"),
]

LEAST_SHARE = 1e-8  # of the weight: what is less is round-off of flows


def draw(table: pd.DataFrame) -> Figure:
    """Learned U as images (shortest and longest prompt), and distances against L."""
    table = main_case(table)
    figure = Figure(figsize=(style.PAGE, 2.5))
    grid = figure.add_gridspec(2, 4, width_ratios=[1, 1, 1.9, 1.9])
    sgd = first_seed(table[table["method"] == "sgd"])
    finite = sgd[np.isfinite(sgd["L"])]
    lengths = finite["L"].min(), finite["L"].max()
    for row, attention in enumerate(("softmax", "linear")):
        for column, L in enumerate(lengths):
            chosen = finite[(finite["attention"] == attention) & (finite["L"] == L)]
            panel = figure.add_subplot(grid[row, column])
            _image(panel, chosen[chosen["quantity"] == "U"])
            panel.set_title(f"{style.NAMES[attention]}, $L={L:g}$", fontsize=7)
    flows = table[(table["method"] == "flow") & np.isfinite(table["L"])]
    flows = flows[flows["time"] == flows["time"].min()]
    for column, (quantity, name) in enumerate(
        [("distance", "$B$ from $\\Sigma^{-1}$, relative"), ("idle", "share of idle blocks")]
    ):
        panel = figure.add_subplot(grid[:, 2 + column])
        for attention in ("softmax", "linear"):
            for method, rows in (("flow", flows), ("sgd", finite)):
                rows = rows[(rows["attention"] == attention) & (rows["quantity"] == quantity)]
                _series(panel, rows, method, attention)
        panel.set(xscale="log", yscale="log", xlabel="prompt length $L$", title=name)
    panel.set_ylim(bottom=LEAST_SHARE)
    panel.legend(loc="center right")
    figure.supxlabel(
        "images: $U$, balanced; lines: exact flow, one a seed; points: SGD", fontsize=7
    )
    return figure


def _image(panel: Axes, entries: pd.DataFrame) -> None:
    """The matrix, red to blue around zero."""
    matrix = entries.pivot(index="row", columns="column", values="value").to_numpy()
    largest = np.abs(matrix).max()
    panel.imshow(matrix, cmap="RdBu", vmin=-largest, vmax=largest)
    panel.set(xticks=[], yticks=[])


def _series(panel: Axes, rows: pd.DataFrame, method: str, attention: str) -> None:
    look = {"color": style.COLOURS[attention]}
    if method == "sgd":
        look |= {"marker": style.MARKERS[attention], "linestyle": "none", "markersize": 3.2}
        look |= {"label": style.NAMES[attention]}
    else:
        look |= {"linewidth": 0.8, "alpha": 0.7}
    for _, line in rows.sort_values("L").groupby("seed"):
        panel.plot(line["L"], line["value"], **look)
