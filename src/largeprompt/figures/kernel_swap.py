"""Change of risk when a cheaper kernel replaces trained softmax attention, against L."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from largeprompt.figures import style

COLUMNS = ["swap", "size", "L", "source", "relative", "stderr", "cost"]
_PANELS = {"performer": (style.GREEN, "features"), "linformer": (style.PURPLE, "rows")}


def draw(table: pd.DataFrame) -> Figure:
    """One panel for each family of swaps, linear attention in both; infinite prompts last."""
    figure, axes = style.panels(2, width=style.PAGE, height=2.9, sharey=True)
    finite = table.loc[np.isfinite(table["L"]), "L"]
    beyond = finite.max() * 10
    for panel, (swap, (colour, noun)) in zip(axes, _PANELS.items(), strict=True):
        linear = table[(table["swap"] == "linear") & np.isfinite(table["L"])].sort_values("L")
        panel.plot(
            *(linear["L"], linear["relative"], "s-"),
            **{"color": style.BLUE, "markersize": 3.2},
            label=f"linear, cost {linear['cost'].iloc[0]:g}",
        )
        _family(panel, table[table["swap"] == swap], colour, noun, beyond)
        panel.axhline(0, color=style.BLACK, linewidth=0.6)
        panel.axvline(beyond / 10**0.5, color="0.6", linewidth=0.6, linestyle=":")
        panel.set(xscale="log", xlabel="prompt length $L$", title=swap.capitalize())
        panel.set_xticks(
            [*sorted(set(finite)), beyond], [*(f"{L:g}" for L in sorted(set(finite))), r"$\infty$"]
        )
        panel.minorticks_off()
        panel.legend(loc="upper left", ncols=2, columnspacing=1, handlelength=1.2)
    axes[0].set_ylabel("change of risk")
    axes[0].set_yscale("symlog", linthresh=0.1)
    axes[0].set_ylim(top=100)  # room for the legends
    axes[0].yaxis.set_major_formatter(PercentFormatter(1))
    return figure


def _family(panel: Axes, rows: pd.DataFrame, colour: str, noun: str, beyond: float) -> None:
    measured = rows[rows["source"] == "simulation"]
    sizes = sorted(measured.loc[np.isfinite(measured["L"]), "size"].unique())
    tints = style.shades(colour, len(sizes))
    for tint, size in zip(tints, sizes, strict=True):
        points = measured[(measured["size"] == size) & np.isfinite(measured["L"])]
        points = points.sort_values("L")
        panel.errorbar(
            *(points["L"], points["relative"], 2 * points["stderr"]),
            **{**style.POINTS, "linestyle": "-", "color": tint, "marker": "o"},
            label=f"{size} {noun}, cost {points['cost'].iloc[0]:g}",
        )
        floor = rows[(rows["size"] == size) & np.isinf(rows["L"])]
        panel.errorbar(
            *([beyond] * len(floor), floor["relative"], 2 * floor["stderr"]),
            **{**style.POINTS, "color": tint, "marker": "D"},
        )
