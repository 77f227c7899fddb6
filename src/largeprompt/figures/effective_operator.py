"""Softmax attention at prompt length L as linear attention: shrinkage and noise against s."""

import pandas as pd
from matplotlib.figure import Figure

from largeprompt.figures import style

COLUMNS = ["attention", "L", "s", "shrinkage", "along", "across"]
_PANELS = {
    "shrinkage": ("mean, in units of $\\Gamma a$", "linear"),
    "along": ("variance along $a$", "log"),
    "across": ("variance across $a$", "log"),
}


def draw(table: pd.DataFrame) -> Figure:
    """Three panels; softmax solid, linear dashed, one tint a prompt length."""
    figure, axes = style.panels(3, width=style.PAGE, height=2.4)
    lengths = sorted(table["L"].unique())
    for panel, (column, (label, scale)) in zip(axes, _PANELS.items(), strict=True):
        for attention, line in (("softmax", "-"), ("linear", "--")):
            tints = style.shades(style.COLOURS[attention], len(lengths))
            for tint, L in zip(tints, lengths, strict=True):
                rows = table[(table["attention"] == attention) & (table["L"] == L)]
                rows = rows[(rows[column] > 0) | (scale == "linear")]
                name = f"$L=10^{{{len(str(L)) - 1}}}$" if str(L).strip("0") == "1" else f"$L={L}$"
                panel.plot(
                    *(rows["s"], rows[column], line),
                    **{"color": tint, "label": name if _named(attention, column) else None},
                )
        panel.set(xlabel="score scale $s$", yscale=scale, title=label)
    axes[0].legend(loc="lower left")
    axes[1].plot([], [], color=style.COLOURS["softmax"], label="softmax")
    axes[1].plot([], [], "--", color=style.COLOURS["linear"], label="linear")
    axes[1].legend(loc="lower right")
    return figure


def _named(attention: str, column: str) -> bool:
    """Lengths are named once: in the first panel, on the solid lines."""
    return attention == "softmax" and column == "shrinkage"
