"""SGD beside the exact flow from the same weights: population risks at every saved step."""

import numpy as np
import pandas as pd
from scipy.interpolate import CubicSpline

from largeprompt.heads import products
from largeprompt.risk import merged_risk
from largeprompt.stages._job import Job
from largeprompt.stages._regression_task import regression_task
from largeprompt.stages._training_file import Training, read_training
from largeprompt.tables import write_table

LABELS = ("attention", "variant", "covariance", "start", "L", "seed")
COLUMNS = [*LABELS, "time", "sgd", "flow", "half_speed"]


def run(job: Job) -> None:
    """Write the exact risk of each saved set of weights and that of the flow at its time.

    `half_speed` is the flow at half that time, where SGD would be if its loss had a factor 1/2.
    """
    sgd, flow = read_training(job.input("sgd")), read_training(job.input("flow"))
    time, risk = sgd.saved_time[1:], _path(flow)
    table = pd.DataFrame(
        {
            **{name: sgd.labels[name] for name in LABELS},
            "time": time,
            "sgd": _risks(job, sgd)[1:],
            "flow": risk(np.log(time)),
            "half_speed": risk(np.log(time / 2)),
        }
    )
    write_table(job.outputs["table"], table, job.run)


def _path(flow: Training) -> CubicSpline:
    """Risk as a function of ln t, between the records of the flow."""
    later = flow.time > 0
    return CubicSpline(np.log(flow.time[later]), flow.loss[later])


def _risks(job: Job, training: Training) -> np.ndarray:
    """Population risk of the weights at every saved time."""
    labels = training.labels
    task = regression_task(job.settings, labels["variant"])
    risk = merged_risk(
        *(task.Sigma, task.noise_variance, task.task_variance, float(labels["L"])),
        attention=labels["attention"],
        query_covariance=task.query_covariance,
    )
    U, v = products({name: np.asarray(w, float) for name, w in training.weights.items()})
    merged = np.concatenate([U.reshape(len(U), -1), v], axis=1)
    return np.array([risk.value_and_gradient(theta)[0] for theta in merged])
