"""Left side of Prop 3.1 by simulation, for tokens of several scales sigma."""

import numpy as np

from largeprompt.monte_carlo import output_errors
from largeprompt.stages._job import Job
from largeprompt.stages._token_experiment import token_experiment
from largeprompt.tables import write_arrays


def run(job: Job) -> None:
    """Write errors (sigma, length, prompt): |T[mu_hat_L](z) - T[mu](z)|^2 averaged over queries.

    Every sigma uses the same tokens, scaled (common random numbers).
    """
    chosen = job.settings["output_error"]
    tokens, queries, law, U, V, lengths = token_experiment(job, "output_error")
    errors = []
    for sigma in chosen["sigmas"]:
        scaled = law.linear_image(sigma * np.eye(len(V)))
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
