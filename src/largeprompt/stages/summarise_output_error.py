"""Simulated and exact errors beside the bound of Prop 3.1, set on short prompts, tried on long."""

import pandas as pd

from largeprompt.bounds import envelope_shape, sigma_free_shape, smallest_constant
from largeprompt.stages._job import Job
from largeprompt.tables import read_table, write_table

SIMULATED = ["law", "sigma", "L", "error", "stderr", "slope", "slope_stderr"]
EXACT = ["quantity", "sigma", "L", "error", "uncertainty", "exponent"]


def run(job: Job) -> None:
    """Write the errors with the columns source, calibrates, bound and sigma_free_bound.

    c1 is the smallest that covers 2 <= L <= calibrate_to at every sigma and law; longer prompts
    then test it. The sigma-free bound (same c2, exponent not divided by sigma^2) is the control.
    `slope` is fitted to a whole curve where it is simulated, local where it is exact.
    """
    chosen = job.settings["output_error"]
    simulated = read_table(job.input("errors"), SIMULATED).assign(source="simulation")
    table = pd.concat([simulated, _exact(job.input("exact"))], ignore_index=True)
    table["calibrates"] = (table["L"] >= 2) & (table["L"] <= chosen["calibrate_to"])
    for column, shape in {"bound": envelope_shape, "sigma_free_bound": sigma_free_shape}.items():
        unscaled = shape(table["sigma"], table["L"].astype(float), chosen["c2"])
        used = table["calibrates"]
        table[column] = smallest_constant(table["error"][used], unscaled[used]) * unscaled
    write_table(job.outputs["table"], table, job.run)


def _exact(path: str) -> pd.DataFrame:
    """The exact output errors under the names of the simulated ones."""
    table = read_table(path, EXACT)
    table = table[table["quantity"] == "output"]
    columns = {"sigma": table["sigma"], "L": table["L"], "error": table["error"]}
    return pd.DataFrame(
        {
            **{"law": "gaussian", "source": "exact", **columns, "stderr": table["uncertainty"]},
            **{"slope": -table["exponent"], "slope_stderr": 0.0},
        }
    )
