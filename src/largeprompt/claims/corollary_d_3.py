"""Corollary D.3: on a ball the finite-prompt risk approaches the infinite one uniformly."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from largeprompt.claims.decision import Control, Decision
from largeprompt.claims.lemma_d_1 import suprema

COLUMNS = ["parameters", "points", "L", "quantity", "value"]


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge how the largest risk gap falls with L on a fixed ball (see the registry)."""
    (table,) = tables
    gaps = {
        points: suprema(table[table["points"] == points], "risk_gap").sort_index()
        for points in ("path", "ball", "growing")
    }
    fixed = pd.concat([gaps["path"].add_prefix("path "), gaps["ball"].add_prefix("ball ")], axis=1)
    falls = (fixed.diff().iloc[1:] < 0).all()
    ratio = fixed.iloc[-1] / fixed.iloc[0]
    growing = gaps["growing"]
    grown = growing.iloc[-1] / growing.iloc[0] if len(growing) else pd.Series(dtype=float)
    step = np.log(fixed.index[-1] / fixed.index[-2])
    exponents = -(np.log(fixed.iloc[-1]) - np.log(fixed.iloc[-2])) / step
    on_ball = exponents.filter(like="ball ")
    return Decision(
        measured=f"largest gap at the longest prompt {ratio.max():.2g} of that at the shortest; "
        f"exponents {on_ball.min():.2f} to {on_ball.max():.2f} on the ball, "
        f"{exponents.drop(on_ball.index).min():.2f} or more along the paths",
        allowed=f"falling with L, to {tolerance['ratio']:g}",
        control=Control(
            f"ball growing like sqrt(ln L): {grown.min():.2g}",
            failed=len(grown) > 0 and bool((grown > tolerance["ratio"]).all()),
        ),
        holds=bool(falls.all() and (ratio <= tolerance["ratio"]).all()),
        numbers={
            "ratio": ratio.max(),
            "smallest_exponent_on_ball": on_ball.min(),
            "smallest_exponent_on_path": exponents.drop(on_ball.index).min(),
        },
    )
