"""Exact errors of softmax attention against prompts drawn one by one, and in closed cases."""

import math

import numpy as np
import pytest
from scipy.stats import chi2

from largeprompt.concentration import (
    gradient_u_error,
    gradient_u_error_at,
    gradient_v_error,
    gradient_v_error_at,
    output_error,
    output_error_at,
    sharp_bound,
)
from largeprompt.errors import InputError
from largeprompt.score_moments import score_moments

ERRORS = [output_error, gradient_v_error, gradient_u_error]
ERRORS_AT = [output_error_at, gradient_v_error_at, gradient_u_error_at]


def random_problem(rng, d=None):
    """Gamma (sometimes singular), U, V of random sizes."""
    d = d or int(rng.integers(1, 5))
    m = int(rng.integers(1, 4))
    factor = rng.standard_normal((d, int(rng.integers(max(1, d - 1), d + 1)))) / math.sqrt(d)
    U, V = rng.standard_normal((d, d)) / math.sqrt(d), rng.standard_normal((m, d))
    return factor, U, V


def sampled_errors(tokens, U, V, z, Gamma):
    """Squared errors of output, grad_V, grad_U, prompt by prompt, from tokens (prompt, L, d)."""
    a = z @ U.T
    scores = (
        np.einsum("pld,...d->...pl", tokens, a)
        if a.ndim == 1
        else np.einsum("pld,pd->pl", tokens, a)
    )
    p = np.exp(scores - scores.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    mean = np.einsum("pl,pld->pd", p, tokens)
    second = np.einsum("pl,pli,plj->pij", p, tokens, tokens, optimize=True)
    covariance = second - mean[:, :, None] * mean[:, None, :]
    shift = mean - a @ Gamma
    gradient = V @ (covariance - Gamma)
    return (
        np.sum((shift @ V.T) ** 2, -1),
        len(V) * np.sum(shift**2, -1),
        np.sum(z * z, -1) * np.sum(gradient**2, (-2, -1)),
        p,
    )


def deviation(sample, exact):
    """Distance of the sample mean from `exact` in standard errors."""
    stderr = sample.std(ddof=1) / math.sqrt(len(sample))
    return (sample.mean() - exact) / max(stderr, 1e-10 * abs(exact), 1e-14)


@pytest.fixture(scope="module")
def deviations():
    """(case, quantity) deviations for 48 random problems at a fixed query: q, h, three errors."""
    rng = np.random.default_rng(2512)
    rows = []
    for case in range(48):
        factor, U, V = random_problem(rng)
        L = int(rng.choice([1, 2, 3, 5, 10, 30, 100]))
        prompts = int(4e5 / L) if L > 20 else 20_000
        Gamma, d = factor @ factor.T, len(factor)
        z = rng.standard_normal(d) * (0 if case == 7 else 1)
        z *= min(1, 2.5 / max(1e-9, math.sqrt((U @ z) @ Gamma @ (U @ z))))
        tokens = rng.standard_normal((prompts, L, factor.shape[1])) @ factor.T + 3.0 * (case % 2)
        *errors, p = sampled_errors(tokens - 3.0 * (case % 2), U, V, z, Gamma)
        s = math.sqrt((U @ z) @ Gamma @ (U @ z))
        exact = [error(Gamma, U, V, z, L) for error in ERRORS_AT]
        row = [deviation(x, y) for x, y in zip(errors, exact, strict=True)]
        moments = score_moments(s, L)
        row.append(deviation((p**2).sum(1), moments.q))
        if s > 0:
            g = (tokens - 3.0 * (case % 2)) @ (U @ z) / s
            row.append(deviation((p * g).sum(1) ** 2, moments.m2))
        else:
            row.append(0.0)
        rows.append(row)
    return np.array(rows)


def test_errors_at_a_query_agree_with_sampled_prompts(deviations):
    """Fixed seed; 240 means within 4 standard errors: 1.5 % false alarms before the seed."""
    assert np.abs(deviations).max() < 4


def test_deviations_of_all_problems_are_consistent_with_noise(deviations):
    """Each quantity's sum of squares inside the central 99.8 % of its chi-square law."""
    live = np.abs(deviations) > 1e-3  # L = 1 leaves no noise in q and grad_U
    for column, noisy in zip(deviations.T, live.T, strict=True):
        low, high = chi2.ppf([0.001, 0.999], noisy.sum())
        assert low < np.sum(column[noisy] ** 2) < high
    assert live.sum() > 200


@pytest.mark.parametrize("seed", range(4))
def test_averaged_errors_agree_with_sampled_queries_and_prompts(seed):
    """Fixed seeds; 12 means within 4 standard errors: 8e-4 false alarms before the seeds."""
    rng = np.random.default_rng([7, seed])
    factor, U, V = random_problem(rng, d=3)
    L = [2, 5, 20, 40][seed]
    root = rng.standard_normal((3, 2 if seed == 0 else 3)) / 2
    Gamma, S = factor @ factor.T, root @ root.T
    tokens = rng.standard_normal((40_000, L, factor.shape[1])) @ factor.T
    z = rng.standard_normal((40_000, root.shape[1])) @ root.T
    *errors, _ = sampled_errors(tokens, U, V, z, Gamma)
    for sample, error in zip(errors, ERRORS, strict=True):
        assert abs(deviation(sample, error(Gamma, U, V, S, L))) < 4


@pytest.mark.parametrize(("error", "at"), zip(ERRORS, ERRORS_AT, strict=True))
def test_averages_agree_with_a_sum_over_a_polar_grid(error, at):
    rng = np.random.default_rng(11)
    factor, U, V = random_problem(rng, d=2)
    Gamma, root = factor @ factor.T, np.array([[0.8, 0.0], [0.3, 0.4]])
    radius, weight = np.polynomial.legendre.leggauss(36)
    radius, weight = 4.25 * (radius + 1), 4.25 * weight
    angle = np.arange(28) * math.pi / 28  # z and -z are alike
    xi = radius[:, None, None] * np.stack([np.cos(angle), np.sin(angle)], -1)
    values = at(Gamma, U, V, xi @ root.T, 30).mean(1)
    sum_over_grid = np.sum(weight * radius * np.exp(-(radius**2) / 2) * values)
    assert error(Gamma, U, V, root @ root.T, 30) == pytest.approx(sum_over_grid, rel=1e-9)


@pytest.fixture
def problem():
    factor, U, V = random_problem(np.random.default_rng(4), d=4)
    root = np.random.default_rng(5).standard_normal((4, 4)) / 4
    return factor @ factor.T, U, V, root @ root.T


def test_one_token_gives_the_variance_of_a_token(problem):
    Gamma, U, V, S = problem

    def signal(W):
        return np.trace(W @ Gamma @ W.T) + np.trace(W @ Gamma @ U @ S @ (W @ Gamma @ U).T)

    assert output_error(*problem, 1) == pytest.approx(signal(V), rel=1e-12)
    assert gradient_v_error(*problem, 1) == pytest.approx(len(V) * signal(np.eye(4)), rel=1e-12)
    gradient = np.trace(S) * np.sum((V @ Gamma) ** 2)
    assert gradient_u_error(*problem, 1) == pytest.approx(gradient, rel=1e-12)


@pytest.mark.parametrize("L", [1, 2, 17, 10**6])
def test_without_scores_errors_are_those_of_sample_moments(problem, L):
    Gamma, _, V, S = problem
    flat = (Gamma, np.zeros((4, 4)), V, S)
    trace = np.trace(V @ Gamma @ V.T)
    assert output_error(*flat, L) == pytest.approx(trace / L, rel=1e-12)
    assert gradient_v_error(*flat, L) == pytest.approx(len(V) * np.trace(Gamma) / L, rel=1e-12)
    square = np.sum((V @ Gamma) ** 2) / L + (L - 1) / L**2 * np.trace(Gamma) * trace
    assert gradient_u_error(*flat, L) == pytest.approx(np.trace(S) * square, rel=1e-12)


@pytest.mark.parametrize("error", [*ERRORS, sharp_bound])
def test_results_have_the_shape_of_the_lengths(problem, error):
    lengths = [[5, 1000], [1, 5]]
    values = error(*problem, lengths)
    assert values.shape == (2, 2)
    assert values[0, 0] == values[1, 1]
    assert np.ndim(error(*problem, 5)) == 0
    assert error(*problem, 5) == pytest.approx(values[0, 0], rel=1e-12)


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("scale", [0.1, 1.0])
def test_error_estimate_is_small_and_bounds_a_refinement(problem, error, scale, monkeypatch):
    Gamma, U, V, S = problem
    lengths = [1, 10, 10**4, 10**12]
    value, estimate = error(Gamma, scale * U, V, S, lengths, return_error=True)
    monkeypatch.setattr("largeprompt.query_average._STEP", 0.08)
    finer = error(Gamma, scale * U, V, S, lengths)
    assert (estimate < 1e-6 * value).all()
    assert (np.abs(finer - value) <= estimate + 3e-13 * value).all()


def test_sharp_bound_holds_and_errors_decrease_with_the_prompt(problem):
    lengths = np.unique(np.round(np.geomspace(1, 1e12, 30)))
    error, bound = output_error(*problem, lengths), sharp_bound(*problem, lengths)
    assert (error <= bound * (1 + 1e-12)).all()
    assert (np.diff(error) < 0).all()
    assert bound[-1] > error[-1] > 0


def test_columns_of_a_value_matrix_are_seen_through_the_output_only(problem):
    Gamma, U, V, S = problem
    rows = sum(output_error(Gamma, U, row[None], S, 50) for row in V)
    assert output_error(Gamma, U, V, S, 50) == pytest.approx(rows, rel=1e-12)


def test_rademacher_tokens_break_the_gaussian_formulas():
    """Negative control: same covariance, other law, and the sampled errors must disagree."""
    rng = np.random.default_rng(9)
    U, V, z = np.eye(2), np.eye(2), np.array([1.2, -0.9])
    tokens = rng.choice([-1.0, 1.0], (40_000, 30, 2))
    *errors, _ = sampled_errors(tokens, U, V, z, np.eye(2))
    for sample, error in zip(errors, ERRORS_AT, strict=True):
        assert abs(deviation(sample, error(np.eye(2), U, V, z, 30))) > 15


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"Gamma": -np.eye(2)}, "Gamma"),
        ({"Gamma": [[1.0, 0.5], [0.0, 1.0]]}, "Gamma"),
        ({"Gamma": np.ones((2, 3))}, "Gamma"),
        ({"Gamma": [[1.0, math.nan], [math.nan, 1.0]]}, "Gamma"),
        ({"Gamma": np.zeros((0, 0))}, "Gamma"),
        ({"U": np.eye(3)}, "U"),
        ({"U": "identity"}, "U"),
        ({"V": np.ones((1, 3))}, "V"),
        ({"V": np.ones(2)}, "V"),
        ({"query_covariance": np.eye(3)}, "query_covariance"),
        ({"query_covariance": np.diag([1.0, -1.0])}, "query_covariance"),
        ({"L": 0}, "L"),
        ({"L": 2.5}, "L"),
        ({"L": math.nan}, "L"),
    ],
)
@pytest.mark.parametrize("error", [*ERRORS, sharp_bound])
def test_unusable_arguments_are_named_in_one_line(error, change, name):
    good = {
        "Gamma": np.eye(2),
        "U": np.eye(2),
        "V": np.eye(2),
        "query_covariance": np.eye(2),
        "L": 3,
    }
    with pytest.raises(InputError, match=rf"^{name}[ =]") as caught:
        error(**{**good, **change})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("z", [[1.0], 2.0, [1.0, math.inf], "z"])
def test_unusable_queries_are_refused(z):
    for error in ERRORS_AT:
        with pytest.raises(InputError, match=r"^z[ =]"):
            error(np.eye(2), np.eye(2), np.eye(2), z, 3)
