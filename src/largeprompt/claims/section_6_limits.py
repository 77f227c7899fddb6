"""Whether training ends at the best risk that its attention has at that prompt length."""

from collections.abc import Mapping, Sequence

import pandas as pd

from largeprompt.claims.decision import Control, Decision

COLUMNS = [
    *("attention", "variant", "covariance", "start", "L", "seed"),
    *("risk", "optimum", "gradient_norm", "lowest_curvature"),
]


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge how far above the optimum the flows end, by start (see the registry)."""
    (table,) = tables
    table = table[table["attention"] != "infinite"]
    excess = table["risk"] - table["optimum"]
    random = table["start"] == "random"
    settled = table["gradient_norm"] <= tolerance["gradient"]
    stuck = random & settled & (excess > tolerance["excess"])
    reached = excess[~random] <= tolerance["excess"]
    worst = excess[stuck].max() if stuck.any() else 0.0
    short = table["L"] == table["L"].min()
    control = (table["risk"][short] - table["optimum"].min()).min()
    return Decision(
        measured=f"{stuck.sum()} of {random.sum()} flows from random starts end, at a stationary "
        f"point, above the best risk, by up to {worst:.2g}; {(~settled & random).sum()} still "
        f"move; {reached.sum()} of {len(reached)} from the start of Theorem 5.1 reach it",
        allowed=f"{tolerance['excess']:g} above the best risk",
        control=Control(
            f"shortest prompts against the best risk of the longest: {control:.2g} above",
            failed=bool(control > tolerance["excess"]),
        ),
        holds=bool(reached.all()) if len(reached) else None,
        literal_holds=not stuck.any(),
        numbers={"stuck": stuck.sum(), "flows": random.sum(), "worst_excess": worst},
    )
