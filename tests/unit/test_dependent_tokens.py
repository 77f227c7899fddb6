"""Laws of dependent prompts against direct sums and samples."""

import numpy as np
import pytest

from largeprompt.dependent_tokens import seasonal_tokens, stationary_tokens
from largeprompt.errors import InputError

GAMMA = np.array([[1.0, 0.4], [0.4, 0.7]])


def test_stationary_tokens_are_the_recursion():
    found = stationary_tokens(np.random.default_rng(1), GAMMA, 0.6, 2, 5)
    noise = np.random.default_rng(1).standard_normal((5, 2, 2))
    values, vectors = np.linalg.eigh(GAMMA)
    root = vectors @ np.diag(values**0.5) @ vectors.T
    for prompt in range(2):
        token = root @ noise[0, prompt]
        for t in range(5):
            if t:
                token = 0.6 * token + 0.8 * root @ noise[t, prompt]
            assert np.allclose(found[prompt, t], token)


@pytest.mark.parametrize("correlation", [0.0, 0.8, -0.5])
def test_every_token_has_the_covariance_and_neighbours_the_correlation(correlation):
    """1e5 prompts; entries have standard errors below 0.006, 5 of them are allowed."""
    tokens = stationary_tokens(np.random.default_rng(2), GAMMA, correlation, 100_000, 4)
    for t in (0, 3):
        assert np.abs(tokens[:, t].T @ tokens[:, t] / 1e5 - GAMMA).max() < 0.03
    apart = tokens[:, 1].T @ tokens[:, 3] / 1e5
    assert np.abs(apart - correlation**2 * GAMMA).max() < 0.03


def test_shorter_prompts_are_prefixes():
    for make in (
        lambda L: stationary_tokens(np.random.default_rng(3), GAMMA, 0.5, 3, L),
        lambda L: seasonal_tokens(np.random.default_rng(3), GAMMA, np.ones(2), 3, L),
    ):
        assert np.array_equal(make(9)[:, :4], make(4))


def test_seasonal_tokens_alternate_around_zero():
    tokens = seasonal_tokens(np.random.default_rng(4), GAMMA, np.array([2.0, 0.0]), 50_000, 2)
    assert np.abs(tokens[:, 0].mean(0) - [2, 0]).max() < 0.03
    assert np.abs(tokens[:, 1].mean(0) - [-2, 0]).max() < 0.03


@pytest.mark.parametrize("correlation", [1.0, -1.0, 2.0, float("nan")])
def test_correlation_out_of_range_is_an_input_error(correlation):
    with pytest.raises(InputError, match="correlation = "):
        stationary_tokens(np.random.default_rng(5), GAMMA, correlation, 1, 2)
