"""Section 6: trained at one prompt length, tested at another."""

import pandas as pd
from matplotlib.figure import Figure

from largeprompt.figures import style
from largeprompt.main_case import first_seed, main_case

COLUMNS = [
    *("variant", "covariance", "method", "attention", "start", "L", "seed"),
    *("test_L", "risk"),
]
CURVES = 5  # training lengths shown


def draw(table: pd.DataFrame) -> Figure:
    """Exact risk against the test length, a line a training length, a panel a kind of attention."""
    table = first_seed(main_case(table))
    tested = sorted(table["test_L"].unique())
    figure, axes = style.panels(2, width=style.PAGE, height=2.5, sharey=True)
    for panel, attention in zip(axes, ("softmax", "linear"), strict=True):
        rows = table[(table["attention"] == attention) & table["L"].isin(tested)]
        flows, sgd = (rows[rows["method"] == method] for method in ("flow", "sgd"))
        lengths = sorted(flows["L"].unique())[:CURVES]
        for tint, L in zip(
            style.shades(style.COLOURS[attention], len(lengths)), lengths, strict=True
        ):
            line = flows[flows["L"] == L].sort_values("test_L")
            panel.plot(line["test_L"], line["risk"], color=tint, label=f"$L={L:g}$")
            points = sgd[sgd["L"] == L]
            panel.plot(points["test_L"], points["risk"], "o", color=tint, markersize=3)
            own = line[line["test_L"] == L]
            panel.plot(own["test_L"], own["risk"], "*", color=style.BLACK, markersize=5, zorder=5)
        panel.set(xscale="log", yscale="log", xlabel="prompt length $L'$ of the test")
        style.plain_ticks(panel.yaxis)
        panel.set_title(f"{style.NAMES[attention]} attention, trained at")
        panel.legend(loc="upper right")
    axes[0].set_ylabel("risk $E\\,(\\hat y-y_q)^2$")
    figure.supxlabel("lines: exact flow; points: SGD; stars: tested as trained", fontsize=7)
    return figure
