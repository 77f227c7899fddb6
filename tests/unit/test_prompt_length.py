"""Tokens needed: against a scan over every length, simulation and closed forms."""

import math

import numpy as np
import pytest

from largeprompt.concentration import output_error, output_error_at, sharp_bound
from largeprompt.errors import InputError
from largeprompt.prompt_length import (
    log_envelope_length,
    mean_square_output,
    relative_constant,
    relative_error,
    required_prompt_length,
    required_prompt_lengths,
    sharp_bound_lengths,
)
from largeprompt.standard_problems import fixed_rank, isotropic, reduced_regression


def random_problem(seed):
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((3, 3)) / 2
    U, V = rng.standard_normal((3, 3)) / 3, rng.standard_normal((2, 3))
    return factor @ factor.T, U, V, np.diag([1.0, 0.5, 0.2])


@pytest.mark.parametrize("seed", range(3))
def test_required_length_is_the_first_of_a_scan_over_every_length(seed):
    problem = random_problem(seed)
    lengths = np.arange(1, 2001)
    errors = output_error(*problem, lengths) / mean_square_output(*problem)
    for tolerance in (2.0, 0.7, 0.3):
        first = int(lengths[np.argmax(errors <= tolerance**2)])
        assert errors[first - 1] <= tolerance**2, "the scan is long enough"
        assert required_prompt_length(*problem, tolerance) == first


def test_required_length_of_many_tokens_is_tight():
    problem = isotropic(4, 0.25)
    for tolerance in (0.1, 0.01, 1e-3):
        L = required_prompt_length(*problem, tolerance)
        before, at = relative_error(*problem, [L - 1, L])
        assert before > tolerance >= at


def test_required_lengths_together_are_those_one_by_one():
    problem, tolerances = random_problem(1), [0.5, 0.02, 1e9]
    alone = [required_prompt_length(*problem, t) for t in tolerances]
    assert required_prompt_lengths(*problem, tolerances) == alone
    assert alone[-1] == 1


def test_error_falls_with_every_further_token():
    """What makes the search exact: at every s and L tried, errors along and across a decrease."""
    lengths = np.concatenate([np.arange(1, 60), np.unique(np.geomspace(60, 1e12, 60).round())])
    identity = np.eye(2)
    for V in (np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])):
        for s in (0.0, 0.3, 1.0, 2.0, 4.0, 7.0, 12.0):
            errors = output_error_at(identity, identity, V, np.array([s, 0.0]), lengths)
            assert (np.diff(errors) < 0).all()


def test_deviation_of_simulated_prompts_at_the_required_length():
    """d = 1, 4e5 prompts; 4 standard errors are passed by chance once in 16 000 runs."""
    problem, tolerance = isotropic(1, 0.3), 0.5
    L = required_prompt_length(*problem, tolerance)
    rng = np.random.default_rng(8)
    squares = []
    for _ in range(8):
        x, z = rng.standard_normal((50_000, L)), rng.standard_normal((50_000, 1))
        a = 0.3**0.5 * z
        weights = np.exp(x * a)
        output = (weights * x).sum(1) / weights.sum(1)
        squares.append((output - a[:, 0]) ** 2)
    squares = np.concatenate(squares) / mean_square_output(*problem)
    stderr = squares.std(ddof=1) / len(squares) ** 0.5
    assert 4 * stderr < 0.01, "the simulation could tell neighbouring lengths from others"
    assert abs(squares.mean() - relative_error(*problem, L) ** 2) < 4 * stderr


def test_more_than_the_longest_prompt_is_an_input_error_that_says_what_is_reached():
    problem = isotropic(5, 4.0)
    assert required_prompt_lengths(*problem, [1e-6]) == [math.inf]
    with pytest.raises(InputError, match=r"tolerance = 1e-06: .* must be at least 0\.0695"):
        required_prompt_length(*problem, 1e-6)


@pytest.mark.parametrize("tolerance", [0, -1.0, math.inf, math.nan, "0.1"])
def test_bad_tolerance_is_an_input_error(tolerance):
    with pytest.raises(InputError, match="tolerance = "):
        required_prompt_length(*isotropic(2, 0.1), tolerance)


def test_output_zero_is_an_input_error():
    with pytest.raises(InputError, match="output is zero"):
        required_prompt_length(np.eye(2), np.zeros((2, 2)), np.eye(2), np.eye(2), 0.1)


def test_mean_square_output_against_samples():
    Gamma, U, V, S = random_problem(2)
    z = np.random.default_rng(1).standard_normal((200_000, 3)) * np.sqrt(np.diag(S))
    squares = ((z @ U.T @ Gamma @ V.T) ** 2).sum(1)
    stderr = squares.std(ddof=1) / len(z) ** 0.5
    assert abs(squares.mean() - mean_square_output(Gamma, U, V, S)) < 4 * stderr


def test_relative_constant_is_the_limit_of_the_error_times_the_length():
    problem = random_problem(0)
    measured = 1e9 * relative_error(*problem, 10**9) ** 2
    assert relative_constant(*problem) == pytest.approx(measured, rel=1e-5)
    assert math.isinf(relative_constant(*isotropic(3, 0.5)))


def test_constant_at_fixed_rank_does_not_see_the_dimension():
    constants = [relative_constant(*fixed_rank(d, 4, 1.0)) for d in (4, 32)]
    assert constants[0] == pytest.approx(constants[1], rel=1e-12)
    assert constants[0] == pytest.approx(24.0)  # (1 - 2/4)^-2 (4 + 1 / (1 - 2/4))


def test_sharp_bound_never_asks_for_fewer_tokens_than_the_error():
    problem, tolerances = random_problem(0), [1.0, 0.1]
    bounds = sharp_bound_lengths(*problem, tolerances)
    for tolerance, bound in zip(tolerances, bounds, strict=True):
        assert required_prompt_length(*problem, tolerance) <= bound
        size = mean_square_output(*problem)
        values = sharp_bound(*problem, [bound - 1, bound]) / size
        assert values[0] > tolerance**2 >= values[1]


@pytest.mark.parametrize("exponent", [0.1, 1.0])
def test_log_envelope_length_solves_the_envelope(exponent):
    log_length = log_envelope_length(3.0, exponent, 1e-3)
    assert 3 * log_length * math.exp(-exponent * log_length) == pytest.approx(1e-3)
    assert log_length > 1 / exponent, "on the falling side"
    assert log_envelope_length(3.0, exponent, 100.0) == math.log(2)


def test_reduced_regression_has_the_error_of_simulated_predictions():
    """d = 2, 2e5 prompts, each with its own task; 4 standard errors: once in 16 000 runs."""
    d, noise, a, L = 2, 0.5, 0.6, 20
    rng = np.random.default_rng(5)
    prompts = 200_000
    w, x_q = rng.standard_normal((2, prompts, d))
    x = rng.standard_normal((prompts, L, d))
    y = np.einsum("pld,pd->pl", x, w) + noise**0.5 * rng.standard_normal((prompts, L))
    weights = np.exp(a * np.einsum("pld,pd->pl", x, x_q))
    prediction = (weights * y).sum(1) / weights.sum(1)
    limit = a * (w * x_q).sum(1)
    squares = (prediction - limit) ** 2
    problem = reduced_regression(a, d, noise)
    stderr = squares.std(ddof=1) / prompts**0.5
    assert abs(squares.mean() - output_error(*problem, L)) < 4 * stderr
    assert mean_square_output(*problem) == pytest.approx(a * a * d)
