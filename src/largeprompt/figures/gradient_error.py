"""Props 3.1 and 3.4: exact errors of the output and both gradients against L, with their bounds."""

import pandas as pd
from matplotlib.figure import Figure

from largeprompt.figures import style

COLUMNS = ["quantity", "sigma", "L", "error", "bound"]
_TITLES = {
    "output": "output",
    "gradient_v": "gradient in $V$",
    "gradient_u": "gradient in $U$",
}


def draw(table: pd.DataFrame) -> Figure:
    """One panel a quantity, one tint a sigma; the bound dashed from L = 2 on."""
    figure, axes = style.panels(3, width=style.PAGE, height=2.5)
    for panel, (quantity, title) in zip(axes, _TITLES.items(), strict=True):
        rows = table[table["quantity"] == quantity]
        tints = style.shades(style.COLOURS["softmax"], rows["sigma"].nunique())
        for tint, (sigma, curve) in zip(tints, rows.groupby("sigma"), strict=True):
            bounded = curve[curve["L"] >= 2]
            panel.plot(curve["L"], curve["error"], color=tint, label=f"$\\sigma={sigma:g}$")
            panel.plot(bounded["L"], bounded["bound"], "--", color=tint, linewidth=0.8)
        panel.set(xscale="log", yscale="log", xlabel="prompt length $L$", title=title)
    axes[0].set_ylabel("mean square error")
    axes[0].legend(loc="lower left", handlelength=1.2)
    return figure
