"""Popular claim: the hidden constants can be large for high-dimensional embeddings."""

from collections.abc import Mapping, Sequence

import pandas as pd

from largeprompt.claims.decision import Control, Decision

COLUMNS = ["weights", "dimension", "constant"]


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge how the constant of 1/L grows from the smallest to the largest dimension."""
    (table,) = tables
    constants = table.pivot(index="dimension", columns="weights", values="constant").sort_index()
    growth = constants.iloc[-1] / constants.iloc[0]
    large = growth >= tolerance["growth"]
    first, last = constants.index[0], constants.index[-1]
    return Decision(
        measured=f"from d = {first} to {last} the constant grows {growth['variance']:.3g} times "
        f"(scores of variance 1), {growth['tilt']:.3g} times (fixed tilt)",
        allowed=f"at least {tolerance['growth']:g} times, both",
        control=Control(
            f"tokens of fixed rank: {growth['rank']:.3g} times", failed=not large["rank"]
        ),
        holds=bool(large["variance"] and large["tilt"]),
        numbers={"variance": growth["variance"], "tilt": growth["tilt"], "rank": growth["rank"]},
    )
