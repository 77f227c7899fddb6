"""Cheaper attention in place of softmax attention with its best weights: what the risk gains."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from largeprompt.covariances import covariance_matrix
from largeprompt.estimates import Estimate
from largeprompt.kernel_swaps import (
    cost_per_token,
    linformer_predictions,
    orthogonal_directions,
    orthonormal_rows,
    performer_floor,
    performer_predictions,
    softmax_predictions,
)
from largeprompt.regression import sample_prompts
from largeprompt.risk import reduced_optimum, reduced_risk
from largeprompt.seeding import stream
from largeprompt.stages._job import Job
from largeprompt.tables import write_table
from largeprompt.tasks import RegressionTask

_Row = tuple[str, int, float, str, Estimate]  # swap, size, L, source, change of risk


@dataclass(frozen=True, eq=False)
class _Trained:
    """The best softmax weights of the Theorem 5.1 family at prompt length L, b > 0."""

    task: RegressionTask
    L: float
    A: np.ndarray
    b: float

    @classmethod
    def at(cls, task: RegressionTask, L: int) -> "_Trained":
        noise = task.noise_variance / task.task_variance
        best = reduced_optimum(task.Sigma, noise, L)
        sign = math.copysign(1.0, best.b)
        return cls(task, L, sign * best.A, sign * best.b)

    def risk(self, L: float, attention: str = "softmax", scale: float = 1.0) -> float:
        """E (prediction - y_q)^2 at these weights, A times `scale`, for prompts of length L."""
        rho = self.task.task_variance
        problem = (self.task.Sigma, self.task.noise_variance / rho, L, attention)
        return 2 * rho * reduced_risk(scale * self.A, self.b, *problem)


def run(job: Job) -> None:
    """Write the change of risk of each swap, its standard error, relative to the softmax risk.

    Sources: `exact`; `simulation`, paired on prompts, one set of random features or projection a
    batch. Rows with L = inf are infinite prompts with the weights of the longest length.
    """
    chosen, regression = job.settings["kernel_swap"], job.settings["regression"]
    Sigma = covariance_matrix(dimension=regression["dimension"], **job.settings["covariance"])
    task = RegressionTask.as_stated(
        Sigma, regression["noise_variance"], regression["task_variance"]
    )
    rows: list[_Row] = []
    risks = {}
    for L in sorted(chosen["lengths"]):
        trained = _Trained.at(task, L)
        risks[float(L)] = trained.risk(L)
        rows += _exact(trained, L, chosen["rows"])
        rows += _simulated(trained, L, chosen)
        job.progress(f"L = {L} done")
    risks[math.inf] = trained.risk(math.inf)
    rows += _exact(trained, math.inf, chosen["rows"])
    rows += _floors(trained, chosen)
    table = pd.DataFrame([_record(row, risks, len(Sigma)) for row in rows])
    write_table(job.outputs["table"], table, job.run)


def _record(row: _Row, risks: dict[float, float], d: int) -> dict:
    swap, size, L, source, change = row
    softmax = risks[float(L)]
    return {
        **{"swap": swap, "size": size, "L": L, "source": source, "softmax_risk": softmax},
        **{"relative": change.value / softmax, "stderr": change.stderr / softmax},
        **{"cost": cost_per_token(swap, size, d, L), "softmax_cost": (d + 1) * L},
    }


def _exact(trained: _Trained, L: float, sizes: list[int]) -> Iterator[_Row]:
    softmax = trained.risk(L)
    yield "linear", 0, L, "exact", Estimate(trained.risk(L, "linear") - softmax, 0.0)
    yield "uniform", 0, L, "exact", Estimate(trained.risk(L, scale=0.0) - softmax, 0.0)
    for k in sizes:
        if k <= L:
            yield "linformer", k, L, "exact", Estimate(trained.risk(k) - softmax, 0.0)


def _simulated(trained: _Trained, L: int, chosen: dict) -> Iterator[_Row]:
    changes = [_batch(trained, L, chosen, i) for i in range(chosen["batches"])]
    for swap, size in changes[0]:
        values = np.array([change[swap, size] for change in changes])
        yield swap, size, L, "simulation", Estimate.of(values)


def _batch(trained: _Trained, L: int, chosen: dict, index: int) -> dict[tuple[str, int], float]:
    """Mean change of the squared error on one batch, without the noise of the query's label."""
    rng = stream(chosen["seed"], "kernel_swap", L, index)
    drawn = sample_prompts(rng, trained.task, chosen["prompts"], L)
    prompt, weights = (drawn.tokens, drawn.query), (trained.A, trained.b)
    counts = chosen["features"]
    directions = orthogonal_directions(rng, max(counts), len(trained.A))
    performer = performer_predictions(*prompt, *weights, directions, counts)
    swapped = {("performer", n): found for n, found in zip(counts, performer, strict=True)}
    fitting = [k for k in chosen["rows"] if k <= L]
    projection = orthonormal_rows(rng, max(fitting, default=1), L)
    for k in fitting:
        swapped["linformer", k] = linformer_predictions(*prompt, *weights, projection[:k])
    target = (drawn.weights * drawn.query[:, :-1]).sum(-1)
    softmax = (softmax_predictions(*prompt, *weights) - target) ** 2
    return {key: float(((found - target) ** 2 - softmax).mean()) for key, found in swapped.items()}


def _floors(trained: _Trained, chosen: dict) -> Iterator[_Row]:
    rng, counts = stream(chosen["seed"], "kernel_swap", "floor"), chosen["floor_features"]
    floors = performer_floor(
        *(rng, trained.task.Sigma, trained.A, trained.b, trained.task.task_variance),
        *(counts, chosen["floor_draws"]),
    )
    for n, floor in zip(counts, floors, strict=True):
        yield "performer", n, math.inf, "simulation", floor
