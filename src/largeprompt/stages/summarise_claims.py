"""All verdicts in one table."""

import pandas as pd

from largeprompt.stages._job import Job
from largeprompt.tables import read_json, write_table

COLUMNS = ["id", "verdict", "measured", "allowed", "figure", "target"]


def run(job: Job) -> None:
    """Write one row a claim, in the order of the registry."""
    rows = []
    for path in job.inputs["verdicts"]:
        entry = read_json(path, [*COLUMNS, "control_result"])
        control = entry["control_result"]
        word = "fails as it must" if control["failed"] else "PASSES: the rule cannot tell"
        row = {name: entry[name] for name in COLUMNS}
        rows.append(row | {"control": f"{word} ({control['measured']})"})
    write_table(job.outputs["table"], pd.DataFrame(rows), job.run)
