"""Trained at one prompt length, tested at others: exact risks of the final weights."""

import numpy as np
import pandas as pd

from largeprompt.heads import products
from largeprompt.risk import merged_risk
from largeprompt.stages._job import Job
from largeprompt.stages._regression_task import regression_task
from largeprompt.stages._training_file import Training, read_training
from largeprompt.tables import write_table

MODEL = ("variant", "covariance", "method", "attention", "start", "L", "seed")


def run(job: Job) -> None:
    """Write the risk at each test length of each finite model, at the time where SGD ends."""
    task, horizon = regression_task(job.settings, job.wildcards["variant"]), job.settings["horizon"]
    models = [read_training(path) for path in job.inputs["trainings"]]
    rows = []
    for attention in ("softmax", "linear"):
        chosen = [model for model in models if model.labels["attention"] == attention]
        heads = [_merged(model, horizon) for model in chosen]
        for L in sorted(job.settings["length_generalisation"]["lengths"]):
            risk = merged_risk(
                *(task.Sigma, task.noise_variance, task.task_variance, L, attention),
                query_covariance=task.query_covariance,
            )
            for model, head in zip(chosen, heads, strict=True):
                labels = (model.labels[name] for name in MODEL)
                rows.append((*labels, L, risk.value_and_gradient(head)[0]))
            job.progress(f"{attention} attention: tested at L = {L}")
    columns = [*MODEL, "test_L", "risk"]
    write_table(job.outputs["table"], pd.DataFrame(rows, columns=columns), job.run)


def _merged(training: Training, horizon: float) -> np.ndarray:
    """(U by rows, v) at the horizon."""
    at = int(np.argmin(np.abs(training.saved_time - horizon)))
    weights = {name: np.asarray(w[at], float) for name, w in training.weights.items()}
    U, v = products(weights)
    return np.concatenate([U.ravel(), v])
