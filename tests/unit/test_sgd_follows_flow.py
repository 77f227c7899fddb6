"""Stochastic training follows the exact gradient flow, up to its noise and the step size."""

import numpy as np
import pytest

from largeprompt.covariances import covariance_matrix
from largeprompt.flow import gradient_flow
from largeprompt.heads import products, random_weights, to_vector
from largeprompt.risk import factorised_risk, merged_risk
from largeprompt.seeding import stream
from largeprompt.sgd_fast import train_fast
from largeprompt.sgd_run import TrainingSettings
from largeprompt.tasks import RegressionTask

Sigma = covariance_matrix("autoregressive", 2, rho=0.5)
TASK = RegressionTask.as_stated(Sigma, 0.1, 0.5)
WEIGHTS = random_weights(stream(7, "weights"), 2)
SEEDS = 16
RATE, STEPS, SAVES = 0.02, 1000, 10


def mean_path(L: float, attention: str) -> tuple[np.ndarray, np.ndarray]:
    """Mean over seeds of the exact risk of SGD's weights at the saved steps, and its error."""
    settings = TrainingSettings(STEPS, RATE, 64, STEPS, STEPS // SAVES, STEPS)
    merged = merged_risk(Sigma, 0.1, 0.5, L, attention)
    risks = np.empty((SEEDS, SAVES + 1))
    for seed in range(SEEDS):
        run = train_fast(WEIGHTS, TASK, L, attention, settings, stream(seed, "sgd"))
        U, v = products(run.weights)
        points = np.concatenate([U.reshape(SAVES + 1, -1), v], axis=1).astype(float)
        risks[seed] = [merged.value_and_gradient(point)[0] for point in points]
    return risks.mean(0), risks.std(0, ddof=1) / np.sqrt(SEEDS)


def flow_path(L: float, attention: str) -> np.ndarray:
    times = np.linspace(0, RATE * STEPS, SAVES + 1)
    risk = factorised_risk(Sigma, 0.1, 0.5, L, attention)
    return gradient_flow(risk, to_vector(WEIGHTS), times).risk


@pytest.mark.parametrize(("L", "attention"), [(5, "softmax"), (40, "softmax"), (5, "linear")])
def test_mean_of_sgd_lies_on_the_flow_up_to_noise_and_step_size(L, attention):
    """11 saved steps within 5 standard errors of 16 seeds plus the learning rate (O(1) constant).

    The spread is estimated from 16 runs (t with 15 degrees of freedom): one comparison fails by
    chance with probability 2e-4. The risk falls by more than ten times the slack on the way.
    """
    mean, error = mean_path(L, attention)
    flow = flow_path(L, attention)
    assert flow[0] - flow[-1] > 10 * RATE
    assert (abs(mean - flow) <= 5 * error + RATE).all()


def test_flow_of_another_length_is_not_followed():
    """Control: SGD at 5 tokens against the flow at 40."""
    mean, error = mean_path(5, "softmax")
    assert abs(mean - flow_path(40, "softmax"))[-1] > 5 * error[-1] + RATE
