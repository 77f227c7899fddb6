"""Prop 3.1: error of finite attention against L for several sigma, exact, simulated and bounded."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from largeprompt.figures import style

COLUMNS = ["law", "source", "sigma", "L", "error", "stderr", "slope", "slope_stderr", "bound"]
_NAMES = {"gaussian": "Gaussian tokens", "rademacher": "Rademacher tokens (no lemma)"}


def draw(table: pd.DataFrame) -> Figure:
    """One panel a law: exact error as a line, simulation as points, the bound dashed."""
    laws = list(table["law"].unique())
    figure, axes = style.panels(len(laws), width=style.PAGE, height=2.9, sharey=True)
    for panel, law in zip(axes, laws, strict=True):
        rows = table[table["law"] == law]
        tints = style.shades(style.COLOURS["softmax"], rows["sigma"].nunique())
        for tint, (sigma, curve) in zip(tints, rows.groupby("sigma"), strict=True):
            _curve(panel, curve, sigma, tint)
        panel.set(xscale="log", yscale="log", xlabel="prompt length $L$")
        panel.set_title(_NAMES.get(law, law))
        panel.legend(loc="lower left", handletextpad=0.2)
    axes[0].set_ylabel(r"$E\,\|T[\hat\mu_L]-T[\mu]\|^2_{L_2(\nu)}$")
    figure.supxlabel(
        "points: simulation, 2 standard errors; solid: exact; dashed: bound of Prop 3.1",
        fontsize=7,
    )
    return figure


def _curve(panel: Axes, curve: pd.DataFrame, sigma: float, tint: tuple) -> None:
    points, exact = (curve[curve["source"] == source] for source in ("simulation", "exact"))
    label = f"$\\sigma={sigma:g}$, slope ${points['slope'].iloc[0]:.2f}$"
    panel.errorbar(
        *(points["L"], points["error"], 2 * points["stderr"]),
        **{"color": tint, "marker": "o", "label": label, **style.POINTS},
    )
    panel.plot(exact["L"], exact["error"], color=tint)
    longest = exact if len(exact) else points
    bounded = longest[longest["L"] >= 2]
    panel.plot(bounded["L"], bounded["bound"], "--", color=tint, linewidth=0.8)
