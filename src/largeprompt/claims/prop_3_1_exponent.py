"""Prop 3.1: the exponent of the error of Gaussian tokens, which its bound gives as c2 / sigma^2."""

from collections.abc import Mapping, Sequence

import pandas as pd

from largeprompt.claims.decision import Control, Decision
from largeprompt.rate_forms import naive_exponent

COLUMNS = ["curve", "tilt", "L", "exponent", "limit"]


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge the local exponents at the longest prompt (see the registry)."""
    (table,) = tables
    exact = table[table["curve"] == "gaussian"]
    last = exact[exact["L"] == exact["L"].max()].set_index("tilt").sort_index()
    off = (last["exponent"] - last["limit"]).abs()
    steep = last[last.index > 0.5]
    naive = (steep["exponent"] - naive_exponent(steep.index)).abs()
    fitted = table[table["curve"] == "fitted"].set_index("tilt")
    misled = (fitted["exponent"] / fitted["limit"] - 1).abs()
    holds = bool(off.max() <= tolerance["exponent"])
    one = last["exponent"].get(1.0, float("nan"))
    return Decision(
        measured=f"exponent at L = {exact['L'].max():.0e} within {off.max():.2g} of theta(lambda), "
        f"lambda = {last.index[0]:g} to {last.index[-1]:g} ({one:.3f} at lambda = 1); slopes "
        f"fitted on L <= {fitted['L'].max():g} are off by up to {misled.max():.0%}",
        allowed=f"{tolerance['exponent']:g}",
        control=Control(
            f"1/(2 lambda) is off by {naive.min():.2g} to {naive.max():.2g} beyond lambda = 1/2",
            failed=bool(naive.min() > tolerance["exponent"]),
        ),
        holds=holds,
        refuted=False,  # the limit may be farther out
        numbers={"deviation": off.max(), "naive": naive.min(), "fitted": misled.max()},
    )
