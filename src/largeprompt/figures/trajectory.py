"""Lemma D.1: distance of training at a finite prompt from training at the infinite one."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from largeprompt.figures import style

COLUMNS = ["parameters", "start", "points", "L", "quantity", "time", "value"]
_NAMES = {"reduced": "weights $(A,b)$ of Theorem 5.1", "factorised": "factors $Q,K,V,O$"}
_LINES = {
    ("sup_distance", "path"): "o-",
    ("gradient_gap", "path"): "s--",
    ("risk_gap", "ball"): "D:",
}
_LABELS = ["largest distance", "gradient gap $g_2$, path", "risk gap $g_1$, ball"]


def draw(table: pd.DataFrame) -> Figure:
    """Distance over time for each length (left and middle), suprema against length (right)."""
    models = list(table["parameters"].unique())
    figure, axes = style.panels(len(models) + 1, width=style.PAGE, height=2.6)
    path = table[(table["points"] == "path") & (table["start"] == "same")]
    for panel, model in zip(axes, models, strict=False):
        _paths(panel, path[path["parameters"] == model])
        panel.set_title(_NAMES.get(model, model))
    axes[0].set_ylabel(r"$\|\theta_L(t)-\theta_\infty(t)\|$")
    _suprema(axes[-1], table[table["start"] == "same"], models)
    return figure


def _paths(panel: Axes, rows: pd.DataFrame) -> None:
    lengths = sorted(rows["L"].unique())
    for tint, L in zip(style.shades(style.VERMILION, len(lengths) + 1)[1:], lengths, strict=True):
        curve = rows[rows["L"] == L]
        distance = curve[(curve["quantity"] == "distance") & (curve["time"] > 0)]
        label = f"$L=10^{{{np.log10(L):g}}}$"
        panel.plot(distance["time"], distance["value"], color=tint, label=label)
        envelope = curve[curve["quantity"] == "log10_envelope"]
        envelope = envelope[envelope["value"] < 1]
        panel.plot(envelope["time"], 10 ** envelope["value"], ":", color=tint, linewidth=0.9)
    panel.set(xscale="log", yscale="log", xlabel="time $t$ (dotted: envelope)")
    panel.set_ylim(top=30)
    if panel.get_subplotspec().colspan.start == 0:
        panel.legend(loc="lower right", fontsize=6)


def _suprema(panel: Axes, rows: pd.DataFrame, models: list[str]) -> None:
    for model, colour in zip(models, (style.BLUE, style.VERMILION), strict=False):
        of_model = rows[rows["parameters"] == model]
        for (quantity, points), line in _LINES.items():
            chosen = of_model[(of_model["quantity"] == quantity) & (of_model["points"] == points)]
            panel.plot(chosen["L"], chosen["value"], line, color=colour, markersize=3)
    panel.set(xscale="log", yscale="log", xlabel="prompt length $L$")
    panel.set_title("blue: $(A,b)$; red: factors")
    handles = [
        Line2D([], [], color="0.3", marker=line[0], linestyle=line[1:], markersize=3)
        for line in _LINES.values()
    ]
    panel.legend(handles, _LABELS, loc="lower left", fontsize=6)
