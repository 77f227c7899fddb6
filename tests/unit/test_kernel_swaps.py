"""Kernel swaps against direct sums, exact risks and the limits they should have."""

import math

import numpy as np
import pytest

from largeprompt.covariances import covariance_matrix
from largeprompt.errors import InputError
from largeprompt.estimates import Estimate
from largeprompt.kernel_swaps import (
    cost_per_token,
    linformer_predictions,
    orthogonal_directions,
    orthonormal_rows,
    performer_floor,
    performer_predictions,
    softmax_predictions,
)
from largeprompt.regression import sample_prompts
from largeprompt.risk import reduced_risk
from largeprompt.tasks import RegressionTask

Sigma = covariance_matrix("autoregressive", 2, 0.5)
A, b = np.linalg.inv(Sigma) / 2.5, 2.5
TASK = RegressionTask.as_stated(Sigma, 0.1, 1.0)


def prompts(L, count=50, seed=1):
    return sample_prompts(np.random.default_rng(seed), TASK, count, L)


def loss(prediction, drawn):
    """Squared error against the label without its noise."""
    clean = (drawn.weights * drawn.query[:, :-1]).sum(-1)
    return ((prediction - clean) ** 2).numpy()


def test_softmax_predictions_are_a_loop_over_tokens():
    drawn = prompts(7, count=3)
    for i, found in enumerate(softmax_predictions(drawn.tokens, drawn.query, A, b)):
        tokens, x_q = drawn.tokens[i].numpy(), drawn.query[i, :-1].numpy()
        weights = [math.exp(t[:-1] @ A @ x_q) for t in tokens]
        expected = b * sum(p * t[-1] for p, t in zip(weights, tokens, strict=True)) / sum(weights)
        assert float(found) == pytest.approx(expected)


def test_performer_predictions_are_a_loop_over_features():
    drawn, w = prompts(6, count=2), orthogonal_directions(np.random.default_rng(2), 5, 2)
    found = performer_predictions(drawn.tokens, drawn.query, A, b, w, [3, 5])
    values, vectors = np.linalg.eigh(A)
    root = vectors @ np.diag(values**0.5) @ vectors.T
    for row, n in zip(found, [3, 5], strict=True):
        for i, value in enumerate(row):
            q = root @ drawn.query[i, :-1].numpy()
            top = bottom = 0.0
            for token in drawn.tokens[i].numpy():
                k = root @ token[:-1]
                kernel = sum(math.exp(u @ k - k @ k / 2 + u @ q - q @ q / 2) for u in w[:n])
                top, bottom = top + kernel * token[-1], bottom + kernel
            assert float(value) == pytest.approx(b * top / bottom, rel=1e-4)


def test_many_features_are_softmax():
    drawn = prompts(40)
    w = orthogonal_directions(np.random.default_rng(3), 20_000, 2)
    found = performer_predictions(drawn.tokens, drawn.query, A, b, w, [20_000])[0]
    exact = softmax_predictions(drawn.tokens, drawn.query, A, b)
    assert float((found - exact).abs().median()) < 0.05


def test_directions_are_standard_normal_and_orthogonal_in_blocks():
    w = orthogonal_directions(np.random.default_rng(4), 30_000, 3)
    assert np.abs(w.mean(0)).max() < 4 / 30_000**0.5
    assert np.abs(w.T @ w / 30_000 - np.eye(3)).max() < 0.04
    block = w[:3] @ w[:3].T
    assert np.abs(block - np.diag(np.diag(block))).max() < 1e-12


def test_linformer_on_gaussian_tokens_is_softmax_on_as_many_tokens_as_rows():
    """20 000 prompts; 4 standard errors are passed by chance once in 16 000 runs."""
    rng, L, k = np.random.default_rng(5), 30, 8
    losses = []
    for seed in range(20):
        drawn = prompts(L, count=1000, seed=seed)
        found = linformer_predictions(drawn.tokens, drawn.query, A, b, orthonormal_rows(rng, k, L))
        losses.append(loss(found, drawn))
    losses = np.concatenate(losses)
    stderr = losses.std(ddof=1) / len(losses) ** 0.5
    exact, whole = (2 * reduced_risk(A, b, Sigma, 0.1, n) - 0.1 for n in (k, L))
    assert abs(exact - whole) > 10 * stderr, "the test could tell k tokens from L"
    assert abs(losses.mean() - exact) < 4 * stderr


def test_rows_of_a_projection_are_orthonormal():
    for L in (9, 20, 36, 5000):
        E = orthonormal_rows(np.random.default_rng(6), 9, L)
        assert np.abs(E @ E.T - np.eye(9)).max() < 1e-12
    with pytest.raises(InputError, match="rows = 10"):
        orthonormal_rows(np.random.default_rng(6), 10, 9)


def test_performer_on_long_prompts_reaches_its_floor_and_not_softmax():
    """Features are drawn anew for every prompt in both; 4 standard errors, once in 16 000 runs."""
    floor = performer_floor(np.random.default_rng(7), Sigma, A, b, 1.0, [8], 4000)[0]
    rng, differences = np.random.default_rng(8), []
    for seed in range(300):
        drawn = prompts(3000, count=1, seed=seed)
        w = orthogonal_directions(rng, 8, 2)
        found = performer_predictions(drawn.tokens, drawn.query, A, b, w, [8])[0]
        softmax = softmax_predictions(drawn.tokens, drawn.query, A, b)
        differences.append(loss(found, drawn)[0] - loss(softmax, drawn)[0])
    measured = Estimate.of(np.array(differences))
    assert floor.value > 10 * floor.stderr, "features leave an error at every length"
    assert abs(measured.value - floor.value) < 4 * math.hypot(measured.stderr, floor.stderr) + 0.02


def test_floor_falls_with_the_number_of_features():
    few, many = performer_floor(np.random.default_rng(9), Sigma, A, b, 1.0, [4, 256], 1000)
    assert many.value < few.value / 5


def test_costs():
    assert cost_per_token("softmax", 0, 5, 1000) == 6000
    assert cost_per_token("linear", 0, 5, 1000) == 10
    assert cost_per_token("performer", 16, 5, 10) == 224
    assert cost_per_token("linformer", 16, 5, 10) == 192
