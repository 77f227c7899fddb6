"""Token laws outside the assumptions: finite variance, but no exponential moment.

The infinite-prompt operator of such a law does not exist. What can be measured is how far the
outputs of two independent prompts are apart: half their mean square distance is the variance of
the output, which is at most the error against any candidate for a limit.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from largeprompt.attention import softmax_attention_prefixes
from largeprompt.errors import InputError

_FREEDOM = 3  # of Student's law: the smallest whole number with a finite variance


def _student(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.standard_t(_FREEDOM, shape) * math.sqrt((_FREEDOM - 2) / _FREEDOM)


def _lognormal(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Random sign times exp(normal - 1): every moment is finite, the variance is 1."""
    size = np.exp(rng.standard_normal(shape) - 1)
    return np.where(rng.integers(0, 2, shape, dtype=np.int8) == 1, size, -size)


_LAWS = {"student": _student, "lognormal": _lognormal}
HEAVY_TAILED = tuple(_LAWS)


def sample_heavy_tailed(name: str, rng: np.random.Generator, *shape: int) -> Tensor:
    """Tokens with independent entries of mean 0 and variance 1, float64 (*shape).

    Raises InputError for a law that is not one of `HEAVY_TAILED`.
    """
    if name not in _LAWS:
        raise InputError(f"law = {name!r}: must be one of {', '.join(HEAVY_TAILED)}")
    return torch.from_numpy(_LAWS[name](rng, shape))


def output_spread(
    tokens: Tensor, queries: Tensor, U: Tensor, V: Tensor, lengths: Sequence[int]
) -> np.ndarray:
    """Half the squared distance of two prompts' outputs, mean over queries: (length, pair).

    tokens (pair, 2, L, d), queries (pair, query, d): both prompts of a pair see its queries.
    """
    outputs = softmax_attention_prefixes(tokens[:, :, None], queries[:, None], U, V, lengths)
    gap = outputs[:, :, 0] - outputs[:, :, 1]  # (length, pair, query, m)
    return ((gap**2).sum(-1).mean(-1) / 2).numpy()
