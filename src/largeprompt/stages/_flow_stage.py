"""What the stages of exact gradient flow share."""

import numpy as np
import pandas as pd

from largeprompt.flow import GradientFlow, gradient_flow
from largeprompt.heads import STARTS, from_vectors, to_vector
from largeprompt.risk import Risk, factorised_risk, merged_risk
from largeprompt.stages._job import Job
from largeprompt.stages._regression_task import regression_task
from largeprompt.stages._training_file import LABELS, Training, write_training
from largeprompt.tables import read_arrays, write_table

RECORDS = 200  # times kept up to the horizon, evenly spaced in ln t beyond the first unit of time
LATER_RECORDS = 60  # from there to the limit time
EARLIEST = 0.01
LIMIT = (*LABELS, "time", "risk", "gradient_norm", "lowest_curvature", "weight_norm")


def flow_and_write(job: Job, attention: str, L: float, training: str, limit: str) -> None:
    """Write the exact path from the paired weights: to the horizon, and on to the limit time.

    Time is that of E (prediction - y_q)^2, so t = steps x learning rate of SGD. The path goes to
    the output named `training`; that named `limit` is one row on the last point: risk, gradient
    norm, smallest eigenvalue of the Hessian. On an infinite prompt attention says nothing.
    """
    wildcards = job.wildcards
    task = regression_task(job.settings, wildcards["variant"])
    start = read_arrays(job.input("weights"), STARTS[wildcards["start"]])
    build = {"random": factorised_risk, "theorem": merged_risk}[wildcards["start"]]
    risk = build(
        *(task.Sigma, task.noise_variance, task.task_variance, L, attention),
        query_covariance=task.query_covariance,
    )
    path = gradient_flow(risk, to_vector(start), _times(job))
    labels = {key: wildcards[key] for key in ("variant", "covariance", "start", "seed")}
    labels |= {"method": "flow", "trainer": "exact", "L": f"{L:g}"}
    labels["attention"] = "infinite" if L == np.inf else attention
    weights = from_vectors(path.theta, start)
    write_table(job.outputs[limit], _limit(labels, path, risk), job.run)
    write_training(
        job.outputs[training], Training(labels, path.times, path.risk, path.times, weights)
    )


def _times(job: Job) -> np.ndarray:
    horizon, last = job.settings["horizon"], job.settings["flow"]["limit_time"]
    later = np.geomspace(horizon, last, LATER_RECORDS + 1)[1:]
    return np.concatenate([[0], np.geomspace(EARLIEST, horizon, RECORDS), later])


def _limit(labels: dict, path: GradientFlow, risk: Risk) -> pd.DataFrame:
    """The end of the path; the curvature is 0 where a family of weights has the same risk."""
    last = path.theta[-1]
    row = labels | {
        "time": path.times[-1],
        "risk": path.risk[-1],
        "gradient_norm": path.gradient_norm[-1],
        "lowest_curvature": np.linalg.eigvalsh(risk.hessian(last))[0],
        "weight_norm": np.linalg.norm(last),
    }
    return pd.DataFrame([row])[list(LIMIT)]
