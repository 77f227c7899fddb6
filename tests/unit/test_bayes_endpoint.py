import math

import numpy as np
import pytest

from largeprompt.bayes_endpoint import (
    best_constant,
    end_point,
    interval_end,
    line_constant,
    line_excess,
    linear_constant,
    slowest_rate,
    theorem_start,
)
from largeprompt.errors import InputError
from largeprompt.flow import gradient_flow
from largeprompt.risk import reduced_optimum, reduced_risk, reduced_training
from largeprompt.seeding import stream

AUTOREGRESSIVE = 0.5 ** np.abs(np.subtract.outer(np.arange(3), np.arange(3)))


def vector(start):
    A, b = start
    return np.append(A.ravel(), b)


def test_end_point_is_the_balanced_minimiser():
    A, b = end_point(AUTOREGRESSIVE)
    best = reduced_optimum(AUTOREGRESSIVE, 0.0, math.inf)
    np.testing.assert_allclose(A, best.A, atol=1e-12)
    assert b == pytest.approx(best.b)
    assert np.linalg.norm(A) == pytest.approx(b)


def test_start_is_balanced_and_positive():
    A, b = theorem_start(stream(3, "start"), 0.7, 4)
    assert b == 0.7
    assert np.linalg.norm(A) == pytest.approx(0.7)
    assert np.linalg.eigvalsh(A).min() > 0


def test_interval_ends_at_the_printed_bound():
    assert interval_end([[0.25]]) == pytest.approx(4 * math.sqrt(2))  # holds alpha = 4
    assert interval_end(2 * np.eye(16)) == pytest.approx(math.sqrt(2) / 4)


@pytest.mark.parametrize("Sigma", [AUTOREGRESSIVE, np.diag([3.0, 0.1]), np.array([[2.0]])])
def test_slowest_rate_is_the_smallest_positive_curvature_at_the_end_point(Sigma):
    risk = reduced_training(Sigma, 0.0, math.inf)
    curvature = np.linalg.eigvalsh(risk.hessian(vector(end_point(Sigma))))
    positive = curvature[curvature > 1e-9 * curvature.max()]
    assert len(positive) == len(curvature) - 1  # one conserved direction
    assert slowest_rate(Sigma) == pytest.approx(positive.min(), rel=1e-6)


def test_flows_of_scaled_covariances_are_one_flow():
    """R at (c Sigma, A, b) is c times R at (Sigma, sqrt(c) A, sqrt(c) b), so time runs c^2 faster.

    The printed interval for alpha does not scale so, hence cannot be where convergence ends.
    """
    c, start = 5.0, vector(theorem_start(stream(3, "scaled"), 0.2, 3))
    times = np.array([0.0, 0.5, 2.0])
    plain = gradient_flow(
        reduced_training(AUTOREGRESSIVE, 0.0, math.inf), math.sqrt(c) * start, c**2 * times
    )
    scaled = gradient_flow(reduced_training(c * AUTOREGRESSIVE, 0.0, math.inf), start, times)
    np.testing.assert_allclose(math.sqrt(c) * scaled.theta, plain.theta, atol=1e-5)


@pytest.mark.parametrize("Sigma", [AUTOREGRESSIVE, np.eye(2)])
@pytest.mark.parametrize("b", [0.8, 1.7])
def test_excess_on_the_line_is_the_reduced_risk_above_bayes(Sigma, b):
    inverse = np.linalg.inv(Sigma)
    found = line_excess(Sigma, b, 0.2, [1, 10, 1000])
    expected = [reduced_risk(inverse / b, b, Sigma, 0.2, L) - 0.1 for L in (1, 10, 1000)]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_excess_on_the_line_decays_like_one_over_L_only_above_b_squared_two():
    assert math.isinf(line_constant(np.eye(2), math.sqrt(2) - 1e-9, 0.1))
    constant = line_constant(np.eye(5), 5**0.25, 0.0)
    assert constant == pytest.approx(8082.6, abs=0.1)
    b = 2.0
    excess = line_excess(np.eye(2), b, 0.1, [1e9])[0]
    assert 1e9 * excess == pytest.approx(line_constant(np.eye(2), b, 0.1), rel=1e-3)


def test_best_constant_is_the_smallest_on_the_line_and_what_the_optimum_tends_to():
    assert best_constant(5, 5.0, 0.1) == pytest.approx(48.7123, abs=1e-4)
    on_line = [line_constant(np.eye(5), b, 0.1) for b in np.linspace(2.5, 3.2, 29)]
    assert best_constant(5, 5.0, 0.1) == pytest.approx(min(on_line), rel=1e-3)
    excess = reduced_optimum(np.eye(2), 0.1, 10**7).risk - 0.05
    assert 1e7 * excess == pytest.approx(best_constant(2, 2.0, 0.1), rel=1e-3)


def test_linear_constant_is_what_linear_attention_tends_to():
    best = reduced_optimum(AUTOREGRESSIVE, 0.1, 10**6, "linear")
    assert 1e6 * (best.risk - 0.05) == pytest.approx(linear_constant(3, 3.0, 0.1), rel=1e-4)


def test_unusable_arguments_are_named():
    with pytest.raises(InputError, match="must be invertible"):
        end_point(np.diag([1.0, 0.0]))
    with pytest.raises(InputError, match="b = 0"):
        line_excess(np.eye(2), 0.0, 0.1, [10])
