"""Learned weights as products U = K^T Q, v = O V, beside the optimum of the infinite prompt."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from largeprompt.head_products import balanced, idle_share, product_distance
from largeprompt.heads import products
from largeprompt.stages._job import Job
from largeprompt.stages._regression_task import regression_task
from largeprompt.stages._training_file import Training, read_training
from largeprompt.tables import write_table

MODEL = ("variant", "covariance", "method", "attention", "start", "L", "seed")


def run(job: Job) -> None:
    """Write, for each training, at the horizon (SGD) or at horizon and limit time (flow):

    `distance` of the linear part B = b U_xx + v_x u^T from Sigma^-1, relative, and
    `from_identity`; `idle` share of the squared weight outside U_xx and b; for SGD also the
    entries of `U` and `v`, balanced.
    """
    task = regression_task(job.settings, job.wildcards["variant"])
    target = np.linalg.inv(task.Sigma)
    rows = [
        row
        for path in job.inputs["trainings"]
        for row in _rows(read_training(path), target, job.settings["horizon"])
    ]
    columns = [*MODEL, "time", "quantity", "row", "column", "value"]
    write_table(job.outputs["table"], pd.DataFrame(rows, columns=columns), job.run)


def _rows(training: Training, target: np.ndarray, horizon: float) -> Iterator[tuple]:
    model = tuple(training.labels[name] for name in MODEL)
    time = training.saved_time
    U, v = products({name: np.asarray(w, float) for name, w in training.weights.items()})
    for at in sorted({int(np.argmin(np.abs(time - horizon))), len(time) - 1}):
        head = U[at], v[at]
        distance = product_distance(*head, target)
        identity = product_distance(*head, np.eye(len(target)))
        yield (*model, time[at], "distance", 0, 0, distance)
        yield (*model, time[at], "from_identity", 0, 0, identity)
        yield (*model, time[at], "idle", 0, 0, idle_share(*head))
        if training.labels["method"] == "sgd":
            yield from _entries((*model, time[at]), *balanced(*head))


def _entries(labels: tuple, U: np.ndarray, v: np.ndarray) -> Iterator[tuple]:
    for (row, column), value in np.ndenumerate(U):
        yield (*labels, "U", row, column, value)
    for (row,), value in np.ndenumerate(v):
        yield (*labels, "v", row, 0, value)
