"""How many tokens make the best softmax head as good as the best linear one."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from largeprompt.claims.decision import Control, Decision

COLUMNS = ["covariance", "dimension", "quantity", "tolerance", "L"]


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge whether a few hundred tokens suffice in `dimension` (see the registry)."""
    (table,) = tables
    gap = table[table["quantity"] == "gap"]
    # of several covariances the one that asks for most; a length beyond the longest is left out
    needed = gap.groupby(["dimension", "tolerance"])["L"].max()
    d, few = tolerance["dimension"], tolerance["few_hundred"]
    largest = gap["dimension"].max()
    loose, strict, control = (
        needed.get(key, np.inf)
        for key in (
            (d, tolerance["loose"]),
            (d, tolerance["strict"]),
            (largest, tolerance["strict"]),
        )
    )
    return Decision(
        measured=f"at d = {d:g}: {loose:g} tokens to within {tolerance['loose']:g} of the risk of "
        f"zero weights, {strict:g} to within {tolerance['strict']:g}; {_growth(needed, tolerance)}",
        allowed=f"{few:g} tokens",
        control=Control(
            f"d = {largest:g}, within {tolerance['strict']:g}: {control:g} tokens",
            failed=bool(control > few),
        ),
        holds=bool(loose <= few),
        literal_holds=bool(strict <= few),
        refuted=bool(loose > few),
        numbers={"loose": loose, "strict": strict} if np.isfinite(strict + loose) else {},
    )


def _growth(needed: pd.Series, tolerance: Mapping[str, float]) -> str:
    """The power of d that L follows from `dimension` on, at the loose tolerance."""
    of = needed.xs(tolerance["loose"], level="tolerance").loc[tolerance["dimension"] :]
    if len(of) < 2:
        return "growth with d not measured"
    power = np.polyfit(np.log(of.index), np.log(of), 1)[0]
    return f"L ~ d^{power:.2g} from there to d = {of.index.max():g}"
