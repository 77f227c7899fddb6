"""The numbers that decide the claims, all in one table."""

import pandas as pd

from largeprompt.stages._job import Job
from largeprompt.tables import read_json, write_table


def run(job: Job) -> None:
    """Write one row a number (claim, number, value), in the order of the registry."""
    entries = [read_json(path, ["id", "numbers"]) for path in job.inputs["verdicts"]]
    rows = [(e["id"], name, value) for e in entries for name, value in e["numbers"].items()]
    write_table(
        job.outputs["table"], pd.DataFrame(rows, columns=["claim", "number", "value"]), job.run
    )
