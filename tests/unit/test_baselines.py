"""Statistical tests: fixed seeds; a z-score above 5 has probability below 6e-7, and no test takes
more than 12 of them."""

import os
import subprocess
import sys

import numpy as np
import pytest

from largeprompt.baselines import (
    asymptotic_ridge_risk,
    bayes_risk,
    linear_optimum,
    ridge_prediction,
    ridge_risk,
)
from largeprompt.covariances import covariance_matrix
from largeprompt.errors import InputError

AUTOREGRESSIVE = covariance_matrix("autoregressive", 4, rho=0.5)


def draw(seed, prompts, L, Sigma, noise, task_variance, query_covariance=None):
    """Prompts drawn in the most direct way: tokens, query, target."""
    rng = np.random.default_rng(seed)
    d = len(Sigma)
    query_covariance = Sigma if query_covariance is None else query_covariance
    weights = np.sqrt(task_variance) * rng.standard_normal((prompts, d))
    inputs = rng.multivariate_normal(np.zeros(d), Sigma, (prompts, L))
    query = rng.multivariate_normal(np.zeros(d), query_covariance, prompts)
    labels = np.einsum("pld,pd->pl", inputs, weights)
    labels = labels + np.sqrt(noise) * rng.standard_normal((prompts, L))
    target = (query * weights).sum(1) + np.sqrt(noise) * rng.standard_normal(prompts)
    tokens = np.concatenate([inputs, labels[..., None]], -1)
    return tokens, np.pad(query, ((0, 0), (0, 1))), target


def mean_and_error(values):
    return values.mean(), values.std(ddof=1) / np.sqrt(len(values))


@pytest.mark.parametrize("L", [1, 3, 4, 30])
def test_ridge_prediction_is_the_posterior_mean(L):
    """Brute force: condition the joint Gaussian law of (y_q, y_1, ..., y_L) given the inputs."""
    tokens, query, _ = draw(1, 6, L, AUTOREGRESSIVE, 0.1, 0.25)
    predictions = ridge_prediction(tokens, query, 0.1, 0.25)
    for p in range(6):
        X, y, x = tokens[p, :, :4], tokens[p, :, 4], query[p, :4]
        posterior_mean = 0.25 * X @ x @ np.linalg.solve(0.25 * X @ X.T + 0.1 * np.eye(L), y)
        assert predictions[p] == pytest.approx(posterior_mean, rel=1e-9)


@pytest.mark.parametrize("L", [1, 3, 4, 30])
def test_ridge_without_noise_is_the_minimum_norm_fit(L):
    tokens, query, target = draw(2, 6, L, AUTOREGRESSIVE, 0.0, 1.0)
    predictions = ridge_prediction(tokens, query, 0.0, 1.0)
    for p in range(6):
        weights = np.linalg.lstsq(tokens[p, :, :4], tokens[p, :, 4])[0]
        assert predictions[p] == pytest.approx(query[p, :4] @ weights, rel=1e-7)
    np.testing.assert_allclose(
        predictions, ridge_prediction(tokens, query, 1e-9, 1.0), rtol=1e-4, atol=1e-6
    )
    if L >= 4:
        np.testing.assert_allclose(predictions, target, rtol=1e-7)


def test_ridge_without_noise_on_a_singular_covariance():
    Sigma = np.outer([1.0, 2.0, 0.0], [1.0, 2.0, 0.0])
    tokens, query, _ = draw(3, 6, 10, Sigma, 0.0, 1.0)
    for p in range(6):
        weights = np.linalg.lstsq(tokens[p, :, :3], tokens[p, :, 3], rcond=1e-6)[0]
        expected = query[p, :3] @ weights
        assert ridge_prediction(tokens, query, 0.0, 1.0)[p] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("factor", [0.3, 3.0])
def test_any_other_penalty_has_a_larger_risk(factor):
    tokens, query, target = draw(4, 40_000, 8, AUTOREGRESSIVE, 0.4, 0.25)
    best = (ridge_prediction(tokens, query, 0.4, 0.25) - target) ** 2
    other = (ridge_prediction(tokens, query, 0.4 * factor, 0.25) - target) ** 2
    gain, error = mean_and_error(other - best)
    assert gain > 4 * error


@pytest.mark.parametrize("L", [2, 4, 20])
@pytest.mark.parametrize("noise", [0.0, 0.1])
@pytest.mark.parametrize("query_covariance", [AUTOREGRESSIVE, np.eye(4)])
def test_risk_given_the_inputs_agrees_with_squared_errors(L, noise, query_covariance):
    tokens, query, target = draw(5, 20_000, L, AUTOREGRESSIVE, noise, 0.25, query_covariance)
    direct = ridge_risk(tokens, query, target, noise, 0.25)
    reduced = bayes_risk(tokens[..., :4], query_covariance, noise, 0.25)
    spread = np.hypot(direct.stderr, reduced.stderr)
    assert abs(direct.value - reduced.value) <= 5 * spread + 1e-12
    assert reduced.stderr <= direct.stderr


def test_risk_given_the_inputs_is_the_posterior_variance():
    inputs = np.random.default_rng(6).standard_normal((3, 5, 4))
    posterior = [np.linalg.inv(X.T @ X / 0.1 + np.eye(4) / 0.25) for X in inputs]
    expected = 0.1 + np.mean([np.trace(AUTOREGRESSIVE @ matrix) for matrix in posterior])
    assert bayes_risk(inputs, AUTOREGRESSIVE, 0.1, 0.25).value == pytest.approx(expected)


