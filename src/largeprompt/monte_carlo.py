"""Errors of finite softmax attention by simulation, prompt by prompt."""

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from largeprompt.attention import infinite_attention, softmax_attention_prefixes
from largeprompt.measures import TokenLaw


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
