"""SGD with the law of `sgd.train`, drawing of each prompt only what its loss gradient needs."""

import math
from collections.abc import Callable, Mapping

import numpy as np

from largeprompt.errors import InputError
from largeprompt.heads import FACTORISED, MERGED, Arrays
from largeprompt.kernels.pooling import Keys
from largeprompt.kernels.sgd_steps import (
    INFINITE,
    LINEAR,
    SOFTMAX,
    Problem,
    factorised_steps,
    merged_steps,
)
from largeprompt.sgd_run import TrainingRun, TrainingSettings, check_request, run_setup, run_steps
from largeprompt.tasks import RegressionTask

CODES = {"softmax": SOFTMAX, "linear": LINEAR, "infinite": INFINITE}


def train_fast(
    weights: Mapping[str, np.ndarray],
    task: RegressionTask,
    L: float,
    attention: str,
    settings: TrainingSettings,
    rng: np.random.Generator,
    resume: Arrays | None = None,
    checkpoint: Callable[[Arrays], None] | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> TrainingRun:
    """As `sgd.train`: same arguments, results, errors and law of the run, other random numbers.

    Softmax, linear and infinite attention see the same tasks, queries and targets, but softmax
    and linear attention not the same tokens: neither draws whole ones. Weights are float32 as in
    the protocol and so are the numbers drawn; gradients are summed in float64. Raises InputError
    as `sgd.train` does, and for 2^32 tokens or more in a batch.
    """
    check_request(weights, task, L, attention)
    if attention != "infinite" and L * settings.batch_size >= 2**32:
        raise InputError(f"L = {L}: L * batch_size must be below 2^32")
    steps = _PooledSteps(weights, task, L, attention, settings, rng)
    return run_steps(steps, settings, resume, checkpoint, progress)


class _PooledSteps:
    """Steps in compiled code; a number drawn depends on the key of its stream and on the step."""

    def __init__(
        self,
        weights: Mapping[str, np.ndarray],
        task: RegressionTask,
        L: float,
        attention: str,
        settings: TrainingSettings,
        rng: np.random.Generator,
    ) -> None:
        self.generator = rng.integers(2**32, size=(len(Keys._fields), 2), dtype=np.uint32)
        self.setup = run_setup(
            task, L, attention, settings, sampler="pooled", seed=self.generator.tolist()
        )
        self.weights = {name: np.array(value, np.float32) for name, value in weights.items()}
        self._rate = float(settings.learning_rate)
        self._problem = Problem(
            attention=CODES[attention],
            L=0 if attention == "infinite" else int(L),
            batch=settings.batch_size,
            root=task.context_root,
            query_root=task.query_root,
            noise=math.sqrt(task.noise_variance),
            scale=math.sqrt(task.task_variance),
        )

    def advance(self, step: int, count: int) -> list[float]:
        merged = set(self.weights) == set(MERGED)
        names, take = (MERGED, merged_steps) if merged else (FACTORISED, factorised_steps)
        weights = tuple(self.weights[name] for name in names)
        keys = Keys(*((first, second) for first, second in self.generator))
        losses = np.empty(count)
        take(weights, self._rate, self._problem, keys, step, losses)
        return losses.tolist()
