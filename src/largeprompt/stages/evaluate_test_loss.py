"""Loss of every trained model on the same held-out prompts."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import torch

from largeprompt.estimates import Estimate
from largeprompt.heads import products
from largeprompt.regression import Prompts
from largeprompt.sgd import predict
from largeprompt.stages._job import Job
from largeprompt.stages._regression_task import regression_task
from largeprompt.stages._training_file import Training, read_training
from largeprompt.tables import read_arrays, write_table
from largeprompt.tasks import RegressionTask

ROW = ["method", "attention", "start", "L", "seed", "quantity", "value", "stderr"]


def run(job: Job) -> None:
    """Write E (prediction - y_q)^2 of the last weights of each model, with standard errors.

    Quantities: `loss`; for finite prompts also `minus_infinite` and, for softmax, `minus_linear`:
    the loss less that of the infinite-prompt and the linear model of the same start and seed,
    prompt by prompt (the prompts are shared, so these differences are far more precise).
    """
    task = regression_task(job.settings, job.wildcards["variant"])
    prompts = _prompts(job.input("prompts"))
    losses = {}
    for path in [*job.inputs["finite"], *job.inputs["infinite"]]:
        training = read_training(path)
        losses[_key(training)] = _losses(training, task, prompts)
        job.progress(f"{len(losses)} models tested")
    rows = [row for key in losses for row in _rows(key, losses)]
    table = pd.DataFrame(rows, columns=["variant", "covariance", *ROW])
    write_table(job.outputs["table"], table, job.run)


Key = tuple[str, ...]  # variant, covariance, method, attention, start, L, seed


def _key(training: Training) -> Key:
    names = ("variant", "covariance", "method", "attention", "start", "L", "seed")
    return tuple(training.labels[name] for name in names)


def _prompts(path: str) -> Prompts:
    data = read_arrays(path, ["tokens", "query", "target", "weights"])
    return Prompts(**{name: torch.from_numpy(value) for name, value in data.items()})


def _losses(training: Training, task: RegressionTask, prompts: Prompts) -> np.ndarray:
    """Squared error of the last saved weights on each prompt, cut to the length trained on."""
    U, v = products({name: value[-1] for name, value in training.weights.items()})
    weights = {"U": torch.from_numpy(U).double(), "v": torch.from_numpy(v).double()}
    L = float(training.labels["L"])
    tokens = prompts.tokens if np.isinf(L) else prompts.tokens[:, : int(L)]
    cut = Prompts(tokens, prompts.query, prompts.target, prompts.weights)
    prediction = predict(weights, training.labels["attention"], task, cut)
    return ((prediction - prompts.target) ** 2).numpy()


def _rows(key: Key, losses: dict[Key, np.ndarray]) -> Iterator[tuple]:
    variant, covariance, method, attention, start, L, seed = key
    values = {"loss": losses[key]}
    if attention != "infinite":
        infinite = (variant, covariance, method, "infinite", start, "inf", seed)
        values["minus_infinite"] = losses[key] - losses[infinite]
    if attention == "softmax":
        linear = (variant, covariance, method, "linear", start, L, seed)
        values["minus_linear"] = losses[key] - losses[linear]
    for quantity, per_prompt in values.items():
        estimate = Estimate.of(per_prompt)
        yield (*key, quantity, estimate.value, estimate.stderr)
