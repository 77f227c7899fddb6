"""Prop 3.1: the c1 that Gaussian tokens need as a function of c2, by the longest prompt."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from largeprompt.feasible_bounds import PAPER
from largeprompt.figures import style

COLUMNS = [
    *("dimension", "score_scale", "sigma_power", "log_power", "part", "c2", "longest", "c1"),
    "best_c2",
]


def draw(table: pd.DataFrame) -> Figure:
    """One panel a score scale, in the largest dimension; the largest c2 is a vertical line."""
    factor = PAPER["output"]
    rows = table[table["dimension"] == table["dimension"].max()]
    rows = rows[(rows["sigma_power"] == factor.sigma_power)]
    scales = sorted(rows["score_scale"].unique())
    figure, axes = style.panels(len(scales), width=style.PAGE, height=2.3, sharey=True)
    for panel, scale in zip(axes, scales, strict=True):
        part = rows[rows["score_scale"] == scale]
        tints = style.shades(style.COLOURS["softmax"], part["longest"].nunique())
        for tint, (longest, curve) in zip(tints, part.groupby("longest"), strict=True):
            label = f"$L\\leq10^{{{np.log10(longest):.0f}}}$"
            panel.plot(curve["c2"], curve["c1"], color=tint, label=label)
        panel.axvline(part["best_c2"].iloc[0], color="0.4", linestyle="--", linewidth=0.8)
        panel.set(yscale="log", xlabel="$c_2$", title=f"$\\|U\\|={scale:.3g}$")
    axes[0].set_ylim(1, 1e8)
    axes[0].set_ylabel("smallest $c_1$")
    axes[0].legend(loc="upper left", handlelength=1.2)
    return figure
