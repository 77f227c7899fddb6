"""Lemma D.1: training at a finite prompt stays close to training at the infinite one."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from largeprompt.claims.decision import Control, Decision

COLUMNS = ["parameters", "start", "points", "L", "quantity", "time", "value"]


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge the envelope at every time and the supremum against L (see the registry)."""
    (table,) = tables
    path = table[table["points"] == "path"]
    same, other = (path[path["start"] == start] for start in ("same", "other"))
    slack = _slack(same, same)
    ratio, falls = _shrinkage(same)
    other_ratio, _ = _shrinkage(other)
    control = (other_ratio > tolerance["ratio"]).all() and (_slack(other, same) < 0)
    useful = same[same["quantity"] == "useful_time"]["value"]
    rates = _last_exponents(same)
    return Decision(
        measured=f"distance below the envelope by a factor {10**slack:.2g} or more; its supremum "
        f"at the longest prompt {ratio.max():.2g} of that at the shortest, "
        f"like L^-{rates.min():.2f} at the end",
        allowed=f"below the envelope at every time; falling with L, to {tolerance['ratio']:g}",
        control=Control(
            f"from another start: {other_ratio.min():.2g} of that at the shortest, and above the "
            "envelope",
            failed=len(other) > 0 and bool(control),
        ),
        holds=bool(slack >= 0 and falls.all() and (ratio <= tolerance["ratio"]).all()),
        numbers={
            "smallest_log10_slack": slack,
            "largest_log10_slack": _slack(same, same, largest=True),
            "ratio": ratio.max(),
            "smallest_exponent": rates.min(),
            "largest_useful_time": useful.max(),
        },
    )


def _slack(paths: pd.DataFrame, bounded: pd.DataFrame, largest: bool = False) -> float:
    """log10 of envelope over distance, the smallest (or largest) over lengths and times > 0."""
    key = ["parameters", "L", "time"]
    distance = paths[(paths["quantity"] == "distance") & (paths["time"] > 0)]
    envelope = bounded[bounded["quantity"] == "log10_envelope"].set_index(key)["value"]
    difference = envelope - np.log10(distance.set_index(key)["value"])
    return float(difference.max() if largest else difference.min())


def suprema(table: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Values of a quantity, (L, parameters)."""
    return table[table["quantity"] == quantity].pivot(
        index="L", columns="parameters", values="value"
    )


def _shrinkage(paths: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Last over first supremum, and whether it falls at every step, for each parametrisation."""
    values = suprema(paths, "sup_distance").sort_index()
    if values.empty:
        return pd.Series(dtype=float), pd.Series(dtype=bool)
    return values.iloc[-1] / values.iloc[0], (values.diff().iloc[1:] < 0).all()


def _last_exponents(paths: pd.DataFrame) -> pd.Series:
    values = np.log(suprema(paths, "sup_distance").sort_index())
    return -(values.iloc[-1] - values.iloc[-2]) / np.log(values.index[-1] / values.index[-2])
