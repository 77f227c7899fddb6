"""Section 6: what the covariance of the authors' data code changes."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from largeprompt.figures import style
from largeprompt.main_case import first_seed

COLUMNS = [
    *("covariance", "method", "attention", "start", "L", "seed"),
    *("excess_stated", "stderr_stated", "excess_coded", "stderr_coded"),
]
_LOOKS = {"stated": "-", "coded": "--"}


def draw(table: pd.DataFrame) -> Figure:
    """Risk above the noise against L, as stated solid and as coded dashed; and their ratio."""
    table = first_seed(table[table["start"].isin(["random", "none"])])
    figure, (left, right) = style.panels(2, width=style.PAGE, height=2.6)
    for attention in ("softmax", "linear"):
        rows = table[table["attention"] == attention]
        colour = style.COLOURS[attention]
        flow = rows[rows["method"] == "flow"].sort_values("L")
        best = rows[rows["method"] == "optimum"].sort_values("L")
        for variant, line in _LOOKS.items():
            name = f"{style.NAMES[attention]}, as {variant}"
            left.plot(flow["L"], flow[f"excess_{variant}"], line, color=colour, label=name)
            _points(left, rows[rows["method"] == "sgd"], variant, attention)
        for ratio, line, name in ((flow, "-", "flow"), (best, ":", "best weights")):
            values = ratio["excess_coded"] / ratio["excess_stated"]
            right.plot(ratio["L"], values, line, color=colour, label=f"{attention}, {name}")
    right.axhline(1, color=style.BLACK, linewidth=0.6)
    left.set(yscale="log", ylabel="risk above the label noise")
    left.set_ylim(bottom=table[["excess_stated", "excess_coded"]].abs().min().min() / 2)
    right.set(ylabel="ratio, as coded / as stated")
    for panel in (left, right):
        panel.set(xscale="log", xlabel="prompt length $L$")
        panel.legend()
    figure.supxlabel("lines: exact flow at the horizon; points: SGD, 2 standard errors", fontsize=7)
    return figure


def _points(panel: Axes, rows: pd.DataFrame, variant: str, attention: str) -> None:
    panel.errorbar(
        *(rows["L"], rows[f"excess_{variant}"], 2 * rows[f"stderr_{variant}"]),
        **{"color": style.COLOURS[attention], "marker": style.MARKERS[attention]},
        **{"markerfacecolor": "none" if variant == "coded" else None, **style.POINTS},
    )
