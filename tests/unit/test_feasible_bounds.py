"""Constants that a bound needs: on made-up errors of known shape, and on exact ones."""

import numpy as np
import pytest

from largeprompt.bounds import envelope_shape
from largeprompt.concentration import output_error
from largeprompt.errors import InputError
from largeprompt.feasible_bounds import (
    PAPER,
    Factor,
    bound_shape,
    growth_in_sigma,
    largest_c2,
    needed_constant,
)
from largeprompt.rate_forms import class_exponent, fitted_exponent, naive_exponent
from largeprompt.rates import rate_exponent

SIGMA, LENGTHS = np.array([1.0, 2.0, 4.0]), np.geomspace(2, 1e12, 25).round()


def made_up(constant: float, c2: float, factor: Factor) -> np.ndarray:
    power = c2 / SIGMA[:, None] ** 2
    return constant * bound_shape(SIGMA[:, None], LENGTHS, power, factor)


def test_constants_of_a_known_error_are_found():
    error = made_up(3.5, 0.8, PAPER["output"])
    np.testing.assert_allclose(needed_constant(error, SIGMA, LENGTHS, 0.8, PAPER["output"]), 3.5)
    assert largest_c2(error, SIGMA, LENGTHS, PAPER["output"]) == pytest.approx(0.8)


def test_needed_constant_is_the_smallest_that_covers_each_cell():
    error, c2, factor = made_up(1.0, 0.5, Factor(4, 2)) + 0.1, 0.7, PAPER["output"]
    c1 = needed_constant(error, SIGMA, LENGTHS, c2, factor)
    for i, sigma in enumerate(SIGMA):
        for j, L in enumerate(LENGTHS):
            covered = c1[i, j] * sigma**6 * np.log(L) / L ** (c2 / sigma**2)
            assert covered == pytest.approx(error[i, j], rel=1e-9)


def test_missing_power_of_sigma_shows_as_growth():
    error = made_up(1.0, 0.5, Factor(6, 1))
    needed = needed_constant(error, SIGMA, LENGTHS, 0.5, Factor(4, 1))
    assert growth_in_sigma(needed, SIGMA) == pytest.approx(2)


def test_shape_of_prop_3_1_is_the_envelope_and_vanishes_for_one_token():
    L = np.array([1.0, 2.0, 100.0])
    shape = bound_shape(1.5, L, 0.7 / 1.5**2, PAPER["output"])
    np.testing.assert_allclose(shape, envelope_shape(1.5, L, 0.7))
    assert shape[0] == 0


def test_one_token_is_refused():
    with pytest.raises(InputError, match="L = 1"):
        needed_constant(np.ones((1, 2)), np.ones(1), np.array([1.0, 2.0]), 1.0, PAPER["output"])


def test_largest_c2_of_gaussian_tokens_is_theta_and_not_the_naive_one():
    """d = 1, u = 1.2 at L = 1e40: powers of ln L leave a deviation below 0.01."""
    one, u, L = np.eye(1), 1.2, np.array([1e38, 1e40])
    error = np.array([output_error(s * s * one, u * one, one, one, L) for s in (1.0, 2.0)])
    found = largest_c2(error, np.array([1.0, 2.0]), L, PAPER["output"])
    assert found == pytest.approx(rate_exponent(u * u), abs=0.01)
    assert abs(found - naive_exponent(u * u)) > 0.1


def test_forms_of_the_exponent_are_ordered():
    tilt = np.geomspace(0.01, 100, 50)
    assert (class_exponent(tilt) <= naive_exponent(tilt)).all()
    assert (naive_exponent(tilt) <= rate_exponent(tilt)).all()


def test_fitted_exponent_of_a_power_law_is_its_exponent():
    L = np.geomspace(10, 1e4, 7)
    assert fitted_exponent(L, 3 * L**-0.4) == pytest.approx(0.4)
