"""Lemma 2.1: distance of finite softmax attention from its own limit and from the affine one."""

import pandas as pd
from matplotlib.figure import Figure

from largeprompt.figures import style

COLUMNS = ["law", "limit", "quantity", "L", "value", "stderr"]
_TITLES = {"affine": "from the affine formula", "own": "from the law's own limit"}


def draw(table: pd.DataFrame) -> Figure:
    """Two panels: distances as points with 2 standard errors, exact gaps as lines."""
    figure, axes = style.panels(2, width=style.PAGE, height=2.4, sharey=True)
    for panel, (limit, title) in zip(axes, _TITLES.items(), strict=True):
        part = table[table["limit"] == limit]
        for law, rows in part.groupby("law", sort=False):
            colour, marker, name = style.law_look(law)
            points = rows[rows["quantity"] == "distance"]
            panel.errorbar(
                *(points["L"], points["value"], 2 * points["stderr"]),
                **{"color": colour, "marker": marker, "label": name, **style.POINTS},
            )
            gap = float(rows.loc[rows["quantity"] == "gap", "value"].iloc[0])
            if gap > 0:
                panel.axhline(gap, color=colour, linewidth=0.8, linestyle="--")
        panel.set(xscale="log", yscale="log", xlabel="prompt length $L$", title=title)
    axes[0].set_ylabel("mean square distance\n(relative to output)")
    axes[1].legend(loc="lower left", handletextpad=0.2)
    axes[0].text(0.03, 0.04, "dashed: exact gap", transform=axes[0].transAxes, fontsize=7)
    return figure
