"""How far apart softmax and linear attention are along training, from the same weights."""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from largeprompt.head_products import linear_part
from largeprompt.heads import products
from largeprompt.stages._job import Job
from largeprompt.stages._training_file import Training, read_training
from largeprompt.tables import write_table

MODEL = ("variant", "covariance", "method", "start", "L", "seed")


def run(job: Job) -> None:
    """Write the largest distances up to the horizon, and `control`, of softmax from standing still.

    `loss`: of the loss, in units of the loss at the start; `weights`: of the weights, in units of
    the way that linear attention goes; `product`: of the linear part b U_xx + v_x u^T, likewise.
    """
    runs = {}
    for path in job.inputs["trainings"]:
        training = read_training(path)
        runs[training.labels["attention"], *(training.labels[name] for name in MODEL)] = training
    rows = []
    for (attention, *model), softmax in runs.items():
        if attention == "softmax":
            linear = runs["linear", *model]
            for row in _distances(softmax, linear, job.settings["horizon"]):
                rows.append((*model, *row))
    columns = [*MODEL, "quantity", "value", "control"]
    write_table(job.outputs["table"], pd.DataFrame(rows, columns=columns), job.run)


def _distances(
    softmax: Training, linear: Training, horizon: float
) -> Iterator[tuple[str, float, float]]:
    losses = [run.loss[run.time <= 1.001 * horizon, None] for run in (softmax, linear)]
    yield "loss", *_largest(*losses, scale=losses[1][0, 0])
    early = softmax.saved_time <= 1.001 * horizon
    for quantity, read in (("weights", _flat), ("product", _linear_part)):
        yield quantity, *_largest(read(softmax.weights)[early], read(linear.weights)[early])


def _largest(softmax: np.ndarray, linear: np.ndarray, scale: float | None = None) -> tuple:
    """Largest distance over time, and that of softmax from the start; (time, entry) each."""
    if scale is None:
        scale = np.linalg.norm(linear - linear[0], axis=1).max()
    apart = np.linalg.norm(softmax - linear, axis=1).max() / scale
    return apart, np.linalg.norm(softmax - linear[0], axis=1).max() / scale


def _flat(weights: Mapping[str, np.ndarray]) -> np.ndarray:
    return np.concatenate([w.reshape(len(w), -1) for w in weights.values()], axis=1).astype(float)


def _linear_part(weights: Mapping[str, np.ndarray]) -> np.ndarray:
    U, v = products({name: np.asarray(w, float) for name, w in weights.items()})
    return linear_part(U, v).reshape(len(U), -1)
