"""Shrinkage and noise of finite attention against sampled prompts."""

import numpy as np
import pytest

from largeprompt.effective_operator import linear_moments, softmax_moments


def attended(rng, s, L, prompts, attention):
    """Attended tokens (prompt, 2) for a = (s, 0) and tokens N(0, I): along a and across it."""
    tokens = rng.standard_normal((prompts, L, 2))
    scores = s * tokens[..., 0]
    if attention == "softmax":
        weights = np.exp(scores - scores.max(1, keepdims=True))
        weights /= weights.sum(1, keepdims=True)
    else:
        weights = scores / L
    return np.einsum("pt,ptd->pd", weights, tokens)


@pytest.mark.parametrize(("s", "L"), [(0.5, 3), (1.0, 20), (2.0, 20), (1.5, 200)])
@pytest.mark.parametrize("attention", ["softmax", "linear"])
def test_moments_are_those_of_sampled_prompts(attention, s, L):
    """24 comparisons within 5 standard errors: all pass with probability above 1 - 2e-5."""
    n = 20_000
    x = attended(np.random.default_rng(4), s, L, n, attention)
    exact = {"softmax": softmax_moments, "linear": linear_moments}[attention](np.array(s), L)
    squares = (x - [s * exact.shrinkage, 0]) ** 2
    assert abs(x[:, 0].mean() - s * exact.shrinkage) < 5 * x[:, 0].std() / np.sqrt(n)
    for column, value in enumerate((exact.along, exact.across)):
        spread = squares[:, column].std() / np.sqrt(n)
        assert abs(squares[:, column].mean() - value) < 5 * spread


def test_both_tend_to_the_infinite_prompt_and_softmax_starts_from_a_plain_average():
    s = np.array([0.0, 0.5])
    softmax, linear = softmax_moments(s, 10**9), linear_moments(s, 10**9)
    for found in (softmax, linear):
        assert np.allclose(found.shrinkage, 1, atol=1e-8)
        assert (found.along < 1e-8).all()
    assert softmax_moments(s, 50).across[0] == pytest.approx(1 / 50)
    assert linear_moments(s, 50).across[0] == 0


def test_softmax_shrinks_where_linear_does_not():
    """Control: at large scores and few tokens the two are far apart."""
    s = np.array([3.0])
    assert softmax_moments(s, 10).shrinkage[0] < 0.5
    assert linear_moments(s, 10).shrinkage[0] == 1
