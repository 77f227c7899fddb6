"""The table of claims for a person at a terminal."""

import itertools
import shutil
import textwrap
from collections.abc import Iterator, Sequence

import pandas as pd

from largeprompt.stages._job import Job
from largeprompt.tables import read_table

COLUMNS = ["id", "verdict", "measured", "allowed", "control", "target"]
_HEAD = ("claim", "verdict", "measured", "allowed")
_GAP = "  "
_NARROWEST = 40


def run(job: Job) -> None:
    """Print the table, as wide as the terminal; a shortened run says so above and below it.

    Times are not in it: what a target took is the sum over all jobs behind it, which only
    Snakemake knows. The report lists them by rule.
    """
    table = read_table(job.input("table"), COLUMNS)
    run = table.attrs["run"]
    width = max(shutil.get_terminal_size((100, 40)).columns, _NARROWEST)
    label = f"=== {run.upper()} RUN: shortened, its verdicts are no evidence ==="
    lines = [*claims_table(table, width), *remarks(table)]
    if run != "full":
        lines = [label, "", *lines, label]
    print("\n".join(wrapped for line in lines for wrapped in _wrapped(line, width)))


def claims_table(table: pd.DataFrame, width: int) -> Iterator[str]:
    """Lines of at most `width` characters: claim, verdict, measured and allowed value."""
    rows = [(row.id, row.verdict, row.measured, row.allowed) for row in table.itertuples()]
    widths = _widths([_HEAD, *rows], width)
    yield from _row(_HEAD, widths)
    yield _GAP.join("-" * w for w in widths)
    for row in rows:
        yield from _row(row, widths)
        yield ""


def remarks(table: pd.DataFrame) -> Iterator[str]:
    """What became of the negative controls, and how to decide one claim alone."""
    passed = table["id"][~table["control"].str.startswith("fails")]
    if len(passed):
        yield f"Negative controls that pass, so that the rule cannot tell: {', '.join(passed)}."
    else:
        yield "Every negative control fails, as it must."
    targets = (row.target.replace(row.id, "CLAIM") for row in table.itertuples())
    for target in dict.fromkeys(targets):
        yield f"One claim alone: snakemake {target}"


def _widths(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Claims and verdicts in their words, the rest three to two to what is measured and allowed."""
    claims = min(max(len(row[0]) for row in rows), width // 4)
    verdicts = max(len(word) for row in rows for word in row[1].split())
    left = width - claims - verdicts - 3 * len(_GAP)
    measured = 3 * left // 5
    return [claims, verdicts, measured, left - measured]


def _row(cells: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    wrapped = [textwrap.wrap(cell, w) for cell, w in zip(cells, widths, strict=True)]
    for parts in itertools.zip_longest(*wrapped, fillvalue=""):
        yield _GAP.join(f"{p:{w}}" for p, w in zip(parts, widths, strict=True)).rstrip()


def _wrapped(line: str, width: int) -> list[str]:
    return textwrap.wrap(line, width) if len(line) > width else [line]
