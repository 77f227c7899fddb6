"""Section 6: SGD follows the exact gradient flow."""

from collections.abc import Mapping, Sequence

import pandas as pd

from largeprompt.claims.decision import Control, Decision

COLUMNS = [
    *("attention", "variant", "covariance", "start", "L", "seed"),
    *("time", "sgd", "flow", "half_speed"),
]
_MODEL = ["attention", "variant", "covariance", "start", "L"]


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge the mean over seeds of SGD less flow at every saved step (see the registry)."""
    (table,) = tables
    seeds = table.groupby(_MODEL)["seed"].transform("nunique")
    table = table[seeds >= tolerance["seeds"]]
    if table.empty:
        return _too_few(tolerance)
    worst, control = (_largest_overshoot(table, name, tolerance) for name in ("flow", "half_speed"))
    models = table.groupby(_MODEL).ngroups
    return Decision(
        measured=f"mean of SGD less flow exceeds {tolerance['z']:g} standard errors by at most "
        f"{worst.max():.2g}, {models} models",
        allowed=f"{tolerance['bias']:g}",
        control=Control(
            f"the flow at half the speed: by up to {control.max():.2g}, too much in "
            f"{(control > tolerance['bias']).sum()} models",
            failed=bool((control > tolerance["bias"]).any()),
        ),
        holds=bool((worst <= tolerance["bias"]).all()),
        numbers={"models": models, "overshoot": worst.max(), "control_overshoot": control.max()},
    )


def _largest_overshoot(
    table: pd.DataFrame, reference: str, tolerance: Mapping[str, float]
) -> pd.Series:
    """For each model the most, over time, by which |mean| exceeds z standard errors over seeds."""
    apart = (table["sgd"] - table[reference]).groupby([table[k] for k in [*_MODEL, "time"]])
    beyond = apart.mean().abs() - tolerance["z"] * apart.std() / apart.count() ** 0.5
    return beyond.groupby(_MODEL).max()


def _too_few(tolerance: Mapping[str, float]) -> Decision:
    return Decision(
        measured=f"no model with {tolerance['seeds']:g} seeds",
        allowed=f"{tolerance['bias']:g}",
        control=Control("not tried", failed=False),
        holds=None,
        numbers={"models": 0},
    )
