"""Section 6: what the covariance of the authors' data code changes."""

from collections.abc import Mapping, Sequence

import pandas as pd

from largeprompt.claims.decision import Control, Decision
from largeprompt.claims.section_6_runs import ends

COLUMNS = [
    *("covariance", "method", "attention", "start", "L", "seed"),
    *("excess_stated", "excess_coded"),
]
_RUN = ["covariance", "method", "attention", "start", "seed"]


def decide(tables: Sequence[pd.DataFrame], tolerance: Mapping[str, float]) -> Decision:
    """Judge whether the excess over the noise falls for both variants (see the registry)."""
    (table,) = tables
    table = table[table["method"] == "optimum"]
    first, last = ends(table, _RUN)
    falls = {v: (last[f"excess_{v}"] / first[f"excess_{v}"]).max() for v in ("stated", "coded")}
    factor = table["excess_coded"] / table["excess_stated"]
    apart = (factor - 1).abs().max()
    return Decision(
        measured=f"risk above the noise at the longest prompt, in units of the shortest: stated "
        f"{falls['stated']:.2g}, coded {falls['coded']:.2g}; the coded data cost "
        f"{factor.min():.2g} to {factor.max():.2g} times as much",
        allowed=f"{tolerance['ratio']:g}",
        control=Control(
            f"that both variants are the same: apart by {apart:.0%}",
            failed=bool(apart > tolerance["ratio"]),
        ),
        holds=bool(max(falls.values()) <= tolerance["ratio"]),
        numbers={
            "stated_ratio": falls["stated"],
            "coded_ratio": falls["coded"],
            "largest_factor": factor.max(),
            "smallest_factor": factor.min(),
        },
    )
