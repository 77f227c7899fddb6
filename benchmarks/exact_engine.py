"""Time of exact numbers beside the simulations they replace: `python benchmarks/exact_engine.py`.

Run from the root of the repository in its environment, on an idle machine. Every ratio compares
times of this one run on one core; a simulation too long to wait for is timed in part and scaled up.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"

import multiprocessing
import resource
import time
from collections.abc import Callable

import numpy as np
import torch

from largeprompt.concentration import output_error
from largeprompt.covariances import covariance_matrix
from largeprompt.flow import gradient_flow
from largeprompt.heads import random_weights, to_vector
from largeprompt.measures import Gaussian
from largeprompt.monte_carlo import output_errors
from largeprompt.risk import factorised_risk
from largeprompt.score_moments import ScoreMomentTable
from largeprompt.seeding import stream
from largeprompt.sgd import train
from largeprompt.sgd_run import TrainingSettings
from largeprompt.tasks import RegressionTask

HORIZON, RATE, ROUNDS = 300, 1e-3, 3
STEPS = {10: 2000, 100: 2000, 1000: 400}  # of literal SGD, a few seconds
SEEDS = (327, 328, 329)  # the third flow runs into a valley at large L, and takes longest
Sigma = covariance_matrix("autoregressive", 5, rho=0.5)
TASK = RegressionTask.as_stated(Sigma, 0.1, 0.2)
WEIGHTS = {seed: random_weights(stream(seed, "weights"), 5) for seed in SEEDS}


def seconds(action: Callable[[], object]) -> float:
    """Processor time of one call."""
    start = time.process_time()
    action()
    return time.process_time() - start


def flow_point(L: int, seed: int) -> float:
    """One point of the loss-against-L curve, tables included."""
    times = np.array([0.0, HORIZON])
    risk = factorised_risk(*(Sigma, 0.1, 0.2, L, "softmax"))
    return seconds(lambda: gradient_flow(risk, to_vector(WEIGHTS[seed]), times))


def cold_flow_point(L: int, seed: int) -> float:
    """The same in a process of its own, because this one would keep the tables."""
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply(flow_point, (L, seed))


def literal_point(L: int) -> float:
    """The same point by literal SGD, from the time of some of its steps."""
    steps = STEPS[L]
    settings = TrainingSettings(steps, RATE, 128, steps, steps, steps)
    rng = stream(1, "benchmark")
    taken = seconds(lambda: train(WEIGHTS[327], TASK, L, "softmax", settings, rng))
    return taken * HORIZON / RATE / steps


def compare(L: int) -> None:
    """Print the times of the flows from all seeds, and of SGD in units of the first."""
    taken = {seed: [] for seed in SEEDS}
    literal = []
    for _ in range(ROUNDS):
        for seed in SEEDS:
            taken[seed].append(cold_flow_point(L, seed))
        if L in STEPS:
            literal.append(literal_point(L))
    flows = [min(taken[seed]) for seed in SEEDS]
    ratio = f"literal SGD takes {min(literal) / flows[0]:6.0f} x the first" if literal else ""
    print(f"  L = {L:7d}: flows {', '.join(f'{flow:.2f}' for flow in flows)} s {ratio}")


def warm_up() -> None:
    """Load machine code and let both engines set up what they keep."""
    risk = factorised_risk(np.eye(1), 0.1, 0.2, 2, "softmax")
    gradient_flow(risk, to_vector(random_weights(stream(1, "warm-up"), 1)), np.array([0.0, 1.0]))
    settings = TrainingSettings(20, RATE, 128, 20, 20, 20)
    train(WEIGHTS[327], TASK, 10, "softmax", settings, stream(2, "benchmark"))


def compare_output_errors() -> None:
    """Print the time of a curve of output errors, once because it is kept, and of sampling it."""
    eye, lengths = np.eye(3), np.unique(np.geomspace(1, 1e12, 41).round().astype(np.int64))
    exact = seconds(lambda: output_error(eye, 0.5 * eye, eye, eye, lengths))
    print(f"output_error at {len(lengths)} lengths from 1 to 10^12: {exact:.2f} s")
    tensor = torch.eye(3, dtype=torch.float64)
    law, rng = Gaussian(np.zeros(3), eye), stream(1, "tokens")
    tokens, queries = law.sample(rng, 384, 4096), law.sample(rng, 384, 8)
    points = [2**k for k in range(13)]
    sampled = min(
        seconds(lambda: output_errors(law, tokens, queries, tensor / 2, tensor, points))
        for _ in range(ROUNDS)
    )
    print(f"  384 simulated prompts of 4096 tokens take {sampled / exact:.1f} x that")


def main() -> None:
    torch.set_num_threads(1)
    warm_up()
    print("loss at t = 300, factorised model, d = 5, softmax, starts of seeds 327, 328, 329")
    for L in (10, 100, 1000, 10**6):
        compare(L)
    compare_output_errors()
    for L in (10, 10**6, 10**12):
        taken = seconds(lambda L=L: ScoreMomentTable(L, 8.0))
        print(f"table in s up to 8 at L = {L}: {taken:.2f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MiB, torch and sampled prompts included")


if __name__ == "__main__":
    main()
