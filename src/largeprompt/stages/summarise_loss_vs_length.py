"""Final losses of every model beside the Bayes risk of its prompt length."""

import pandas as pd

from largeprompt.stages._job import Job
from largeprompt.tables import read_table, write_table

COLUMNS = [
    *("variant", "covariance", "method", "attention", "start", "L", "seed"),
    *("quantity", "value", "stderr"),
]


def run(job: Job) -> None:
    """Write the test losses and, as method `ridge`, the Bayes risks."""
    losses = [read_table(path, COLUMNS) for path in job.inputs["losses"]]
    ridge = [read_table(path, ["L", "value", "stderr"]) for path in job.inputs["ridge"]]
    marked = [
        table.assign(method="ridge", attention="none", start="none", seed="none", quantity="loss")
        for table in ridge
    ]
    write_table(job.outputs["table"], pd.concat([*losses, *marked])[COLUMNS], job.run)