@pytest.mark.parametrize("L", [1, 3, 5])
def test_without_noise_the_unseen_directions_are_the_risk(L):
    inputs = np.random.default_rng(7).standard_normal((10, L, 4))
    risk = bayes_risk(inputs, np.eye(4), 0.0, 0.5)
    assert risk.value == pytest.approx(0.5 * max(4 - L, 0), abs=1e-9)


@pytest.mark.parametrize("L", [100, 200, 600])
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_asymptotic_ridge_risk_is_reached_in_high_dimension(L, noise):
    """At d = 200 finite-size corrections are of order 1/d; the control is off by 10 percent."""
    inputs = np.random.default_rng(8).standard_normal((4, L, 200))
    exact = bayes_risk(inputs, np.eye(200), noise, 1 / 200).value
    assert asymptotic_ridge_risk(200, L, noise, 1 / 200) == pytest.approx(exact, rel=0.02, abs=1e-9)
    if noise:
        longer = asymptotic_ridge_risk(200, L, 1.2 * noise, 1 / 200)
        assert longer != pytest.approx(exact, rel=0.05)


def linear_errors(prompts, B):
    tokens, query, target = prompts
    summary = np.einsum("pl,pld->pd", tokens[..., -1], tokens[..., :-1]) / tokens.shape[1]
    return (np.einsum("pi,ij,pj->p", summary, B, query[:, :-1]) - target) ** 2


@pytest.mark.parametrize("query_covariance", [AUTOREGRESSIVE, np.eye(4)])
@pytest.mark.parametrize(("noise", "task_variance"), [(0.1, 0.25), (0.0, 1.0), (0.5, 2.0)])
def test_linear_optimum_has_the_risk_it_states(query_covariance, noise, task_variance):
    prompts = draw(9, 60_000, 7, AUTOREGRESSIVE, noise, task_variance, query_covariance)
    optimum = linear_optimum(AUTOREGRESSIVE, noise, task_variance, 7, query_covariance)
    risk, error = mean_and_error(linear_errors(prompts, optimum.B))
    assert abs(risk - optimum.risk) < 5 * error


def test_every_perturbation_of_the_linear_optimum_costs():
    """Paired comparisons in 12 random directions; each true gain is above 6 standard errors."""
    prompts = draw(10, 60_000, 7, AUTOREGRESSIVE, 0.1, 0.25, np.eye(4))
    B = linear_optimum(AUTOREGRESSIVE, 0.1, 0.25, 7).B
    best = linear_errors(prompts, B)
    rng = np.random.default_rng(11)
    for _ in range(6):
        direction = rng.standard_normal((4, 4))
        direction *= 0.5 * np.linalg.norm(B) / np.linalg.norm(direction)
        for sign in (1, -1):
            gain, error = mean_and_error(linear_errors(prompts, B + sign * direction) - best)
            assert gain > 3 * error


@pytest.mark.parametrize("L", [1, 5, 50])
def test_no_linear_attention_beats_ridge(L):
    inputs = np.random.default_rng(12).standard_normal((4000, L, 4))
    ridge = bayes_risk(inputs, np.eye(4), 0.1, 0.25)
    linear = linear_optimum(np.eye(4), 0.1, 0.25, L).risk
    assert 0.1 < ridge.value + 5 * ridge.stderr < linear < 0.1 + 0.25 * 4


def test_linear_optimum_of_an_infinite_prompt_reaches_the_noise():
    optimum = linear_optimum(AUTOREGRESSIVE, 0.1, 0.25, np.inf)
    np.testing.assert_allclose(optimum.B, np.linalg.inv(AUTOREGRESSIVE), rtol=1e-12)
    assert optimum.risk == 0.1
    slow = linear_optimum(AUTOREGRESSIVE, 0.1, 0.25, 1e9)
    constant = 0.25 * (np.trace(AUTOREGRESSIVE) + 4 * (np.trace(AUTOREGRESSIVE) + 0.4))
    assert 1e9 * (slow.risk - 0.1) == pytest.approx(constant, rel=1e-6)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: linear_optimum(np.eye(2), 0.1, 1.0, 0), "L = 0"),
        (lambda: linear_optimum(np.eye(2), -1.0, 1.0, 5), "noise_variance = -1.0"),
        (lambda: linear_optimum(np.ones((2, 2)), 0.1, 1.0, np.inf), "Sigma is singular"),
        (lambda: asymptotic_ridge_risk(5, 10, 0.1, 0.0), "task_variance = 0.0"),
        (lambda: asymptotic_ridge_risk(5, 0, 0.1, 1.0), "L = 0"),
        (lambda: bayes_risk(np.ones((1, 3, 2)), np.eye(2), 0.1, 1.0), "prompts = 1"),
    ],
)
def test_unusable_arguments_are_refused_by_name(call, named):
    with pytest.raises(InputError, match=named):
        call()


def test_baselines_do_not_import_torch():
    code = "import sys, largeprompt.baselines; sys.exit('torch' in sys.modules)"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run([sys.executable, "-c", code], check=False, env=environment)
    assert run.returncode == 0
