"""Exact errors of the output and both gradients beside the bounds of Props 3.1 and 3.4."""

import pandas as pd

from largeprompt.bounds import smallest_constant
from largeprompt.feasible_bounds import PAPER, bound_shape
from largeprompt.stages._job import Job
from largeprompt.tables import read_table, write_table

EXACT = ["quantity", "sigma", "L", "error", "uncertainty", "exponent"]


def run(job: Job) -> None:
    """Write the errors with the columns stderr, calibrates, bound and sigma_free_bound.

    For each quantity c1 is the smallest that covers 2 <= L <= calibrate_to at every sigma; longer
    prompts then test it. The sigma-free bound (same c2, not divided by sigma^2) is the control.
    """
    chosen = job.settings["output_error"]
    table = read_table(job.input("exact"), EXACT).rename(columns={"uncertainty": "stderr"})
    table["calibrates"] = (table["L"] >= 2) & (table["L"] <= chosen["calibrate_to"])
    parts = [_bounded(part.copy(), name, chosen["c2"]) for name, part in table.groupby("quantity")]
    write_table(job.outputs["table"], pd.concat(parts), job.run)


def _bounded(table: pd.DataFrame, quantity: str, c2: float) -> pd.DataFrame:
    sigma, L, used = table["sigma"], table["L"].astype(float), table["calibrates"]
    for column, power in (("bound", c2 / sigma**2), ("sigma_free_bound", c2)):
        shape = bound_shape(sigma, L, power, PAPER[quantity])
        table[column] = smallest_constant(table["error"][used], shape[used]) * shape
    return table
