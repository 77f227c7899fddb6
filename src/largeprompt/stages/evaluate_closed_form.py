"""Exact flow of linear attention beside the closed form of Zhang, Frei & Bartlett."""

import math

import numpy as np
import pandas as pd

from largeprompt.baselines import linear_optimum
from largeprompt.covariances import covariance_matrix
from largeprompt.flow import gradient_flow
from largeprompt.heads import theorem_weights
from largeprompt.risk import reduced_training
from largeprompt.stages._job import Job
from largeprompt.tables import write_table

_TOLERANCE = 1e-9  # of the integrator: its drift decides how balanced the end point is


def run(job: Job) -> None:
    """Write relative distances from the end of the flow (A, b) to the closed form B of length L.

    `matrix`: b A from B. `scale`: b from |B|^(1/2), where the balanced flow ends. `infinite`: b A
    from the closed form of an infinite prompt, the control.
    """
    regression, chosen = job.settings["regression"], job.settings["neighbours"]
    d, rows = regression["dimension"], []
    noise = regression["noise_variance"] / regression["task_variance"]
    for name, covariance in job.settings["covariances"].items():
        Sigma = covariance_matrix(dimension=d, **covariance)
        limit = linear_optimum(Sigma, noise, 1.0, math.inf).B
        for L in chosen["flow_lengths"]:
            for label_noise in (0.0, noise):
                B = linear_optimum(Sigma, label_noise, 1.0, L).B
                risk = reduced_training(Sigma, label_noise, L, "linear")
                for alpha in chosen["alphas"]:
                    start = theorem_weights(alpha, d)
                    start = np.append(start["U"][:d, :d].ravel(), start["v"][-1])
                    end = gradient_flow(risk, start, tolerance=_TOLERANCE).theta[-1]
                    A, b = end[:-1].reshape(d, d), end[-1]
                    label = name, label_noise, L, alpha
                    rows += [
                        (*label, "matrix", _distance(b * A, B)),
                        (*label, "scale", abs(b / np.linalg.norm(B) ** 0.5 - 1)),
                        (*label, "infinite", _distance(b * A, limit)),
                    ]
        job.progress(f"{name} done")
    columns = ["covariance", "noise_variance", "L", "alpha", "quantity", "value"]
    write_table(job.outputs["table"], pd.DataFrame(rows, columns=columns), job.run)


def _distance(matrix: np.ndarray, reference: np.ndarray) -> float:
    return float(np.linalg.norm(matrix - reference) / np.linalg.norm(reference))
