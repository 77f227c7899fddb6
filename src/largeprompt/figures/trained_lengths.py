"""Section 6: prompt length from which the best softmax head is close, against the dimension."""

import pandas as pd
from matplotlib.figure import Figure

from largeprompt.figures import style

COLUMNS = ["covariance", "dimension", "quantity", "tolerance", "L"]
_LOOKS = {"softmax": "softmax", "linear": "linear", "gap": "infinite"}
_NAMES = {"softmax": "softmax to noise", "linear": "linear to noise", "gap": "softmax to linear"}


def draw(table: pd.DataFrame) -> Figure:
    """L against d at the middle tolerance, and at d nearest 5 against the tolerance."""
    covariance = table["covariance"].iloc[0]
    table = table[table["covariance"] == covariance]
    tolerances = sorted(table["tolerance"].unique())
    tolerance = tolerances[len(tolerances) // 2]
    five = min(table["dimension"].unique(), key=lambda d: abs(d - 5))
    figure, (left, right) = style.panels(2, width=style.PAGE, height=2.5)
    for quantity, look in _LOOKS.items():
        rows = table[table["quantity"] == quantity]
        drawn = {"color": style.COLOURS[look], "marker": style.MARKERS[look], "markersize": 3}
        drawn |= {"label": _NAMES[quantity]}
        by_dimension = rows[rows["tolerance"] == tolerance].sort_values("dimension")
        by_tolerance = rows[rows["dimension"] == five].sort_values("tolerance")
        left.plot(by_dimension["dimension"], by_dimension["L"], **drawn)
        right.plot(by_tolerance["tolerance"], by_tolerance["L"], **drawn)
    left.set(xlabel="dimension $d$", title=f"tolerance {tolerance:g}", ylabel="prompt length $L$")
    right.set(xlabel="tolerance, of the risk of zero weights", title=f"$d={five:g}$")
    for panel in (left, right):
        panel.set(xscale="log", yscale="log")
    left.legend(loc="upper left")
    return figure
