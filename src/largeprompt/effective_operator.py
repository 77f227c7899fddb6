"""Finite-prompt attention on Gaussian tokens as a noisy linear map of the query.

With a = U z and s^2 = a^T Gamma a, the attended token of either attention has mean
`shrinkage Gamma a`: the infinite-prompt operator of Lemma 2.1, shrunk. Around it, in whitened
coordinates (Gamma = I), it has variance `along` in the direction of a and `across` in every other.
The infinite prompt has shrinkage 1 and no variance (docs/derivations.md, section 1).
"""

from dataclasses import dataclass

import numpy as np

from largeprompt.score_moments import score_moments


@dataclass(frozen=True, eq=False)
class EffectiveOperator:
    """Moments at each score scale, arrays of the shape of s."""

    shrinkage: np.ndarray
    along: np.ndarray
    across: np.ndarray


def softmax_moments(s: np.ndarray, L: int) -> EffectiveOperator:
    """Softmax attention: mean (1 - q) Gamma a, variances q + s^2 (kappa - q^2) and q.

    Raises InputError as `score_moments` does.
    """
    moments = score_moments(s, L)
    q = moments.q
    # The first is m2 - m1^2 without the cancellation of numbers near s^2.
    return EffectiveOperator(1 - q, q + s**2 * (moments.kappa - q**2), q)


def linear_moments(s: np.ndarray, L: int) -> EffectiveOperator:
    """Linear attention with 1/L: mean Gamma a, variances 2 s^2 / L and s^2 / L (Wishart)."""
    return EffectiveOperator(np.ones_like(s), 2 * s**2 / L, s**2 / L)
