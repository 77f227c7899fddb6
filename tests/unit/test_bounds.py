"""The envelope of Prop 3.1."""

import math

import numpy as np
import pytest

from largeprompt.bounds import envelope_shape, sigma_free_shape, smallest_constant


def test_envelope_is_the_displayed_formula():
    assert envelope_shape(2.0, 100.0, 3.0) == pytest.approx(64 * math.log(100) / 100 ** (3 / 4))
    assert sigma_free_shape(2.0, 100.0, 0.5) == pytest.approx(64 * math.log(100) / 10)


def test_envelope_is_zero_at_one_token():
    assert envelope_shape(1.5, 1.0, 1.0) == 0


def test_smallest_constant_covers_every_error_and_no_smaller_one_does():
    sigma, L = np.array([1.0, 1.0, 2.0]), np.array([2.0, 50.0, 50.0])
    shape, error = envelope_shape(sigma, L, 1.0), np.array([3.0, 0.1, 7.0])
    c1 = smallest_constant(error, shape)
    assert (error <= c1 * shape * (1 + 1e-12)).all()
    assert (error > 0.999 * c1 * shape).any()
