import math

import numpy as np
import pytest

from largeprompt.errors import InputError
from largeprompt.flow import NotADescentError, gradient_flow
from largeprompt.heads import random_weights
from largeprompt.risk import factorised_risk, reduced_optimum, reduced_training
from largeprompt.seeding import stream

AUTOREGRESSIVE = 0.5 ** np.abs(np.subtract.outer(np.arange(5), np.arange(5)))


def theorem_start(alpha: float, d: int) -> np.ndarray:
    """alpha (Theta Theta^T by rows, 1) with a random Theta of |Theta Theta^T|_F = 1."""
    theta = stream(5, "theta", d).normal(size=(d, d))
    square = theta @ theta.T
    return alpha * np.append((square / np.linalg.norm(square)).ravel(), 1.0)


@pytest.mark.parametrize("attention", ["linear", "softmax"])
@pytest.mark.parametrize(
    ("Sigma", "alpha"),
    [
        (AUTOREGRESSIVE, 0.1),
        (AUTOREGRESSIVE, 0.4),  # the interval of Theorem 5.1 ends at 0.38
        (3 * AUTOREGRESSIVE[:3, :3], 2.0),
        (np.array([[0.25]]), 4.0),  # inside the interval, outside the proof's condition
    ],
)
def test_infinite_prompt_flow_reaches_the_end_point_of_theorem_5_1(Sigma, alpha, attention):
    d = len(Sigma)
    risk = reduced_training(Sigma, 0.0, math.inf, attention)
    path = gradient_flow(risk, theorem_start(alpha, d), stationarity=1e-9)
    assert path.converged
    b = np.trace(np.linalg.inv(Sigma) @ np.linalg.inv(Sigma)) ** 0.25
    expected = np.append((np.linalg.inv(Sigma) / b).ravel(), b)
    np.testing.assert_allclose(path.theta[-1], expected, atol=1e-5 * b)
    assert path.risk[-1] < 1e-10 * path.risk[0]
    assert path.drift.max() < 1e-4 * max(1, alpha**2)


def factorised_start() -> np.ndarray:
    """A start of the protocol from which the infinite-prompt flow stays bounded."""
    half = 1 / np.sqrt(6)
    return stream(1, "start").uniform(-half, half, size=3 * 36 + 6)


def test_factorised_flow_follows_small_explicit_steps():
    risk = factorised_risk(AUTOREGRESSIVE, 0.1, 0.2, math.inf)
    theta, step = factorised_start(), 2e-3
    for _ in range(5000):  # explicit midpoint rule, error of order step^2
        middle = theta - step / 2 * risk.value_and_gradient(theta)[1]
        theta = theta - step * risk.value_and_gradient(middle)[1]
    path = gradient_flow(risk, factorised_start(), [0.0, 4.0, 10.0])
    np.testing.assert_allclose(path.theta[-1], theta, atol=3e-6)
    np.testing.assert_array_equal(path.theta[0], factorised_start())


@pytest.mark.parametrize(("L", "attention"), [(math.inf, "softmax"), (30, "linear")])
def test_balance_of_the_factors_is_conserved_and_the_risk_falls(L, attention):
    risk = factorised_risk(AUTOREGRESSIVE, 0.1, 0.2, L, attention)
    path = gradient_flow(risk, factorised_start(), np.linspace(0, 300, 61))
    assert path.drift.max() < 1e-6
    assert (np.diff(path.risk) <= 1e-12).all()
    assert path.gradient_norm[-1] < 1e-4 * path.gradient_norm.max()


def test_infinite_prompt_training_reaches_the_noise_floor():
    risk = factorised_risk(AUTOREGRESSIVE, 0.1, 0.2, math.inf)
    path = gradient_flow(risk, factorised_start(), stationarity=1e-7)
    assert path.converged
    assert path.risk[-1] == pytest.approx(0.1, abs=1e-10)


def test_other_random_starts_send_the_infinite_prompt_flow_along_an_unbounded_valley():
    """The risk still falls to the noise floor, but like a power of time, and v keeps growing."""
    start = stream(3, "start").uniform(-1, 1, size=114) / np.sqrt(6)
    risk = factorised_risk(AUTOREGRESSIVE, 0.1, 0.2, math.inf)
    path = gradient_flow(risk, start, [300.0, 1000.0, 3000.0], tolerance=1e-4)
    excess = path.risk - 0.1
    assert (excess > 3e-4).all()
    assert (np.diff(np.log(excess)) < -0.5).all()
    size = [np.linalg.norm(risk.merge(theta)[36:41]) for theta in path.theta]
    assert (np.diff(size) > 3).all()


def test_softmax_flow_at_a_finite_prompt_reaches_the_reduced_optimum():
    Sigma = AUTOREGRESSIVE[:2, :2]
    path = gradient_flow(reduced_training(Sigma, 0.1, 20), theorem_start(0.5, 2))
    best = reduced_optimum(Sigma, 0.1, 20)
    assert path.converged
    assert path.risk[-1] == pytest.approx(best.risk, rel=1e-8)
    np.testing.assert_allclose(path.theta[-1], np.append(best.A.ravel(), best.b), atol=1e-5)


