"""The file of one trained model, the same for every method of training."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from largeprompt.tables import read_arrays, write_arrays

LABELS = ("method", "trainer", "attention", "variant", "covariance", "start", "L", "seed")
_PLAIN = ("time", "loss", "saved_time", "weight_names")


@dataclass(frozen=True, eq=False)
class Training:
    """A trained model: its labels (strings), loss history and weights at the saved times.

    time, loss (records,); saved_time (saves,); weights: name -> (saves, ...). Time is
    steps x learning rate, the time of the gradient flow that SGD follows.
    """

    labels: Mapping[str, str]
    time: np.ndarray
    loss: np.ndarray
    saved_time: np.ndarray
    weights: Mapping[str, np.ndarray]


def write_training(path: str, training: Training) -> None:
    """Write a training, to be read back by `read_training`."""
    write_arrays(
        path,
        **training.labels,
        time=training.time,
        loss=training.loss,
        saved_time=training.saved_time,
        weight_names=list(training.weights),
        **{f"weight_{name}": value for name, value in training.weights.items()},
    )


def read_training(path: str) -> Training:
    """Read a training. Raises InputError if the file is missing or damaged."""
    plain = read_arrays(path, [*LABELS, *_PLAIN])
    names = [str(name) for name in plain["weight_names"]]
    weights = read_arrays(path, [f"weight_{name}" for name in names])
    return Training(
        {label: str(plain[label]) for label in LABELS},
        plain["time"],
        plain["loss"],
        plain["saved_time"],
        {name: weights[f"weight_{name}"] for name in names},
    )
