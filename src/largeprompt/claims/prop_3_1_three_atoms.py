"""Prop 3.1: rare large tokens hold c2 down for the whole sub-Gaussian class."""

from collections.abc import Mapping, Sequence

import pandas as pd

from largeprompt.claims.decision import Control, Decision

COLUMNS = ["curve", "tilt", "L", "exponent", "limit"]


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge the local exponents at the longest prompt (see the registry)."""
    (table,) = tables
    longest = table[table["curve"] == "three-atoms"]["L"].max()
    rows = table[(table["L"] == longest) & (table["tilt"] > 0.25)]
    exponents = rows.pivot(index="tilt", columns="curve", values="exponent")
    limit = rows[rows["curve"] == "three-atoms"].set_index("tilt")["limit"]
    off = (exponents["three-atoms"] - limit).abs()
    control = (exponents["gaussian"] - limit).abs()
    worst = ", ".join(f"{e:.3f}" for e in exponents["three-atoms"])
    holds = bool(off.max() <= tolerance["exponent"])
    return Decision(
        measured=f"exponents {worst} at lambda = "
        + ", ".join(f"{t:g}" for t in limit.index)
        + f", L = {longest:.0e}: within {off.max():.2g} of 1/(4 lambda)",
        allowed=f"{tolerance['exponent']:g}",
        control=Control(
            f"Gaussian tokens of the same tilt: off by at least {control.min():.2g}",
            failed=bool(control.min() > tolerance["exponent"]),
        ),
        holds=holds,
        refuted=False,  # the limit may be farther out
        numbers={"deviation": off.max(), "gaussian_deviation": control.min()},
    )
