"""Exponents and constants of the decay in L against the exact errors."""

import math

import numpy as np
import pytest

from largeprompt.concentration import output_error
from largeprompt.errors import InputError
from largeprompt.rates import local_exponent, one_over_L_constant, rate_exponent, tilt


def scalar_error(lam, L, d=1):
    eye = np.eye(d)
    return output_error(eye, math.sqrt(lam) * eye, eye, eye, L)


def test_exponent_is_one_up_to_half_and_falls_like_the_inverse_tilt():
    assert rate_exponent([0, 0.3, 0.5]) == pytest.approx(np.ones(3), rel=1e-15)
    assert rate_exponent(1.0) == pytest.approx((math.sqrt(5) - 1) / 2, rel=1e-15)
    lam = np.array([0.6, 2.0, 30.0])
    assert rate_exponent(lam) == pytest.approx((np.sqrt(1 + 4 / lam) - 1) / 2, rel=1e-14)
    assert rate_exponent(1e12) * 1e12 == pytest.approx(1, rel=1e-11)


def test_tilt_is_the_largest_variance_of_the_score_scale():
    rng = np.random.default_rng(0)
    Gamma, S = (x @ x.T for x in rng.standard_normal((2, 4, 4)))
    U = rng.standard_normal((4, 4))
    form = U.T @ Gamma @ U @ S  # similar to the symmetric matrix of the definition
    assert tilt(Gamma, U, S) == pytest.approx(np.linalg.eigvals(form).real.max(), rel=1e-12)


@pytest.mark.parametrize("scale", [0.1, 0.5, 0.9])
def test_error_times_length_tends_to_the_constant(scale):
    rng = np.random.default_rng(1)
    factor, root = rng.standard_normal((2, 3, 3))
    U, V = rng.standard_normal((3, 3)), rng.standard_normal((2, 3))
    Gamma, S = factor @ factor.T, root @ root.T
    U *= math.sqrt(0.3 * scale / tilt(Gamma, U, S))
    L = 10**12
    assert L * output_error(Gamma, U, V, S, L) == pytest.approx(
        one_over_L_constant(Gamma, U, V, S), rel=2e-4
    )


def test_constant_is_finite_exactly_below_tilt_one_half():
    eye = np.eye(2)
    for lam, finite in [(0.49, True), (0.5, False), (2.0, False)]:
        assert math.isfinite(one_over_L_constant(eye, math.sqrt(lam) * eye, eye, eye)) is finite
    growth = [1e6 * scalar_error(0.6, 1e6), 1e12 * scalar_error(0.6, 1e12)]
    assert growth[1] > 5 * growth[0]


@pytest.mark.parametrize(("lam", "d"), [(0.75, 1), (0.75, 3), (1.0, 1), (2.0, 2)])
def test_slopes_approach_the_exponent_from_below(lam, d):
    L = np.array([1e48, 1e49, 1e50])
    slope = local_exponent(L, scalar_error(lam, L, d))[1]
    assert slope == pytest.approx(rate_exponent(lam) - d / (2 * math.log(1e49)), abs=2e-3)


def test_slopes_at_everyday_lengths_are_not_the_exponent():
    L = np.array([5e3, 1e4, 2e4])
    assert local_exponent(L, scalar_error(2.0, L))[1] == pytest.approx(0.43, abs=0.01)
    assert rate_exponent(2.0) == pytest.approx(0.366, abs=1e-3)


def test_a_power_law_has_its_power_as_local_exponent():
    L = np.array([1, 10, 50, 1000])
    assert local_exponent(L, 3 * L**-0.7) == pytest.approx(np.full(4, 0.7), rel=1e-12)


@pytest.mark.parametrize(
    "arguments", [([1], [1]), ([1, 2], [1, -1]), ([2, 1], [1, 1]), ([1, 2], [1, 2, 3])]
)
def test_unusable_curves_are_refused(arguments):
    with pytest.raises(InputError):
        local_exponent(*arguments)


@pytest.mark.parametrize("lam", [-0.1, math.nan, [1.0, -1.0]])
def test_unusable_tilts_are_refused(lam):
    with pytest.raises(InputError, match="tilt="):
        rate_exponent(lam)
