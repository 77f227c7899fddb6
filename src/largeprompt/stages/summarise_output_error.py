"""Errors beside the bound of Prop 3.1, its constant set on short prompts and tried on long ones."""

import numpy as np
import pandas as pd

from largeprompt.bounds import envelope_shape, sigma_free_shape, smallest_constant
from largeprompt.stages._job import Job
from largeprompt.tables import read_table, write_table

COLUMNS = ["law", "sigma", "L", "error", "stderr", "slope", "slope_stderr"]


def run(job: Job) -> None:
    """Write the errors with the columns calibrates, bound and sigma_free_bound.

    c1 is the smallest that covers 2 <= L <= calibrate_to at every sigma; longer prompts then
    test it. The sigma-free bound (same c2, exponent not divided by sigma^2) is the control.
    """
    chosen = job.settings["output_error"]
    table = read_table(job.input("errors"), COLUMNS)
    table["calibrates"] = (table["L"] >= 2) & (table["L"] <= chosen["calibrate_to"])
    for column, shape in {"bound": envelope_shape, "sigma_free_bound": sigma_free_shape}.items():
        table[column] = _calibrated(table, shape(table["sigma"], table["L"], chosen["c2"]))
    write_table(job.outputs["table"], table, job.run)


def _calibrated(table: pd.DataFrame, shape: pd.Series) -> np.ndarray:
    used = table["calibrates"]
    return smallest_constant(table["error"][used], shape[used]) * shape.to_numpy()
