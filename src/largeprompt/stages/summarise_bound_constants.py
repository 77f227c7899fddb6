"""Which c1 and c2 the bound of Prop 3.1 admits for Gaussian tokens, and which factors."""

import numpy as np
import pandas as pd

from largeprompt.concentration import output_error
from largeprompt.feasible_bounds import (
    PAPER,
    Factor,
    growth_in_sigma,
    largest_c2,
    needed_constant,
)
from largeprompt.rate_forms import naive_exponent
from largeprompt.rates import rate_exponent
from largeprompt.stages._job import Job
from largeprompt.tables import write_table

FACTORS = [PAPER["output"], Factor(4, 0), Factor(3, 0)]


def run(job: Job) -> None:
    """Write the c1 needed for each operator, factor sigma^a ln(L)^b, c2 and longest prompt.

    Tokens N(0, sigma^2 I), U = score_scale I, V = I, queries N(0, I). `best_c2` is what theory
    says is the largest c2, `naive_c2` what the naive exponent would; `measured_c2` is read off
    the two longest prompts; `sigma_growth` is d ln(c1) / d ln(sigma) at the largest sigma.
    """
    chosen = job.settings["bound_constants"]
    sigma = np.geomspace(1, chosen["largest_sigma"], chosen["sigmas"])
    lengths = np.unique(np.geomspace(2, max(chosen["longest"]), chosen["points"]).round())
    tables = []
    for d in chosen["dimensions"]:
        identity = np.eye(d)
        for u in chosen["score_scales"]:
            error = np.array(
                [
                    output_error(s * s * identity, u * identity, identity, identity, lengths)
                    for s in sigma
                ]
            )
            found = _constants(chosen, error, sigma, lengths, float(rate_exponent(u * u)))
            naive = float(naive_exponent(u * u))
            tables.append(found.assign(dimension=d, score_scale=u, naive_c2=naive))
            job.progress(f"d = {d}, score scale {u} done")
    write_table(job.outputs["table"], pd.concat(tables), job.run)


def _constants(
    chosen: dict, error: np.ndarray, sigma: np.ndarray, L: np.ndarray, best: float
) -> pd.DataFrame:
    rows = []
    for factor in FACTORS:
        measured = largest_c2(error, sigma, L, factor)
        for part in chosen["c2_parts"]:
            needed = needed_constant(error, sigma, L, part * best, factor)
            growth = growth_in_sigma(needed, sigma)
            for longest in chosen["longest"]:
                c1 = needed[:, longest >= L].max()
                powers = (factor.sigma_power, factor.log_power)
                rows.append((*powers, part, part * best, longest, c1, growth, best, measured))
    columns = ["sigma_power", "log_power", "part", "c2", "longest", "c1", "sigma_growth"]
    return pd.DataFrame(rows, columns=[*columns, "best_c2", "measured_c2"])
