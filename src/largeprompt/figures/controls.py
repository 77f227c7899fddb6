"""Controls: laws for which the lemma fails, and laws for which concentration fails."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from largeprompt.figures import style

COLUMNS = ["panel", "law", "quantity", "L", "value", "stderr", "bound"]


def draw(table: pd.DataFrame) -> Figure:
    """Left: what finite attention tends to, from each limit. Right: spread of outputs against L."""
    figure, (left, right) = style.panels(2, width=style.PAGE, height=2.5)
    _lemma(left, table[table["panel"] == "lemma"])
    rows = table[table["panel"] == "concentration"]
    for law, curve in rows.groupby("law", sort=False):
        colour, marker, name = style.law_look(law)
        right.errorbar(
            *(curve["L"], curve["value"], 2 * curve["stderr"]),
            **{"color": colour, "marker": marker, "label": name, **style.POINTS},
        )
    bounded = rows[rows["L"] >= 2].drop_duplicates("L")
    right.plot(bounded["L"], bounded["bound"], "--", color="0.4", linewidth=0.8)
    right.set(xscale="log", yscale="log", xlabel="prompt length $L$")
    right.set_title("distance of two prompts' outputs, halved")
    right.legend(loc="center left", bbox_to_anchor=(1, 0.5), handletextpad=0.2)
    return figure


def _lemma(panel: Axes, rows: pd.DataFrame) -> None:
    laws = list(dict.fromkeys(rows["law"]))
    for position, law in enumerate(laws):
        colour, marker, _ = style.law_look(law)
        values = rows[rows["law"] == law].set_index("quantity")
        for shift, quantity, face in (
            (-0.12, "affine floor", colour),
            (0.12, "own floor", "white"),
        ):
            panel.errorbar(
                *(position + shift, values["value"][quantity], 2 * values["stderr"][quantity]),
                **{"color": colour, "marker": marker, "markerfacecolor": face, **style.POINTS},
            )
        gap = values["value"]["affine gap"]
        panel.plot([position - 0.3, position + 0.3], [gap, gap], color=colour, linewidth=0.8)
    panel.axhline(0, color="0.8", linewidth=0.6, zorder=0)
    panel.set_xticks(
        np.arange(len(laws)), [style.law_look(law)[2].replace(" ", "\n") for law in laws]
    )
    panel.set_ylabel("mean square distance\n(relative to output)")
    panel.set_title("filled: from the affine formula; open: own limit")
