"""Gaussian prompts whose tokens depend on each other or on their place.

Each maker returns tokens (prompt, L, d), token by token as a longer prompt would begin.
"""

import numpy as np
from scipy.signal import lfilter

from largeprompt.covariances import square_root
from largeprompt.errors import InputError


def stationary_tokens(
    rng: np.random.Generator, Gamma: np.ndarray, correlation: float, prompts: int, L: int
) -> np.ndarray:
    """x_(t+1) = c x_t + (1 - c^2)^(1/2) Gamma^(1/2) noise: every token is N(0, Gamma).

    Tokens k places apart have the correlation c^k. Raises InputError unless |c| < 1.
    """
    if not -1 < correlation < 1:
        raise InputError(f"correlation = {correlation}: must lie between -1 and 1")
    fresh = (1 - correlation**2) ** 0.5
    noise = rng.standard_normal((L, prompts, len(Gamma)))
    noise[0] /= fresh  # the first token is stationary already
    tokens = lfilter([fresh], [1, -correlation], noise, axis=0)
    return np.ascontiguousarray(tokens.transpose(1, 0, 2)) @ square_root(Gamma)


def seasonal_tokens(
    rng: np.random.Generator, Gamma: np.ndarray, mean: np.ndarray, prompts: int, L: int
) -> np.ndarray:
    """N(mean, Gamma) at even places, N(-mean, Gamma) at odd ones: Gaussian, not stationary.

    A long prompt looks like the mixture of the two laws.
    """
    tokens = stationary_tokens(rng, Gamma, 0.0, prompts, L)
    signs = 1 - 2 * (np.arange(L) % 2)
    return tokens + signs[:, None] * mean
