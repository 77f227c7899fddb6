"""The left sides of Props 3.1 and 3.4 for Gaussian tokens, exactly, at any prompt length."""

import numpy as np
import pandas as pd

from largeprompt.concentration import (
    gradient_u_error,
    gradient_v_error,
    local_exponent,
    output_error,
)
from largeprompt.covariances import covariance_matrix
from largeprompt.stages._job import Job
from largeprompt.tables import write_table

ERRORS = {
    "output": output_error,
    "gradient_v": gradient_v_error,
    "gradient_u": gradient_u_error,
}


def run(job: Job) -> None:
    """Write, for each error, sigma and L, the value, its quadrature error and its exponent.

    The exponent is the local one, -d ln(error) / d ln(L) between neighbouring lengths.
    """
    d, chosen = job.settings["tokens"]["dimension"], job.settings["output_error"]
    Gamma = covariance_matrix(dimension=d, **job.settings["covariance"])
    identity = np.eye(d)
    exact = job.settings["exact_error"]
    lengths = np.geomspace(1, exact["longest"], exact["points"]).round().astype(np.int64)
    lengths = np.unique(lengths)
    tables = []
    for sigma in chosen["sigmas"]:
        problem = (sigma**2 * Gamma, chosen["score_scale"] * identity, identity, identity)
        for name, error in ERRORS.items():
            value, uncertainty = error(*problem, lengths, return_error=True)
            columns = {
                **{"quantity": name, "sigma": sigma, "L": lengths, "error": value},
                **{"uncertainty": uncertainty, "exponent": local_exponent(lengths, value)},
            }
            tables.append(pd.DataFrame(columns))
        job.progress(f"sigma = {sigma} done, {len(chosen['sigmas'])} in all")
    write_table(job.outputs["table"], pd.concat(tables), job.run)
