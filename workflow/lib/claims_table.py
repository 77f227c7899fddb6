"""The table of claims for a person at a terminal: `python -m lib.claims_table TABLE`."""

import itertools
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from largeprompt.errors import InputError
from largeprompt.tables import read_table
from lib.costs import Records, duration, read_records

COLUMNS = ["id", "verdict", "measured", "allowed", "control", "target"]
_HEAD = ("claim", "verdict", "time", "measured", "allowed")
_GAP = "  "
_NARROWEST = 48


def printed(file: Path, records: Records) -> str:
    """The table in `file`, as wide as the terminal, with what `records` say each target took.

    A shortened run is marked above and below. Raises InputError if the file is damaged.
    """
    table = read_table(file, COLUMNS)
    run = table.attrs["run"]
    width = max(shutil.get_terminal_size((100, 40)).columns, _NARROWEST)
    times = {target: _time(records, target) for target in table["target"]}
    lines = [*claims_table(table, times, width), *remarks(table)]
    if run != "full":
        label = f"=== {run.upper()} RUN: shortened, its verdicts are no evidence ==="
        lines = [label, "", *lines, label]
    return "\n".join(wrapped for line in lines for wrapped in _wrapped(line, width))


def claims_table(table: pd.DataFrame, times: Mapping[str, str], width: int) -> Iterator[str]:
    """Lines of at most `width` characters."""
    rows = [
        (row.id, row.verdict, times[row.target], row.measured, row.allowed)
        for row in table.itertuples()
    ]
    widths = _widths([_HEAD, *rows], width)
    yield from _row(_HEAD, widths)
    yield _GAP.join("-" * w for w in widths)
    for row in rows:
        yield from _row(row, widths)
        yield ""


def remarks(table: pd.DataFrame) -> Iterator[str]:
    """What became of the negative controls, what the times are, how to decide one claim alone."""
    passed = table["id"][~table["control"].str.startswith("fails")]
    if len(passed):
        yield f"Negative controls that pass, so that the rule cannot tell: {', '.join(passed)}."
    else:
        yield "Every negative control fails, as it must."
    yield "Time: of the processor, for the target and all that it needs, when last made."
    targets = (row.target.replace(row.id, "CLAIM") for row in table.itertuples())
    for target in dict.fromkeys(targets):
        yield f"One claim alone: snakemake {target}"


def _time(records: Records, target: str) -> str:
    try:
        return duration(records.cost([target]).seconds)
    except (LookupError, FileNotFoundError):  # not made here, or vouched for by --touch
        return "?"


def _widths(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Claims, verdicts and times in their words, the rest three to two to measured and allowed."""
    claims = min(max(len(row[0]) for row in rows), width // 4)
    verdicts = max(len(word) for row in rows for word in row[1].split())
    times = max(len(row[2]) for row in rows)
    left = width - claims - verdicts - times - 4 * len(_GAP)
    measured = 3 * left // 5
    return [claims, verdicts, times, measured, left - measured]


def _row(cells: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    wrapped = [textwrap.wrap(cell, w) for cell, w in zip(cells, widths, strict=True)]
    for parts in itertools.zip_longest(*wrapped, fillvalue=""):
        yield _GAP.join(f"{p:{w}}" for p, w in zip(parts, widths, strict=True)).rstrip()


def _wrapped(line: str, width: int) -> list[str]:
    return textwrap.wrap(line, width, break_on_hyphens=False) if len(line) > width else [line]


if __name__ == "__main__":
    try:
        print(printed(Path(sys.argv[1]), read_records(Path())))
    except InputError as error:
        sys.exit(f"error: {error}")
