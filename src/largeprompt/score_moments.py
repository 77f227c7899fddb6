"""Moments of the attention weights of Gaussian tokens: p = softmax(s g), g iid N(0, 1), L tokens.

The output and gradient errors of softmax attention at a finite prompt depend on the prompt law
only through the scalars of this module (docs/derivations.md, section 1). They are exact sums with
a relative error near 1e-14, for any L and any s: no expansion in s or in 1/L is as good anywhere.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from largeprompt.errors import InputError
from largeprompt.score_sums import covariance_sums, weight_sums
from largeprompt.score_table import ScoreMomentTable, TableValues, cached_table
from largeprompt.score_validation import LARGEST_GRADIENT_L, prompt_lengths, scales

__all__ = [
    "GradientMoments",
    "ScoreMomentTable",
    "ScoreMoments",
    "TableValues",
    "cached_table",
    "gradient_moments",
    "score_moments",
]


@dataclass(frozen=True)
class ScoreMoments:
    """q = E sum p_i^2 and relatives (eq. 1.1, 1.2); `dq` and `dh` are derivatives in s."""

    q: np.ndarray
    h: np.ndarray
    m1: np.ndarray
    m2: np.ndarray
    kappa: np.ndarray
    dq: np.ndarray
    dh: np.ndarray


@dataclass(frozen=True)
class GradientMoments:
    """Moments of the weighted covariance of the tokens (eq. 1.9), in the order of that list."""

    A1: np.ndarray
    beta: np.ndarray
    A2: np.ndarray
    q22: np.ndarray
    tau: np.ndarray


def score_moments(s: Any, L: Any) -> ScoreMoments:
    """Moments of the weights at every pair of the broadcast arrays `s` >= 0 and `L`.

    With q = E sum p_i^2 and h of eq. (1.2): m1 = E sum p_i g_i = s (1 - q),
    m2 = E (sum p_i g_i)^2 = s^2 h + q, kappa = h - 1 + 2 q without its cancellation.
    Raises InputError for a negative s, a value that is no number, an L that is no integer >= 1.
    """
    s, L = _broadcast(s, L)
    q, kappa, slope_q, slope_h = _at_each_pair(weight_sums, 4, s, L)
    h = 1 - 2 * q + kappa
    return ScoreMoments(
        q=q,
        h=h,
        m1=s * (1 - q),
        m2=s * s * h + q,
        kappa=kappa,
        dq=2 * s * slope_q,
        dh=2 * s * slope_h,
    )


def gradient_moments(s: Any, L: Any) -> GradientMoments:
    """Scalars of the gradient errors at every pair of `s` and `L` <= 1e24 (eq. 1.9).

    Errors as above.
    """
    prompt_lengths(L, LARGEST_GRADIENT_L)
    return GradientMoments(*_at_each_pair(covariance_sums, 5, *_broadcast(s, L)))


def _broadcast(s: Any, L: Any) -> tuple[np.ndarray, np.ndarray]:
    s, L = scales(s), prompt_lengths(L)
    try:
        return tuple(np.broadcast_arrays(s, L))
    except ValueError:
        raise InputError(f"s of shape {s.shape} and L of shape {L.shape}: do not fit") from None


def _at_each_pair(sums: Callable, count: int, s: np.ndarray, L: np.ndarray) -> np.ndarray:
    """(count, *shape) values of `sums`, called once for each distinct s with all of its L."""
    result = np.empty((count, s.size))
    distinct, which = np.unique(s, return_inverse=True)
    order = np.argsort(which, axis=None, kind="stable")
    pairs = np.split(order, np.cumsum(np.bincount(which.ravel())))[:-1]
    for value, pair in zip(distinct, pairs, strict=True):
        lengths, back = np.unique(L.ravel()[pair], return_inverse=True)
        result[:, pair] = np.array(sums(float(value), lengths))[:, back]
    return result.reshape(count, *s.shape)
