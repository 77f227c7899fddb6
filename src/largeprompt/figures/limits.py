"""Section 6: where the flows of training end, and what of it is only time."""

import pandas as pd
from matplotlib.figure import Figure

from largeprompt.figures import style

COLUMNS = ["attention", "variant", "covariance", "start", "L", "seed", "risk", "optimum"]
ROUND_OFF = 1e-6  # of a risk, by cubature and integrator: smaller distances are drawn there
_MARKERS = "osD^"


def draw(table: pd.DataFrame) -> Figure:
    """Limit of the risk above the best one against L, a dot a flow, a panel a kind of attention."""
    table = table[(table["start"] == "random") & (table["attention"] != "infinite")]
    table = table.assign(excess=(table["risk"] - table["optimum"]).clip(lower=ROUND_OFF))
    figure, axes = style.panels(2, width=style.PAGE, height=2.5, sharey=True)
    for panel, attention in zip(axes, ("softmax", "linear"), strict=True):
        rows = table[table["attention"] == attention]
        cases = rows.groupby(["variant", "covariance"])
        for marker, ((variant, covariance), case) in zip(_MARKERS, cases, strict=False):
            panel.plot(
                *(case["L"], case["excess"], marker),
                **{"color": style.COLOURS[attention], "markerfacecolor": "none"},
                **{"markersize": 3.5, "label": f"{variant}, {covariance}"},
            )
        panel.set(xscale="log", yscale="log", xlabel="prompt length $L$")
        panel.set_title(f"{style.NAMES[attention]} attention")
    axes[0].set_ylabel("limit of the risk, above the best")
    axes[1].legend(loc="center right")
    figure.supxlabel("one mark a start; marks at $10^{-6}$: at the optimum", fontsize=7)
    return figure
