"""Excess risks of the best models and the prompt lengths at which they vanish."""

import math

import numpy as np
import pytest

from largeprompt.errors import InputError
from largeprompt.optimum_lengths import optimal_excess, smallest_length
from largeprompt.risk import population_risk, reduced_optimum
from largeprompt.score_moments import score_moments

AUTOREGRESSIVE = 0.5 ** np.abs(np.subtract.outer(np.arange(5), np.arange(5)))


@pytest.mark.parametrize("d", [1, 5, 64])
@pytest.mark.parametrize("L", [1, 70, 10**5])
def test_linear_excess_of_isotropic_inputs_is_the_closed_form(d, L):
    noise, task = 0.1, 0.2
    shift = 1 + d + noise / task
    found = reduced_optimum(np.eye(d), noise / task, L, "linear").risk * 2 * task - noise
    assert found == pytest.approx(task * d * shift / (L + shift), rel=1e-9)
    if d < 64:
        assert optimal_excess(np.eye(d), noise, task, L).linear == pytest.approx(found, rel=1e-9)


def test_excesses_are_those_of_the_population_risk():
    query, noise, task, L = np.eye(3), 0.1, 0.3, 15
    Sigma = AUTOREGRESSIVE[:3, :3]
    excess = optimal_excess(Sigma, noise, task, L, query)
    for attention in ("softmax", "linear"):
        best = reduced_optimum(Sigma, noise / task, L, attention, query)
        U, v = np.zeros((4, 4)), np.zeros(4)
        U[:3, :3], v[3] = best.A, best.b
        risk = population_risk(U, v, Sigma, noise, task, L, attention, query)
        found = getattr(excess, attention)
        assert found == pytest.approx(risk.value - noise, abs=risk.error + 1e-10)
    assert excess.gap == pytest.approx(excess.softmax - excess.linear)


def test_softmax_excess_in_64_dimensions_matches_a_minimum_over_plain_integrals():
    """Sigma = I: A = a I, and the risk is an integral over the chi-square law of |x_q|^2."""
    d, noise, L = 64, 0.5, 200
    r = np.linspace(3.0, 13.0, 101)  # |x_q|
    density = np.exp((d - 1) * np.log(r / 8) - (r**2 - 64) / 2)
    density /= density.sum()

    def excess(a):
        moments = score_moments(a * r, L)
        numerator = density @ ((1 - moments.q) * a * r**2)
        denominator = density @ (moments.h * (a * r) ** 2 + moments.q * (d + noise))
        return d - numerator**2 / denominator

    best = reduced_optimum(np.eye(d), noise, L)
    a, found = best.A[0, 0], 2 * best.risk - noise
    assert excess(a) == pytest.approx(found, rel=1e-9)
    assert min(excess(a - 1e-3), excess(a + 1e-3)) > found


@pytest.mark.parametrize("Sigma", [np.eye(5), AUTOREGRESSIVE], ids=["isotropic", "autoregressive"])
def test_excesses_fall_and_the_gap_falls_from_one_peak(Sigma):
    found = [optimal_excess(Sigma, 0.1, 0.2, L) for L in (1, 2, 16, 256)]
    for excess in ([e.softmax for e in found], [e.linear for e in found]):
        assert (np.diff(excess) < 0).all()
    gaps = np.array([e.gap for e in found])
    peak = int(np.argmax(gaps))
    assert 0 < peak < len(gaps) - 1
    assert (np.diff(gaps[: peak + 1]) > 0).all()
    assert (np.diff(gaps[peak:]) < 0).all()


@pytest.mark.parametrize("tolerance", [0.3, 0.02, 1e-4])
def test_length_of_linear_attention_is_that_of_the_closed_form(tolerance):
    d, noise, task = 5, 0.1, 0.2

    def excess(L):
        return reduced_optimum(np.eye(d), noise / task, L, "linear").risk * 2 * task - noise

    shift = 1 + d + noise / task
    expected = math.floor(task * d * shift / tolerance - shift) + 1
    assert smallest_length(excess, tolerance, 10**6) == expected


def test_length_of_the_gap_agrees_with_a_scan_of_every_length():
    longest = 12
    gaps = [optimal_excess(np.eye(2), 0.1, 1.0, L).gap for L in range(1, longest + 1)]
    for tolerance in (1.001 * gaps[3], 1.001 * gaps[6], 1.001 * gaps[-1]):
        expected = max(L for L, gap in enumerate(gaps, 1) if gap >= tolerance) + 1
        assert smallest_length(lambda L: gaps[L - 1], tolerance, longest) == expected


def test_length_lies_beyond_a_peak_and_may_be_none():
    def excess(L):
        return L * math.exp(-L / 10)  # peak 3.7 at 10; 1 at L = 1.1 and at L = 35.8

    assert smallest_length(excess, 1.0, 500) == 36
    assert smallest_length(excess, 5.0, 500) == 1
    assert smallest_length(excess, 1.0, 35) is None


def test_unusable_arguments_are_named():
    with pytest.raises(InputError, match="tolerance = 0"):
        smallest_length(lambda L: 1 / L, 0, 10)
    with pytest.raises(InputError, match="longest = 0"):
        smallest_length(lambda L: 1 / L, 0.1, 0)
    with pytest.raises(InputError, match="task_variance = 0"):
        optimal_excess(np.eye(2), 0.1, 0, 10)
