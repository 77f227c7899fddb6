"""Section 4: gradient flow and what it conserves.

Risks are averages over the prompts themselves, by a rule that is exact for linear attention, and
their gradients are central differences: nothing of either is taken from the package.
"""

import functools
import itertools
import math

import numpy as np
import pytest

from largeprompt.flow import gradient_flow
from largeprompt.risk import factorised_risk, merged_risk, reduced_training
from largeprompt.seeding import stream

# One dimension, D = 2: tokens (x, y), prompts of L = 2; tasks N(0, TAU), queries N(0, SIGMA).
SIGMA, S2, TAU, L = 0.8, 0.3, 0.5, 2
D = 2


@functools.cache
def prompts():
    """Tokens (n, L, D), queries z_q (n, D), targets and weights.

    Three points of each N(0, 1) are exact up to degree five, and linear attention squared has four.
    """
    points = {-math.sqrt(3): 1 / 6, 0.0: 4 / 6, math.sqrt(3): 1 / 6}
    xi = np.array(list(itertools.product(points, repeat=7)))
    weights = np.prod(list(itertools.product(points.values(), repeat=7)), axis=1)
    w, x_q = math.sqrt(TAU) * xi[:, :1], math.sqrt(SIGMA) * xi[:, 1]
    x, noise = math.sqrt(SIGMA) * xi[:, 2:4], math.sqrt(S2) * xi[:, 4:6]
    target = w[:, 0] * x_q + math.sqrt(S2) * xi[:, 6]
    tokens = np.stack([x, w * x + noise], axis=-1)
    return tokens, np.column_stack([x_q, np.zeros(len(x_q))]), target, weights


def losses(theta, attention):
    """(prediction - y_q)^2 of every prompt, at theta = (U by rows, v)."""
    tokens, z_q, target, _ = prompts()
    U, v = theta[: D * D].reshape(D, D), theta[D * D :]
    scores = np.einsum("nli,ij,nj->nl", tokens, U, z_q)
    if attention == "softmax":
        p = np.exp(scores)
        p /= p.sum(axis=1, keepdims=True)
    else:
        p = scores / L
    return (np.sum(p * (tokens @ v), axis=1) - target) ** 2


def raw_risk(theta, attention="linear"):
    return losses(theta, attention) @ prompts()[-1]


def gradient(risk, theta, step=1e-3):
    """Central differences of two steps, of fourth order."""

    def slope(e):
        wide, narrow = (risk(theta + k * e) - risk(theta - k * e) for k in (2, 1))
        return (8 * narrow - wide) / (12 * step)

    return np.array([slope(e) for e in step * np.eye(len(theta))])


def merge(factors):
    """(U by rows, v) of the factors Q, K, V (D, D) and O (1, D)."""
    Q, K, V = factors[: 3 * D * D].reshape(3, D, D)
    O = factors[3 * D * D :].reshape(1, D)  # noqa: E741
    return np.append(K.T @ Q / math.sqrt(D), V.T @ O.T)


def start(size, name):
    return stream(4, name).uniform(-0.7, 0.7, size=size)


@pytest.mark.equation("4.1")
def test_path_moves_down_the_gradient_of_the_raw_risk():
    risk = merged_risk([[SIGMA]], S2, TAU, L, "linear")
    apart = 0.02
    times = np.array([t + k * apart for t in (0.1, 0.5, 2.0) for k in (-2, -1, 0, 1, 2)])
    path = gradient_flow(risk, start(6, "path"), times, tolerance=1e-10).theta.reshape(3, 5, 6)
    velocity = np.einsum("k,tkp->tp", [1, -8, 0, 8, -1], path) / (12 * apart)
    expected = np.array([-gradient(raw_risk, theta) for theta in path[:, 2]])
    np.testing.assert_allclose(velocity, expected, atol=1e-5)
    assert (np.linalg.norm(expected, axis=1) > 1e-2).all()


@pytest.mark.equation("4.1")
def test_descent_on_the_squared_error_follows_the_flow_at_steps_times_learning_rate():
    """The mean path of SGD: its gradients averaged over all prompts."""
    risk = merged_risk([[SIGMA]], S2, TAU, L, "linear")
    end = gradient_flow(risk, start(6, "descent"), [0.5], tolerance=1e-10).theta[0]
    distances = []
    for steps in (10, 20, 40):
        theta, rate = start(6, "descent"), 0.5 / steps
        for _ in range(steps):
            theta = theta - rate * gradient(raw_risk, theta)
        distances.append(np.linalg.norm(theta - end))
    # explicit steps differ from the flow by O(learning rate)
    np.testing.assert_allclose(np.array(distances[:-1]) / distances[1:], 2.0, rtol=0.1)
    assert distances[-1] < 5e-3


