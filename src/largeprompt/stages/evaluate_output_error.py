"""Left side of Prop 3.1 by simulation, for tokens of several scales sigma."""

import numpy as np
import torch

from largeprompt.monte_carlo import output_errors
from largeprompt.stages._job import Job
from largeprompt.stages._token_law import token_law
from largeprompt.tables import read_arrays, write_arrays


def run(job: Job) -> None:
    """Write errors (sigma, length, prompt): |T[mu_hat_L](z) - T[mu](z)|^2 averaged over queries.

    Every sigma uses the same tokens, scaled (common random numbers).
    """
    chosen = job.settings["output_error"]
    data = read_arrays(job.input("tokens"), ["tokens", "queries"])
    tokens, queries = torch.from_numpy(data["tokens"]), torch.from_numpy(data["queries"])
    d, lengths = tokens.shape[-1], sorted(chosen["lengths"])
    law = token_law(job.wildcards["law"], d, job.settings["covariance"])
    V = torch.eye(d, dtype=torch.float64)
    U = chosen["score_scale"] * V
    errors = []
    for sigma in chosen["sigmas"]:
        scaled = law.linear_image(sigma * np.eye(d))
        errors.append(output_errors(scaled, sigma * tokens, queries, U, V, lengths))
        job.progress(f"sigma = {sigma} done, {len(chosen['sigmas'])} in all")
    write_arrays(
        job.outputs["errors"],
        run=job.run,
        **job.wildcards,
        sigma=chosen["sigmas"],
        L=lengths,
        errors=np.stack(errors),
    )
