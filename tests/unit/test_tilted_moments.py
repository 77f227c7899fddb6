"""Moments of Assumption 3.3: by simulation, by another route, and where they do not exist."""

import math

import numpy as np
import pytest

from largeprompt.errors import InputError
from largeprompt.seeding import stream
from largeprompt.tilted_moments import READINGS, log_isotropic_moment, tilted_moment

GAMMA = np.array([[1.0, 0.4], [0.4, 0.8]])
U = np.array([[0.3, -0.2], [0.1, 0.4]])
S = np.array([[0.7, -0.1], [-0.1, 0.5]])


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize(("p", "q"), [(0, 0), (2, 0), (0, 2), (2, 2), (4, 2)])
def test_moment_is_that_of_drawn_tokens_and_queries(reading, p, q):
    """Drawn from mu x nu, weighted by hand; 5 standard errors, passed by chance 6e-7 each."""
    rng = stream(4, "moments", p, q)
    z = rng.standard_normal((1_000_000, 2)) @ np.linalg.cholesky(S).T
    x = rng.standard_normal(z.shape) @ np.linalg.cholesky(GAMMA).T
    a = z @ U.T
    weight = np.exp(np.sum(x * a, 1))
    if reading == "normalised":
        weight /= np.exp(np.sum((a @ GAMMA) * a, 1) / 2)
    values = weight * np.linalg.norm(x, axis=1) ** p * np.linalg.norm(z, axis=1) ** q
    error = values.std() / math.sqrt(len(values))
    assert abs(values.mean() - tilted_moment(GAMMA, U, S, p, q, reading)) < 5 * error


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("orders", [(0, 0), (4, 8), (8, 4), (8, 8)])
@pytest.mark.parametrize("dimension", [1, 4])
def test_two_routes_agree(reading, orders, dimension):
    one = np.eye(dimension)
    moment = tilted_moment(2.25 * one, 0.5 * one, one, *orders, reading)
    radial = log_isotropic_moment(1.5, 0.5, dimension, *orders, reading, 30.0)
    assert math.log(moment) == pytest.approx(radial, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("tilt", [1.0, 1.5])
def test_unnormalised_moment_is_infinite_from_tilt_one_on(tilt):
    sigma = 2 * math.sqrt(tilt)
    moment = tilted_moment(sigma**2 * np.eye(2), 0.5 * np.eye(2), np.eye(2), 0, 0, "unnormalised")
    assert moment == math.inf
    near, far = (log_isotropic_moment(sigma, 0.5, 2, 0, 0, "unnormalised", r) for r in (20, 40))
    assert far > near + 1
    assert math.isfinite(
        tilted_moment(
            0.99 * sigma**2 / tilt * np.eye(2), 0.5 * np.eye(2), np.eye(2), 8, 8, "unnormalised"
        )
    )


def test_one_long_direction_is_enough_to_diverge():
    moment = tilted_moment(np.diag([0.1, 5.0]), 0.5 * np.eye(2), np.eye(2), 4, 0, "unnormalised")
    assert moment == math.inf


@pytest.mark.parametrize("p", [0, 4, 8])
def test_normalised_moment_is_a_polynomial_of_degree_2p_in_sigma(p):
    def moment(sigma: float) -> float:
        return tilted_moment(sigma**2 * GAMMA, U, S, p, 4)

    sigma = 1 + np.arange(p + 1)  # powers p, p + 2, ..., 2p
    powers = np.arange(p, 2 * p + 1, 2)
    values = np.array([moment(s) for s in sigma[: len(powers)]])
    coefficients = np.linalg.solve(sigma[: len(powers), None].astype(float) ** powers, values)
    assert (coefficients >= 0).all()
    assert moment(7.3) == pytest.approx(coefficients @ 7.3**powers, rel=1e-8)


@pytest.mark.parametrize(
    ("p", "q", "reading", "name"),
    [(3, 0, "normalised", "p, q"), (0, -2, "normalised", "p, q"), (0, 0, "other", "reading")],
)
def test_bad_arguments_are_named(p, q, reading, name):
    with pytest.raises(InputError, match=name):
        tilted_moment(GAMMA, U, S, p, q, reading)