@pytest.mark.equation("4.1")
def test_flow_of_theorem_5_1_runs_half_as_fast():
    reduced = reduced_training([[SIGMA]], S2, L, "linear")
    a, b = 0.3, 0.5
    whole = merged_risk([[SIGMA]], S2, 1.0, L, "linear")
    slow = gradient_flow(reduced, [a, b], [2.0, 4.0], tolerance=1e-9).theta
    fast = gradient_flow(whole, [a, 0, 0, 0, 0, b], [1.0, 2.0], tolerance=1e-9).theta
    np.testing.assert_allclose(slow, fast[:, [0, 5]], atol=1e-7)


def infinite_prompt_risk(theta):
    """Average over three tasks of the risk with the prediction v^T Gamma_w a."""
    U, v = theta[: D * D].reshape(D, D), theta[D * D :]
    total = S2
    for w, weight in zip(math.sqrt(3 * TAU) * np.array([-1, 0, 1]), (1, 4, 1), strict=True):
        Gamma = np.array([[SIGMA, SIGMA * w], [SIGMA * w, SIGMA * w**2 + S2]])
        total += weight / 6 * SIGMA * (v @ Gamma @ U[:, 0] - w) ** 2
    return total


RISKS = {
    "linear": raw_risk,
    "infinite": infinite_prompt_risk,
    "softmax": functools.partial(raw_risk, attention="softmax"),
}


@pytest.mark.equation("4.2")
@pytest.mark.parametrize("name", RISKS)
def test_norms_change_alike_along_the_gradient_unless_softmax_meets_a_finite_prompt(name):
    for theta in stream(4, "balance").normal(size=(4, 6)) / 2:
        velocity = -gradient(RISKS[name], theta)
        change = 2 * theta * velocity  # d/dt of the squares of the entries
        change_of_balance = np.sum(change[: D * D]) - np.sum(change[D * D :])
        if name == "softmax":
            assert abs(change_of_balance) > 1e-2
        else:
            assert abs(np.sum(change[D * D :])) > 1e-2
            assert abs(change_of_balance) < 1e-9


@pytest.mark.equation("4.2")
@pytest.mark.parametrize(
    ("length", "attention"), [(L, "linear"), (math.inf, "linear"), (math.inf, "softmax")]
)
def test_balance_of_the_norms_is_constant_along_a_path(length, attention):
    risk = merged_risk([[SIGMA]], S2, TAU, length, attention)
    theta = gradient_flow(risk, start(6, "balance"), [0.0, 1.0, 10.0], tolerance=1e-9).theta
    theta[:, [1, 3]] = 0.0  # the last column of U never acts
    of_U, of_v = np.sum(theta[:, : D * D] ** 2, axis=1), np.sum(theta[:, D * D :] ** 2, axis=1)
    assert np.ptp(of_v) > 0.1
    np.testing.assert_allclose(of_U - of_v, of_U[0] - of_v[0], atol=1e-7)
    code = np.array([risk.conserved(point) for point in theta])[:, 0]
    np.testing.assert_allclose(code, of_U - of_v, atol=1e-14)


def balances(factors):
    """K K^T - Q Q^T and V V^T - O^T O of equation 4.3, as one vector."""
    Q, K, V = factors[: 3 * D * D].reshape(3, D, D)
    O = factors[3 * D * D :].reshape(1, D)  # noqa: E741
    return np.concatenate([(K @ K.T - Q @ Q.T).ravel(), (V @ V.T - O.T @ O).ravel()])


def derivative_along(function, point, direction, step=1e-3):
    """Exact for the quadratic `balances`."""
    return (function(point + step * direction) - function(point - step * direction)) / (2 * step)


@pytest.mark.equation("4.3")
@pytest.mark.parametrize("name", [*RISKS, "any function"])
def test_balances_of_the_factors_are_constant_whatever_the_risk(name):
    c = stream(4, "functional").normal(size=6)
    risk = RISKS.get(name, lambda theta: math.sin(c @ theta) + (c[0] * theta[0]) ** 3)
    for factors in stream(4, "factors").uniform(-1, 1, size=(3, 14)):
        velocity = -gradient(lambda factors: risk(merge(factors)), factors)
        change = derivative_along(balances, factors, velocity)
        np.testing.assert_allclose(change, 0.0, atol=1e-9)
        own = np.add.reduceat(2 * factors * velocity, range(0, 14, D * D))  # of |Q|^2, |K|^2, ...
        assert np.abs(own).min() > 1e-4


@pytest.mark.equation("4.3")
def test_balances_are_constant_along_a_path_of_softmax_attention():
    risk = factorised_risk([[SIGMA]], S2, TAU, L)
    theta = gradient_flow(risk, start(14, "factors"), [0.0, 1.0, 10.0], tolerance=1e-8).theta
    for point in theta:
        np.testing.assert_allclose(balances(point), balances(theta[0]), atol=1e-6)
        np.testing.assert_allclose(risk.conserved(point), balances(point), atol=1e-14)
    assert np.abs(theta[-1] ** 2 - theta[0] ** 2).max() > 0.1
