"""Errors of finite softmax attention by simulation, prompt by prompt, with standard errors."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from largeprompt.attention import infinite_attention, softmax_attention_prefixes
from largeprompt.measures import TokenLaw


@dataclass(frozen=True)
class Estimate:
    """Mean of independent values and its standard error."""

    value: float
    stderr: float

    @classmethod
    def of(cls, values: np.ndarray) -> "Estimate":
        """Estimate from one value a prompt (prompt,)."""
        return cls(float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))))


def squared_distances(outputs: Tensor, target: Tensor) -> np.ndarray:
    """Mean over queries of |outputs - target|^2, (length, prompt).

    outputs (length, prompt, query, m), target (prompt, query, m). Values of one prompt at several
    lengths are dependent; those of different prompts are not.
    """
    return ((outputs - target) ** 2).sum(-1).mean(-1).numpy()


def output_errors(
    law: TokenLaw, tokens: Tensor, queries: Tensor, U: Tensor, V: Tensor, lengths: Sequence[int]
) -> np.ndarray:
    """`|T[mu_hat_L](z) - T[mu](z)|^2`, the left side of Prop 3.1 prompt by prompt.

    tokens (prompt, L, d), queries (prompt, query, d), lengths increasing: (length, prompt).
    """
    outputs = softmax_attention_prefixes(tokens[:, None], queries, U, V, lengths)
    return squared_distances(outputs, infinite_attention(law, queries, U, V))


def richardson_limit(lengths: Sequence[int], distances: np.ndarray) -> Estimate:
    """What distances `c + b / L` tend to, from the two longest lengths: an estimate of c.

    distances (length, prompt); lengths increasing, at least two.
    """
    (shorter, longer), (before, last) = lengths[-2:], distances[-2:]
    return Estimate.of((longer * last - shorter * before) / (longer - shorter))


def log_slope(lengths: Sequence[int], errors: np.ndarray) -> Estimate:
    """Least-squares slope of ln(mean error) against ln L, with its standard error.

    errors (length, prompt), positive on average. Lengths share prompts, so their means are
    dependent; the standard error comes from the influence of each prompt on the slope
    (delta method), which accounts for that.
    """
    x = np.log(lengths)
    weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()  # (length,)
    means = errors.mean(1)
    influence = weights @ (errors / means[:, None])
    return Estimate(float(weights @ np.log(means)), Estimate.of(influence).stderr)
