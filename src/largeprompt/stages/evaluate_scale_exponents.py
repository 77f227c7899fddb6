"""Exponents of the deviation in norm against the scale of the scores, beside a published form."""

import numpy as np
import pandas as pd

from largeprompt.prompt_length import relative_error
from largeprompt.rates import rate_exponent, tilt
from largeprompt.stages._job import Job
from largeprompt.tables import write_table


def run(job: Job) -> None:
    """Write, for tokens and queries N(0, v I) and U = scale I, exponents of L in norm.

    `asymptotic`: theta / 2 (eq. 2.10). `reachable`: exact, between two lengths. `form`:
    1/(2 (1 + H^2)), with H^2 taken for the tilt. As 1/theta = 1 + (1 - theta^2) tilt, the form
    is then never above `asymptotic` and tends to it for large scales.
    """
    chosen = job.settings["neighbours"]
    identity = np.eye(chosen["embedding_dimension"])
    Gamma, reach = chosen["token_variance"] * identity, sorted(chosen["reachable"])
    rows = []
    for scale in chosen["scales"]:
        problem = (Gamma, scale * identity, identity, Gamma)
        top = tilt(Gamma, scale * identity, Gamma)
        errors = relative_error(*problem, reach)
        slope = float(-np.diff(np.log(errors))[0] / np.diff(np.log(reach))[0])
        asymptotic, form = rate_exponent(top) / 2, 1 / (2 * (1 + top))
        rows.append((scale, top, asymptotic, slope, form))
        job.progress(f"scale {scale:g} done")
    columns = ["scale", "tilt", "asymptotic", "reachable", "form"]
    write_table(job.outputs["table"], pd.DataFrame(rows, columns=columns), job.run)
