"""The table of claims for a person at a terminal."""

import textwrap

from largeprompt.stages._job import Job
from largeprompt.tables import read_table

COLUMNS = ["id", "verdict", "measured", "allowed", "control", "target"]


def run(job: Job) -> None:
    """Print one block a claim; a shortened run says so on its first line."""
    table = read_table(job.input("table"), COLUMNS)
    run = table.attrs["run"]
    if run != "full":
        print(f"=== {run.upper()} RUN: shortened, its verdicts are no evidence ===")
    for row in table.itertuples():
        print(f"\n{row.id}: {row.verdict.upper()}")
        for name in ("measured", "allowed", "control", "target"):
            indent = " " * 12
            text = textwrap.fill(f"{name:9} {getattr(row, name)}", 96, subsequent_indent=indent)
            print(f"  {text}")
