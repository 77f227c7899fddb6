"""Prop 3.1: error of finite attention against L for several sigma, with the envelope."""

import pandas as pd
from matplotlib.figure import Figure

from largeprompt.figures import style

COLUMNS = ["law", "sigma", "L", "error", "stderr", "slope", "slope_stderr", "bound"]
_NAMES = {"gaussian": "Gaussian tokens", "rademacher": "Rademacher tokens"}


def draw(table: pd.DataFrame) -> Figure:
    """One panel a law; points with 2 standard errors, the bound as a line of the same tint."""
    laws = list(table["law"].unique())
    figure, axes = style.panels(len(laws), width=style.PAGE, height=2.7, sharey=True)
    for panel, law in zip(axes, laws, strict=True):
        rows = table[table["law"] == law]
        tints = style.shades(style.VERMILION, rows["sigma"].nunique())
        for tint, (sigma, curve) in zip(tints, rows.groupby("sigma"), strict=True):
            _curve(panel, curve, sigma, tint)
        panel.set(xscale="log", yscale="log", xlabel="prompt length $L$")
        panel.set_title(_NAMES.get(law, law))
        panel.legend(loc="lower left", handletextpad=0.2)
    axes[0].set_ylabel(r"$E\,\|T[\hat\mu_L]-T[\mu]\|^2_{L_2(\nu)}$")
    figure.supxlabel("points: simulation; lines: bound of Prop 3.1, $L\\geq 2$", fontsize=7)
    return figure


def _curve(panel, curve, sigma, tint) -> None:
    panel.errorbar(
        *(curve["L"], curve["error"], 2 * curve["stderr"]),
        **{"color": tint, "marker": "o", "label": _label(curve, sigma), **style.POINTS},
    )
    bounded = curve[curve["L"] >= 2]
    panel.plot(bounded["L"], bounded["bound"], color=tint, linewidth=0.8)


def _label(curve: pd.DataFrame, sigma: float) -> str:
    slope, stderr = curve["slope"].iloc[0], curve["slope_stderr"].iloc[0]
    return f"$\\sigma={sigma:g}$, slope ${slope:.2f}\\pm{2 * stderr:.2f}$"
