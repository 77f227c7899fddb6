"""Whether a run gives the numbers of a reference run, each within its own tolerance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from pandas.api.types import is_numeric_dtype

from largeprompt.errors import InputError

COLUMNS = ["quantity", "measured", "reference", "allowed", "tolerance", "ok"]
# Either the name of a tolerance, or one choice for each value of the first key, and so on.
Choice = str | Mapping[str, "Choice"]


@dataclass(frozen=True)
class Tolerance:
    """How far a number may be from its reference: `absolute` + `relative` times the reference."""

    absolute: float
    relative: float

    def allowed(self, reference: float) -> float:
        """The largest distance from `reference` that counts as the same."""
        return self.absolute + self.relative * abs(reference)


def tolerance_name(choice: Choice, key: Sequence[object]) -> str:
    """The tolerance that `choice` gives the row with the key values `key`.

    Raises InputError if it names none: every number must have a tolerance that somebody chose.
    """
    for i, value in enumerate(key):
        if isinstance(choice, str):
            return choice
        if str(value) not in choice:
            raise InputError(f"no tolerance is set for {_named(key[: i + 1])}")
        choice = choice[str(value)]
    if not isinstance(choice, str):
        raise InputError(f"no tolerance is set for {_named(key)}")
    return choice


def compared(
    measured: pd.DataFrame,
    reference: pd.DataFrame,
    keys: Sequence[str],
    value: str,
    choice: Choice,
    tolerances: Mapping[str, Tolerance],
) -> tuple[pd.DataFrame, int, int]:
    """Rows of both tables (columns `keys` and `value`) beside each other, with COLUMNS.

    Returns that table, and how many rows only the run and only the reference has. Numbers may
    differ by their tolerance, words not at all.

    Raises InputError if no row is in both tables, if keys do not tell rows apart, or if a row has
    no tolerance.
    """
    for name, table in (("run", measured), ("reference", reference)):
        if table.duplicated(list(keys)).any():
            raise InputError(f"{name}: rows with the same {', '.join(keys)}")
    ours, theirs = (t.set_index(list(keys))[value] for t in (measured, reference))
    shared = ours.index.intersection(theirs.index, sort=False)
    if shared.empty:
        raise InputError(f"run and reference share no row of the same {', '.join(keys)}")
    numeric = is_numeric_dtype(ours) and is_numeric_dtype(theirs)
    rows = []
    for index in shared:
        key = index if isinstance(index, tuple) else (index,)
        name = tolerance_name(choice, key)
        allowed = tolerances[name].allowed(theirs[index]) if numeric else 0.0
        ok = (
            abs(ours[index] - theirs[index]) <= allowed if numeric else ours[index] == theirs[index]
        )
        rows.append((_named(key), ours[index], theirs[index], allowed, name, bool(ok)))
    counts = len(ours) - len(shared), len(theirs) - len(shared)
    return pd.DataFrame(rows, columns=COLUMNS), *counts


def _named(key: Sequence[object]) -> str:
    return " ".join(map(str, key))
