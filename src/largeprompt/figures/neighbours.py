"""Related papers: operators of mixtures and of dependent tokens, exponents against the scale."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from largeprompt.figures import style

COLUMNS = ["panel", "series", "applies", "x", "value", "stderr"]
_TITLES = {"gabet": "Gaussian mixture", "xu-fang": "dependent tokens"}
_EXPONENTS = {
    "asymptotic": ("exact, $L\\to\\infty$", {"color": style.BLACK}),
    "form": ("$1/(2(1+\\lambda))$", {"color": style.BLUE, "linestyle": "--"}),
    "reachable": (
        "exact, reachable $L$",
        {"color": style.VERMILION, "marker": "o", "markersize": 3.2},
    ),
}


def draw(table: pd.DataFrame) -> Figure:
    """Distances from two operators against L, then exponents in norm against the tilt."""
    figure, axes = style.panels(3, width=style.PAGE, height=2.8)
    for panel, (name, title) in zip(axes, _TITLES.items(), strict=False):
        _distances(panel, table[table["panel"] == name])
        panel.set_title(title)
    axes[0].set_ylabel("distance, of the squared output")
    exponents = table[table["panel"] == "bohbot"]
    for series, (label, look) in _EXPONENTS.items():
        rows = exponents[exponents["series"] == series].sort_values("x")
        axes[2].plot(rows["x"], rows["value"], label=label, **look)
    axes[2].set(xscale="log", xlabel=r"tilt $\lambda$", title="exponent in norm")
    axes[2].set_ylim(0, 0.7)
    axes[2].legend(loc="upper right")
    return figure


def _distances(panel: Axes, rows: pd.DataFrame) -> None:
    for colour, applies in ((style.BLACK, 1), (style.ORANGE, 0)):
        chosen = rows[rows["applies"] == applies]
        tints = style.shades(colour, chosen["series"].nunique())
        for tint, (series, curve) in zip(tints, chosen.groupby("series", sort=False), strict=True):
            curve = curve.sort_values("x")
            panel.errorbar(
                *(curve["x"], curve["value"], 2 * curve["stderr"]),
                **{**style.POINTS, "linestyle": "-", "color": tint, "label": series},
                marker="o" if applies else "x",
            )
    panel.set(xscale="log", yscale="log", xlabel="prompt length $L$")
    panel.set_ylim(top=30 * rows["value"].max())  # room for the legend
    panel.legend(loc="upper right", fontsize=6.5)
