"""Time of exact numbers beside the simulations they replace: `python benchmarks/exact_engine.py`.

Run from the root of the repository in its environment, on an idle machine. Every ratio compares
times of this one run on one core; a simulation too long to wait for is timed in part and scaled up.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"

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

HORIZON, RATE, STEPS = 300, 1e-3, 200
Sigma = covariance_matrix("autoregressive", 5, rho=0.5)
TASK = RegressionTask.as_stated(Sigma, 0.1, 0.2)
WEIGHTS = random_weights(stream(327, "weights"), 5)


def seconds(action: Callable[[], object]) -> float:
    """Processor time of one call."""
    start = time.process_time()
    action()
    return time.process_time() - start


def flow_point(L: int) -> float:
    """One point of the loss-against-L curve, tables included."""
    times = np.array([0.0, HORIZON])
    risk = factorised_risk(*(Sigma, 0.1, 0.2, L, "softmax"))
    return seconds(lambda: gradient_flow(risk, to_vector(WEIGHTS), times))


def literal_point(L: int) -> float:
    """The same point by literal SGD, from the time of a few steps."""
    settings = TrainingSettings(STEPS, RATE, 128, STEPS, STEPS, STEPS)
    taken = seconds(lambda: train(WEIGHTS, TASK, L, "softmax", settings, stream(1, "benchmark")))
    return taken * HORIZON / RATE / STEPS


def main() -> None:
    torch.set_num_threads(1)
    print("loss at t = 300, factorised model, d = 5, softmax")
    for L in (10, 100, 1000, 10**6):
        exact = flow_point(L)
        simulated = literal_point(L) if L <= 1000 else None
        ratio = f"literal SGD takes {simulated / exact:8.0f} x" if simulated else "no simulation"
        print(f"  L = {L:7d}: flow {exact:5.2f} s, {ratio}")
    eye, lengths = np.eye(3), np.unique(np.geomspace(1, 1e12, 41).round().astype(np.int64))
    exact = seconds(lambda: output_error(eye, 0.5 * eye, eye, eye, lengths))
    print(f"output_error at {len(lengths)} lengths from 1 to 10^12: {exact:.2f} s")
    tensor = torch.eye(3, dtype=torch.float64)
    law, rng = Gaussian(np.zeros(3), eye), stream(1, "tokens")
    tokens, queries = law.sample(rng, 384, 4096), law.sample(rng, 384, 8)
    points = [2**k for k in range(13)]
    simulated = seconds(lambda: output_errors(law, tokens, queries, tensor / 2, tensor, points))
    print(f"  384 simulated prompts of 4096 tokens take {simulated / exact:.1f} x that")
    for L in (10, 10**6, 10**12):
        print(f"table in s at L = {L}: {seconds(lambda L=L: ScoreMomentTable(L, 8.0)):.2f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MiB, torch included")


if __name__ == "__main__":
    main()
