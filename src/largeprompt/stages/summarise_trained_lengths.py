"""Prompt lengths from which the best heads are close to each other and to the noise."""

import functools
from collections.abc import Callable

import numpy as np
import pandas as pd

from largeprompt.baselines import linear_optimum
from largeprompt.covariances import covariance_matrix
from largeprompt.optimum_lengths import optimal_excess, smallest_length
from largeprompt.stages._job import Job
from largeprompt.tables import write_table


def run(job: Job) -> None:
    """Write the smallest L for each covariance, dimension, tolerance and quantity.

    `softmax`, `linear`: risk of the best weights above the noise; `gap`: of softmax above linear.
    Tasks are w ~ N(0, I / d) as in Section 6; tolerances are shares of tr(Sigma) / d, the risk of
    zero weights above the noise. Lengths beyond `longest` are left out.
    """
    chosen, noise = job.settings["trained_lengths"], job.settings["regression"]["noise_variance"]
    rows = []
    for name, entry in job.settings["covariances"].items():
        for d in sorted(chosen["dimensions"]):
            Sigma = covariance_matrix(dimension=d, **entry)
            excesses = _excesses(Sigma, noise)
            for tolerance in chosen["tolerances"]:
                allowed = tolerance * np.trace(Sigma) / d
                for quantity, excess in excesses.items():
                    L = smallest_length(excess, allowed, int(chosen["longest"]))
                    if L is not None:
                        rows.append((name, d, quantity, tolerance, L))
            job.progress(f"{name}, d = {d} done")
    columns = ["covariance", "dimension", "quantity", "tolerance", "L"]
    write_table(job.outputs["table"], pd.DataFrame(rows, columns=columns), job.run)


def _excesses(Sigma: np.ndarray, noise: float) -> dict[str, Callable[[int], float]]:
    """Each quantity as a function of L; softmax takes seconds, so its values are kept."""
    task_variance = 1 / len(Sigma)
    found = functools.cache(lambda L: optimal_excess(Sigma, noise, task_variance, L))
    return {
        "softmax": lambda L: found(L).softmax,
        "linear": lambda L: linear_optimum(Sigma, noise, task_variance, L).risk - noise,
        "gap": lambda L: found(L).gap,
    }
