"""Tables of several cases or models, all with the same columns, as one tidy table."""

import pandas as pd

from largeprompt.errors import InputError
from largeprompt.stages._job import Job
from largeprompt.tables import read_table, write_table


def run(job: Job) -> None:
    """Write the rows of all tables in the order given. Raises InputError if columns differ."""
    first, *others = job.inputs["tables"]
    tables = [read_table(first, [])]
    columns = list(tables[0])
    for path in others:
        tables.append(read_table(path, columns))
        if set(tables[-1]) != set(columns):
            raise InputError(f"{path}: has columns that {first} lacks; delete both and rerun")
    write_table(job.outputs["table"], pd.concat(tables)[columns], job.run)
