"""Prop 3.1: local exponent of the error against L, and its limit against the tilt."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from largeprompt.figures import style

COLUMNS = ["curve", "tilt", "L", "exponent", "limit"]
_LIMITS = {
    "true": ("-", style.BLACK, "$\\theta(\\lambda)$, Gaussian tokens"),
    "naive": (":", style.SKY, "$1/(2\\lambda)$"),
    "class": ("--", style.PURPLE, "$1/(4\\lambda)$, sub-Gaussian class"),
}


def draw(table: pd.DataFrame) -> Figure:
    """Left: one tint a tilt, limits dashed. Right: limits as curves, measurements as points."""
    figure, (left, right) = style.panels(2, width=style.PAGE, height=2.7)
    _local(left, table[table["curve"] == "gaussian"])
    for curve, (line, colour, name) in _LIMITS.items():
        rows = table[table["curve"] == curve]
        right.plot(rows["tilt"], rows["exponent"], line, color=colour, label=name)
    _points(right, table)
    right.set(
        xscale="log", xlabel="tilt $\\lambda$", xlim=(0.01, None), ylim=(0, 1.05)
    )  # room for the legend
    right.legend(loc="lower left", handlelength=1.5)
    return figure


def _local(panel: Axes, rows: pd.DataFrame) -> None:
    tints = style.shades(style.COLOURS["softmax"], rows["tilt"].nunique())
    for tint, (tilt, curve) in zip(tints, rows.groupby("tilt"), strict=True):
        panel.plot(curve["L"], curve["exponent"], color=tint, label=f"$\\lambda={tilt:g}$")
        panel.axhline(curve["limit"].iloc[0], color=tint, linestyle="--", linewidth=0.7)
    panel.set(xscale="log", xlabel="prompt length $L$", ylim=(0, 1.05))
    panel.set_ylabel("exponent $-\\,d\\,\\ln(\\mathrm{error})\\,/\\,d\\,\\ln L$")
    panel.legend(loc="center left", bbox_to_anchor=(1, 0.5), handlelength=1.2)


def _points(panel: Axes, table: pd.DataFrame) -> None:
    longest = table.loc[table["curve"] == "gaussian", "L"].max()
    power = f"10^{{{np.log10(longest):.0f}}}"
    for curve, marker, colour, filled, name in (
        ("gaussian", "o", style.BLACK, True, f"exact, Gaussian, $L={power}$"),
        ("three-atoms", "D", style.PURPLE, True, f"exact, three atoms, $L={power}$"),
        ("fitted", "o", style.VERMILION, False, "line fitted to short prompts"),
    ):
        rows = table[(table["curve"] == curve)]
        rows = rows if curve == "fitted" else rows[rows["L"] == longest]
        panel.plot(
            *(rows["tilt"], rows["exponent"], marker),
            **{"color": colour, "markersize": 3.5, "label": name},
            **{"markerfacecolor": colour if filled else "white"},
        )
