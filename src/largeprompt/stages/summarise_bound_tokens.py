"""Tokens that the bounds ask for beside the tokens that are needed."""

import math

import numpy as np
import pandas as pd

from largeprompt.bounds import envelope_shape, sigma_free_shape, smallest_constant
from largeprompt.covariances import covariance_matrix
from largeprompt.prompt_length import (
    log_envelope_length,
    mean_square_output,
    required_prompt_lengths,
    sharp_bound_lengths,
)
from largeprompt.rates import rate_exponent
from largeprompt.stages._job import Job
from largeprompt.tables import read_table, write_table

EXACT = ["quantity", "sigma", "L", "error"]


def run(job: Job) -> None:
    """Write log10 of the tokens by each bound and exactly, for each sigma and tolerance.

    Bounds: `envelope`, Prop 3.1 with the best constants: c2 the largest that any sigma >= 1 allows
    at these weights, c1 the smallest that covers every sigma and L >= 2 of the exact errors;
    `own`, the same form with constants of that sigma alone; `sigma_free`, one exponent for every
    sigma and c1 set on L <= calibrate_to, which is no bound; `sharp`, (2.3) of the derivations.
    Cells that need more tokens than 1e12, exactly or by the sharp bound, are left out.
    """
    exact = read_table(job.input("exact"), EXACT)
    exact = exact[(exact["quantity"] == "output") & (exact["L"] >= 2)]
    chosen, d = job.settings["output_error"], job.settings["tokens"]["dimension"]
    Gamma, identity = covariance_matrix(dimension=d, **job.settings["covariance"]), np.eye(d)
    U = chosen["score_scale"] * identity
    top = np.linalg.eigvalsh(Gamma)[-1]
    c2 = rate_exponent(chosen["score_scale"] ** 2 * top)
    short = exact[exact["L"] <= chosen["calibrate_to"]]
    shared = _constant(exact, envelope_shape, c2), c2
    sigma_free = _constant(short, sigma_free_shape, c2), c2
    rows, tolerances = [], job.settings["prompt_length"]["tolerances"]
    for sigma in chosen["sigmas"]:
        problem = (sigma**2 * Gamma, U, identity, identity)
        size = mean_square_output(*problem)
        own = rate_exponent(sigma**2 * chosen["score_scale"] ** 2 * top) * sigma**2
        own_constant = _constant(exact[exact["sigma"] == sigma], envelope_shape, own)
        envelopes = {
            "envelope": (shared[0], c2 / sigma**2),
            "sigma_free": sigma_free,
            "own": (own_constant, own / sigma**2),
        }
        needed = required_prompt_lengths(*problem, tolerances)
        sharp = sharp_bound_lengths(*problem, tolerances)
        for tolerance, tokens, bounded in zip(tolerances, needed, sharp, strict=True):
            if math.isinf(bounded):
                continue
            for bound, (constant, exponent) in envelopes.items():
                target = tolerance**2 * size
                log = log_envelope_length(constant * sigma**6, exponent, target)
                rows.append((bound, sigma, tolerance, log / math.log(10), math.log10(tokens)))
            rows.append(("sharp", sigma, tolerance, math.log10(bounded), math.log10(tokens)))
        job.progress(f"sigma = {sigma:g} done")
    columns = ["bound", "sigma", "tolerance", "log10_tokens", "log10_needed"]
    write_table(job.outputs["table"], pd.DataFrame(rows, columns=columns), job.run)


def _constant(exact: pd.DataFrame, shape, c2: float) -> float:
    """The smallest c1 that covers the exact errors given."""
    sigma, L = exact["sigma"].to_numpy(dtype=float), exact["L"].to_numpy(dtype=float)
    return smallest_constant(exact["error"].to_numpy(), shape(sigma, L, c2))
