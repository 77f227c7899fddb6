"""Tables of several cases or models, all with the same columns, as one tidy table."""

import pandas as pd

from largeprompt.stages._job import Job
from largeprompt.tables import read_table, write_table


def run(job: Job) -> None:
    """Write the rows of all tables in the order given.

    Raises InputError naming the table that lacks a column which another one has.
    """
    paths = job.inputs["tables"]
    columns = list(dict.fromkeys(name for path in paths for name in read_table(path, [])))
    tables = [read_table(path, columns)[columns] for path in paths]
    write_table(job.outputs["table"], pd.concat(tables), job.run)
