"""Means, fitted slopes and the envelope of Prop 3.1 from the errors of every law and sigma."""

import numpy as np
import pandas as pd

from largeprompt.bounds import envelope_shape, smallest_constant
from largeprompt.estimates import Estimate, log_slope
from largeprompt.stages._job import Job
from largeprompt.tables import read_arrays, write_table


def run(job: Job) -> None:
    """Write `errors` (one row a law, sigma, L; with the slope of its curve) and `envelope`.

    The envelope table gives, for each c2 of the grid, the smallest c1 for which the bound holds
    at every sigma and every L >= 2 of the table.
    """
    chosen = job.settings["output_error"]
    rows = []
    for path in job.inputs["errors"]:
        data = read_arrays(path, ["law", "sigma", "L", "errors"])
        lengths, fitted = data["L"], data["L"] >= chosen["fit_from"]
        for sigma, errors in zip(data["sigma"], data["errors"], strict=True):
            slope = log_slope(lengths[fitted], errors[fitted])
            means = [Estimate.of(values) for values in errors]
            rows += [
                (str(data["law"]), sigma, L, mean.value, mean.stderr, slope.value, slope.stderr)
                for L, mean in zip(lengths, means, strict=True)
            ]
    columns = ["law", "sigma", "L", "error", "stderr", "slope", "slope_stderr"]
    errors = pd.DataFrame(rows, columns=columns)
    write_table(job.outputs["errors"], errors, job.run)
    write_table(job.outputs["envelope"], _envelope(errors, chosen["c2_grid"]), job.run)


def _envelope(errors: pd.DataFrame, c2_grid: list[float]) -> pd.DataFrame:
    rows = errors[errors["L"] >= 2]
    error, sigma, L = (rows[c].to_numpy(dtype=float) for c in ("error", "sigma", "L"))
    needed = [smallest_constant(error, envelope_shape(sigma, L, c2)) for c2 in c2_grid]
    return pd.DataFrame({"c2": np.array(c2_grid), "c1": needed})
