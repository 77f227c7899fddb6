"""Bohbot et al.: the deviation decays at least as fast as L^(-1/(2 (1 + H^2))) in norm."""

from collections.abc import Mapping, Sequence

import pandas as pd

from largeprompt.claims.decision import Control, Decision

COLUMNS = ["scale", "tilt", "asymptotic", "reachable", "form"]


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge the exact exponents against the form, scale by scale (see the registry)."""
    (table,) = tables
    slack = tolerance["slack"]
    holds = table["asymptotic"] >= table["form"] - slack
    reached = table["reachable"] >= table["form"] - slack
    free = table["asymptotic"] >= 0.5 - slack
    ratio = table["asymptotic"] / table["form"]
    worst = table.loc[(table["form"] - table["reachable"]).idxmax()]
    return Decision(
        measured=f"asymptotic exponent {ratio.min():.2f} to {ratio.max():.2f} times the form over "
        f"{len(table)} scales; at reachable lengths {reached.sum()} reach it (tilt "
        f"{worst['tilt']:.2g}: {worst['reachable']:.3f}, form {worst['form']:.3f})",
        allowed=f"exponent at least the form, less {slack:g}",
        control=Control(
            f"1/2 at every scale: {table['asymptotic'].min():.3f} at tilt "
            f"{table['tilt'].max():.2g}",
            failed=not free.all(),
        ),
        holds=bool(holds.all()),
        literal_holds=bool(reached.all()),
        refuted=True,
        numbers={
            "smallest_ratio": ratio.min(),
            "largest_ratio": ratio.max(),
            "reachable": worst["reachable"],
        },
    )
