"""The tables of every law in one."""

import pandas as pd

from largeprompt.stages._job import Job
from largeprompt.tables import read_table, write_table

COLUMNS = ["law", "limit", "quantity", "L", "value", "stderr"]


def run(job: Job) -> None:
    """Write the rows of all laws, in the order of the configuration."""
    tables = [read_table(path, COLUMNS) for path in job.inputs["tables"]]
    write_table(job.outputs["table"], pd.concat(tables), job.run)
