import math

import numpy as np
import pytest

from largeprompt.errors import InputError
from largeprompt.flow import gradient_flow
from largeprompt.risk import reduced_training
from largeprompt.seeding import stream
from largeprompt.stability import curvature, gap, log_envelope, segments, sphere, useful_until


class Quadratic:
    """R = slope . theta + theta^T H theta / 2."""

    def __init__(self, slope, hessian):
        self.slope, self.H = np.asarray(slope, dtype=float), np.asarray(hessian, dtype=float)

    def value_and_gradient(self, theta):
        return self.slope @ theta + theta @ self.H @ theta / 2, self.slope + self.H @ theta

    def hessian(self, theta):
        return self.H

    def conserved(self, theta):
        return np.empty(0)


def test_gaps_and_curvature_of_quadratic_risks_are_known():
    risk, limit = Quadratic([3, 4], np.diag([1, -5])), Quadratic([0, 0], np.diag([1, -5]))
    found = gap(risk, limit, np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert found.risk == pytest.approx(4)
    assert found.gradient == pytest.approx(5)
    assert curvature(limit, np.zeros((1, 2))) == pytest.approx(5)


def test_the_envelope_is_nearly_reached_by_two_flows_on_one_unstable_direction():
    """delta' = beta delta + g2: the distance is g2 (exp(beta t) - 1) / beta."""
    risk, limit = Quadratic([-0.1], [[-2.0]]), Quadratic([0.0], [[-2.0]])
    times = np.array([0.0, 0.01, 0.1, 1.0])
    paths = [gradient_flow(r, [1.0], times, tolerance=1e-10).theta for r in (risk, limit)]
    distance = np.linalg.norm(paths[0] - paths[1], axis=1)[1:]
    found = gap(risk, limit, paths[0])
    envelope = np.exp(log_envelope(found.gradient, curvature(limit, segments(*paths)), times[1:]))
    np.testing.assert_allclose(distance, 0.1 * np.expm1(2 * times[1:]) / 2, rtol=1e-6)
    assert (distance <= envelope).all()
    assert distance[0] > 0.98 * envelope[0]


def test_finite_prompts_stay_below_the_envelope_and_another_start_does_not():
    limit, risk = (reduced_training(np.eye(1), 0.1, L) for L in (math.inf, 1000))
    times = np.array([0.0, 0.1, 0.5, 1.0])
    infinite = gradient_flow(limit, [0.4, 0.4], times).theta

    def below(start):
        path = gradient_flow(risk, start, times).theta
        distance = np.linalg.norm(path - infinite, axis=1)[1:]
        beta = curvature(limit, segments(path, infinite))
        return np.log(distance) <= log_envelope(gap(risk, limit, path).gradient, beta, times[1:])

    assert below([0.4, 0.4]).all()
    assert not below([0.8, 0.8]).all()


def test_segments_hold_both_paths_and_their_middle():
    points = segments(np.zeros((2, 1)), np.array([[1.0], [2.0]]))
    assert {0.0, 0.5, 1.0, 2.0} <= set(points.ravel())


def test_sphere_has_its_radius_and_no_preferred_side():
    """The mean of 4000 points has length below 0.1 but for a probability of 1e-8."""
    points = sphere(stream(2, "sphere"), 4000, 3, 2.0)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 2.0)
    assert np.linalg.norm(points.mean(axis=0)) < 0.2


def test_envelope_reaches_its_bound_at_the_useful_time():
    t = useful_until(0.01, 7.0, 1.0)
    assert log_envelope(0.01, 7.0, np.array([t]))[0] == pytest.approx(0, abs=1e-9)


def test_envelope_asks_for_positive_times():
    with pytest.raises(InputError, match="times"):
        log_envelope(1.0, 1.0, np.array([0.0]))
