"""Prop 3.1: one pair (c1, c2) serves every sigma, and how large c2 may be for Gaussian tokens."""

from collections.abc import Mapping, Sequence

import pandas as pd

from largeprompt.claims.decision import Control, Decision
from largeprompt.feasible_bounds import PAPER

COLUMNS = [
    *("dimension", "score_scale", "sigma_power", "log_power", "part", "longest", "c1"),
    *("sigma_growth", "best_c2", "naive_c2", "measured_c2"),
]


def settled(rows: pd.DataFrame) -> pd.Series:
    """By operator and `part`: the c1 needed up to the longest prompts over that of the next."""
    shorter, longest = sorted(rows["longest"].unique())[-2:]
    c1 = rows.set_index(["dimension", "score_scale", "part"]).sort_index()
    return c1[c1["longest"] == longest]["c1"] / c1[c1["longest"] == shorter]["c1"]


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge the largest c2, and c1 below and above it (see the registry)."""
    (table,) = tables
    a, b = PAPER["output"].sigma_power, PAPER["output"].log_power
    rows = table[(table["sigma_power"] == a) & (table["log_power"] == b)]
    operators = rows.drop_duplicates(["dimension", "score_scale"])
    off = (operators["measured_c2"] - operators["best_c2"]).abs()
    naive = (operators["measured_c2"] - operators["naive_c2"]).abs()
    growth = settled(rows).groupby(level="part").agg(["min", "max"])
    below, above = growth["max"][tolerance["below"]], growth["min"][tolerance["above"]]
    sigma_growth = rows[rows["part"] == tolerance["below"]]["sigma_growth"].max()
    finite = below <= 1 + tolerance["relative"] and sigma_growth <= 0
    c1 = rows[rows["part"] == tolerance["below"]]["c1"].max()
    return Decision(
        measured=f"largest c2 within {off.max():.2g} of min(1, theta(||U||^2)) for "
        f"{len(operators)} operators, L up to {rows['longest'].max():.0e}; at "
        f"{tolerance['below']:g} of it c1 = {c1:.3g} serves every operator, sigma and L",
        allowed=f"c2 within {tolerance['c2']:g}; c1 that grows neither with L nor with sigma",
        control=Control(
            f"at {tolerance['above']:g} of it c1 grows at least {above:.2g}-fold; the naive "
            f"min(1, 1/(2 ||U||^2)) is off by up to {naive.max():.2g}",
            failed=bool(above > 1 + tolerance["relative"] and naive.max() > tolerance["c2"]),
        ),
        holds=bool(finite and off.max() <= tolerance["c2"]),
        refuted=False,  # no finite range of L can show that c1 grows without end
        numbers={"c2_deviation": off.max(), "c1": c1, "growth_above": above},
    )
