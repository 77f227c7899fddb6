"""The paper in four panels: operator limit, concentration, trajectory, loss against L."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from largeprompt.figures import style

COLUMNS = ["panel", "series", "kind", "x", "value", "stderr"]
_LAWS = ("gaussian", "rademacher")


def draw(table: pd.DataFrame) -> Figure:
    """Points with 2 standard errors for simulation and SGD, lines for what is exact."""
    figure = Figure(figsize=(style.PAGE, 4.6))
    (lemma, concentration), (trajectory, loss) = figure.subplots(2, 2)
    for panel in (lemma, concentration, trajectory, loss):
        panel.set(xscale="log", yscale="log")
    part = dict(list(table.groupby("panel")))
    _lemma(lemma, part["lemma"])
    _concentration(concentration, part["concentration"])
    _trajectory(trajectory, part["trajectory"])
    _loss(loss, part["loss"])
    return figure


def _points(panel: Axes, rows: pd.DataFrame, colour: str, marker: str, label: str) -> None:
    panel.errorbar(
        *(rows["x"], rows["value"], 2 * rows["stderr"]),
        **{"color": colour, "marker": marker, "label": label, **style.POINTS},
    )


def _lemma(panel: Axes, rows: pd.DataFrame) -> None:
    for law in _LAWS:
        colour, marker, name = style.law_look(law)
        _points(panel, rows[rows["series"] == law], colour, marker, f"{name} tokens")
    panel.set(xlabel="prompt length $L$", ylabel="mean square distance, relative")
    panel.set_title("Lemma 2.1: softmax from the affine formula")
    panel.legend(loc="lower left")


def _concentration(panel: Axes, rows: pd.DataFrame) -> None:
    sigmas = sorted(rows["series"].astype(float).unique())
    for tint, sigma in zip(style.shades(style.VERMILION, len(sigmas)), sigmas, strict=True):
        of_sigma = rows[rows["series"].astype(float) == sigma].sort_values("x")
        exact, bound = (of_sigma[of_sigma["kind"] == kind] for kind in ("line", "bound"))
        panel.plot(exact["x"], exact["value"], color=tint, label=f"$\\sigma={sigma:g}$")
        panel.plot(bound["x"], bound["value"], "--", color=tint, linewidth=0.8)
    panel.set(xlabel="prompt length $L$", ylabel=r"$E\,\|T[\hat\mu_L]-T[\mu]\|^2$")
    panel.set_title("Prop. 3.1: exact error, bound dashed")
    panel.legend(loc="lower left")


def _trajectory(panel: Axes, rows: pd.DataFrame) -> None:
    lengths = sorted(rows["series"].astype(float).unique())
    for tint, L in zip(style.shades(style.VERMILION, len(lengths)), lengths, strict=True):
        path = rows[rows["series"].astype(float) == L].sort_values("x")
        panel.plot(path["x"], path["value"], color=tint, label=f"$L=10^{{{np.log10(L):g}}}$")
    panel.set(xlabel="training time $t$", ylabel=r"$\|\theta_L(t)-\theta_\infty(t)\|$")
    panel.set_title("Lemma D.1: training at $L$ from the infinite prompt's")
    panel.legend(loc="lower right", ncols=2, fontsize=6)


def _loss(panel: Axes, rows: pd.DataFrame) -> None:
    for name in ("softmax", "linear", "ridge"):
        of_name = rows[rows["series"] == name].sort_values("x")
        line = of_name[of_name["kind"] == "line"]
        label = style.NAMES[name] if name == "ridge" else None
        panel.plot(line["x"], line["value"], color=style.COLOURS[name], label=label)
        points = of_name[of_name["kind"] == "points"]
        if len(points):
            _points(panel, points, style.COLOURS[name], style.MARKERS[name], style.NAMES[name])
    panel.set(xlabel="prompt length $L$", ylabel="loss $E\\,(\\hat y-y_q)^2$")
    panel.set_title("Section 6: SGD (points) on the exact flow (lines)")
    style.plain_ticks(panel.yaxis)
    measured = rows[rows["kind"] == "points"]["x"]
    panel.set_xlim(measured.min() / 1.3, measured.max() * 1.3)
    panel.legend(loc="upper right")
