"""What the stages of exact gradient flow share."""

import numpy as np

from largeprompt.flow import gradient_flow
from largeprompt.heads import STARTS, from_vectors, to_vector
from largeprompt.risk import factorised_risk, merged_risk
from largeprompt.stages._job import Job
from largeprompt.stages._regression_task import regression_task
from largeprompt.stages._training_file import Training, write_training
from largeprompt.tables import read_arrays

RECORDS = 200  # times kept, evenly spaced in ln t beyond the first unit of time
EARLIEST = 0.01


def flow_and_write(job: Job, attention: str, L: float, name: str) -> None:
    """Write the exact path from the paired weights up to `horizon`, at `RECORDS` times and 0.

    Time is that of E (prediction - y_q)^2, so t = steps x learning rate of SGD.
    """
    wildcards = job.wildcards
    task = regression_task(job.settings, wildcards["variant"])
    start = read_arrays(job.input("weights"), STARTS[wildcards["start"]])
    build = {"random": factorised_risk, "theorem": merged_risk}[wildcards["start"]]
    risk = build(
        *(task.Sigma, task.noise_variance, task.task_variance, L, attention),
        query_covariance=task.query_covariance,
    )
    horizon = job.settings["flow"]["horizon"]
    times = np.concatenate([[0], np.geomspace(EARLIEST, horizon, RECORDS)])
    path = gradient_flow(risk, to_vector(start), times)
    labels = {key: wildcards[key] for key in ("variant", "covariance", "start", "seed")}
    labels |= {"method": "flow", "trainer": "exact", "attention": name, "L": f"{L:g}"}
    weights = from_vectors(path.theta, start)
    write_training(
        job.outputs["training"], Training(labels, path.times, path.risk, path.times, weights)
    )
