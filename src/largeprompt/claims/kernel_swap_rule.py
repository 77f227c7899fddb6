"""The rule that the three claims about swapped kernels share."""

from collections.abc import Mapping

import pandas as pd

from largeprompt.claims.decision import Control, Decision

COLUMNS = ["swap", "size", "L", "source", "relative", "stderr"]


def judge(table: pd.DataFrame, swap: str, source: str, tolerance: Mapping[str, float]) -> Decision:
    """Judge the rise in risk at the longest prompt: every size as printed, the largest repaired.

    A rise is small if it is at most `rise` with `z` standard errors granted against it, and not
    small if it exceeds `rise` by as many; between the two nothing is decided.
    """
    longest = table.loc[table["L"] < float("inf"), "L"].max()
    at_longest = table[(table["L"] == longest) & (table["source"] == source)]
    rows = at_longest[at_longest["swap"] == swap].sort_values("size").set_index("size")
    margin = tolerance["z"] * rows["stderr"]
    small = rows["relative"] + margin <= tolerance["rise"]
    large = rows["relative"] - margin > tolerance["rise"]
    best = rows.index[-1]
    infinite = table[(table["L"] == float("inf")) & (table["swap"] == swap)].set_index("size")
    uniform = table[(table["L"] == longest) & (table["swap"] == "uniform")]["relative"].iloc[0]
    return Decision(
        measured=f"risk at L = {longest:g}: {_listed(rows)}; infinite prompt: {_listed(infinite)}",
        allowed=f"+{tolerance['rise']:.0%}, {tolerance['z']:g} standard errors granted",
        control=Control(
            f"uniform weights: {uniform:+.0%}", failed=bool(uniform > tolerance["rise"])
        ),
        holds=bool(small[best]) if small[best] or large[best] else None,
        literal_holds=bool(small.all()),
        refuted=bool(large[best]),
        numbers={f"relative_{size}": value for size, value in rows["relative"].items()},
    )


def _listed(rows: pd.DataFrame) -> str:
    def one(size: int, value: float, stderr: float) -> str:
        label = f" ({size})" if size else ""
        return f"{value:+.2%}" + (f" ± {stderr:.2%}" if stderr else "") + label

    return ", ".join(one(size, *row) for size, row in rows[["relative", "stderr"]].iterrows())
