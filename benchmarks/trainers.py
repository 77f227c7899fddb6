"""Time of a training step: literal prompts (torch), pooled sampling (compiled), and its floor.

The floor draws the random numbers of a step and takes its exponentials, nothing else. Times are
processor time of one thread, best of several rounds in which the three take turns, so that other
work on the machine touches all alike. Run with OMP_NUM_THREADS=1 and PYTHONPATH=src.
"""

import argparse
import math
import time
from collections.abc import Callable

import numpy as np
import torch
from numba import njit

from largeprompt.covariances import covariance_matrix
from largeprompt.heads import random_weights
from largeprompt.kernels.counted_random import exponential, f32, fill_normals, u32
from largeprompt.regression import RegressionTask
from largeprompt.seeding import stream
from largeprompt.sgd import train
from largeprompt.sgd_fast import train_fast
from largeprompt.sgd_run import TrainingSettings

CHUNK = 2048


def counts(attention: str, d: int, batch: int, L: float) -> tuple[int, int]:
    """Normals and exponentials a step needs; chi-square trials count as normals."""
    shared = batch * (4 * d + 4)
    if attention == "softmax":
        return shared + 2 * batch * int(L), batch * int(L)
    return shared + (2 * batch if attention == "linear" else 0), 0


@njit
def draw(normals, exponentials, x, y):
    """Draw in chunks that stay in cache."""
    key = (u32(1), u32(2))
    for start in range(0, normals // 2, x.size):
        stop = min(x.size, normals // 2 - start)
        fill_normals(key, start, 0, x[:stop], y[:stop])
    for start in range(0, exponentials, x.size):
        for i in range(min(x.size, exponentials - start)):
            y[i] = exponential(-x[i] * x[i])


def floor(attention: str, d: int, batch: int, L: float, steps: int) -> Callable[[], None]:
    numbers = counts(attention, d, batch, L)
    x, y = np.ones(CHUNK, f32), np.ones(CHUNK, f32)

    def run() -> None:
        for _ in range(steps):
            draw(*numbers, x, y)

    return run


def training(trainer: Callable, attention: str, d: int, batch: int, L: float, steps: int):
    task = RegressionTask.as_stated(covariance_matrix("autoregressive", d, rho=0.5), 0.1, 1 / d)
    settings = TrainingSettings(steps, 1e-3, batch, steps, steps, steps)
    weights = random_weights(stream(1, "weights"), d)
    return lambda: trainer(weights, task, L, attention, settings, stream(1, "prompts"))


def seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def measure(attention: str, d: int, batch: int, L: float, rounds: int) -> list[float]:
    """Microseconds a step of the literal trainer, the pooled one, and the floor."""
    # Short enough to pass between two interruptions, long enough to hide what a run costs once.
    short = attention == "softmax" and L > 200
    steps = [40 if L <= 200 or math.isinf(L) else 15, 50 if short else 500, 50 if short else 500]
    shape = (attention, d, batch, L)
    runs = [
        training(train, *shape, steps[0]),
        training(train_fast, *shape, steps[1]),
        floor(*shape, steps[2]),
    ]
    for run in runs:
        run()
    times = [[seconds(run) for run in runs] for _ in range(rounds)]
    return [1e6 * best / n for best, n in zip(np.min(times, 0), steps, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dimension", type=int, default=5)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--lengths", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--rounds", type=int, default=15)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    print("attention       L   normals      exps   literal    pooled     floor  (µs a step)  ratio")
    cases = [(a, L) for a in ("softmax", "linear") for L in chosen.lengths] + [
        ("infinite", math.inf)
    ]
    for attention, L in cases:
        shape = (attention, chosen.dimension, chosen.batch, L)
        literal, pooled, least = measure(*shape, chosen.rounds)
        normals, exponentials = counts(*shape)
        print(
            f"{attention:9s}{L:8g}{normals:10d}{exponentials:10d}{literal:10.1f}{pooled:10.1f}"
            f"{least:10.1f}{'':13s}{literal / pooled:7.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
