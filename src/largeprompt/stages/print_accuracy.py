"""The accuracy of the exact engine, for a person at a terminal."""

import json
from pathlib import Path

from largeprompt.accuracy import accuracy_table
from largeprompt.stages._job import Job


def run(job: Job) -> None:
    """Print the largest error of each function against each check.

    The references are rows with s, L, q, h to 25 digits (tests/reference).
    """
    references = json.loads(Path(job.input("references")).read_text(encoding="utf-8"))
    table = accuracy_table(references)
    print(table.to_string(index=False, formatters={"error": "{:.1e}".format}))