def test_norm_balance_is_conserved_unless_softmax_meets_a_finite_prompt():
    def imbalance(L, attention):
        risk = reduced_training(AUTOREGRESSIVE[:2, :2], 0.1, L, attention)
        theta = gradient_flow(risk, theorem_start(0.5, 2), [0.0, 50.0], tolerance=1e-8).theta
        return np.diff(np.sum(theta[:, :-1] ** 2, axis=1) - theta[:, -1] ** 2)[0]

    for L, attention in ((math.inf, "softmax"), (20, "linear"), (math.inf, "linear")):
        assert abs(imbalance(L, attention)) < 1e-6
    assert abs(imbalance(20, "softmax")) > 0.1


def test_factorised_softmax_flow_follows_small_explicit_steps_and_conserves_the_balance():
    d, L, half = 2, 8, 1 / np.sqrt(3)
    risk = factorised_risk(AUTOREGRESSIVE[:d, :d], 0.1, 0.5, L)
    start = stream(5, "softmax").uniform(-half, half, size=30)
    theta, step = start, 1e-2
    for _ in range(500):
        middle = theta - step / 2 * risk.value_and_gradient(theta)[1]
        theta = theta - step * risk.value_and_gradient(middle)[1]
    path = gradient_flow(risk, start, [1.0, 5.0])
    np.testing.assert_allclose(path.theta[-1], theta, atol=3e-5)
    assert path.drift.max() < 1e-6


class Rotated:
    """A risk whose gradient is turned: following it is not a descent."""

    def __init__(self, risk, angle):
        self.risk, self.angle = risk, angle

    def value_and_gradient(self, theta):
        value, gradient = self.risk.value_and_gradient(theta)
        turned = np.cos(self.angle) * gradient
        turned[:-1] += np.sin(self.angle) * gradient[1:]
        return value, turned

    def hessian(self, theta):
        hessian = self.risk.hessian(theta)
        turned = np.cos(self.angle) * hessian
        turned[:-1] += np.sin(self.angle) * hessian[1:]
        return turned

    def conserved(self, theta):
        return self.risk.conserved(theta)


def test_following_a_vector_field_that_is_not_the_gradient_is_refused():
    risk = Rotated(factorised_risk(AUTOREGRESSIVE, 0.1, 0.2, math.inf), 3.0)
    with pytest.raises(NotADescentError, match="risk grows by"):
        gradient_flow(risk, factorised_start(), np.linspace(0, 1, 11))


def test_turned_gradient_breaks_the_conserved_quantities():
    risk = Rotated(factorised_risk(AUTOREGRESSIVE, 0.1, 0.2, math.inf), 0.3)
    assert gradient_flow(risk, factorised_start(), [0.0, 20.0]).drift[-1] > 1e-3


def test_flow_from_a_stationary_point_stays_there():
    risk = reduced_training(np.eye(2), 0.0, math.inf)
    path = gradient_flow(risk, np.zeros(5), [0.0, 1.0])
    np.testing.assert_array_equal(path.theta, np.zeros((2, 5)))
    assert gradient_flow(risk, np.zeros(5)).converged


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"start": np.array([[1.0]])}, "start"),
        ({"start": np.array([np.nan] * 5)}, "start"),
        ({"times": [1.0, 0.5]}, "times"),
        ({"times": [-1.0]}, "times"),
        ({"times": []}, "times"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"stationarity": 2.0}, "stationarity"),
        ({"horizon": -1.0}, "horizon"),
    ],
)
def test_unusable_arguments_are_named(arguments, message):
    risk = reduced_training(np.eye(2), 0.0, math.inf)
    with pytest.raises(InputError, match=message):
        gradient_flow(risk, **{"start": np.ones(5), **arguments})


@pytest.mark.parametrize(("L", "eigenvector"), [(10, 4), (1000, 0)])
def test_linear_flow_can_end_in_a_strict_local_minimum_with_one_direction_swapped(L, eigenvector):
    """Seed 329 of the protocol: A has the wrong sign on e, which u and v_x make up for."""
    d, noise, task = 5, 0.1, 0.2
    risk = factorised_risk(AUTOREGRESSIVE, noise, task, L, "linear")
    start = risk.pack(*random_weights(stream(329, "weights"), d).values())
    path = gradient_flow(risk, start, [0.0, 1e5])
    best = reduced_optimum(AUTOREGRESSIVE, noise / task, L, "linear")
    assert path.risk[-1] > 1.5 * 2 * task * best.risk
    assert path.gradient_norm[-1] < 1e-10
    curvature = np.linalg.eigvalsh(risk.hessian(path.theta[-1]))
    assert np.count_nonzero(np.abs(curvature) < 1e-6) == 79  # they change no prediction
    assert curvature.min() > -1e-6
    merged = risk.merge(path.theta[-1])
    U, v = merged[:36].reshape(6, 6), merged[36:]
    basis = np.linalg.eigh(AUTOREGRESSIVE)[1]
    A = v[d] * basis.T @ U[:d, :d] @ basis
    np.testing.assert_allclose(A, np.diag(np.diag(A)), atol=1e-4)
    assert np.flatnonzero(np.diag(A) < 0).tolist() == [eigenvector]
    swapped = np.outer(v[:d], U[d, :d])
    along = np.outer(basis[:, eigenvector], basis[:, eigenvector])
    np.testing.assert_allclose(swapped, np.trace(swapped) * along, atol=1e-4)
    assert np.trace(swapped) > -A[eigenvector, eigenvector]
