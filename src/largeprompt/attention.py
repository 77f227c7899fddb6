"""Attention as an operator on token laws (paper, section 2): softmax, linear, infinite prompt.

Each operator reads out two moments of the tokens. With `a = U z` for a query z:

    softmax, L tokens   first = sum_i p_i z_i, p = softmax(<z_i, a>)   second = covariance under p
    linear, L tokens    first = S a                                    second = S = mean z_i z_i^T
    infinite prompt     first = gradient of the log mgf at a           second = its Hessian

The output is `V first`; since second is the derivative of first in a, the gradients follow.
Leading axes broadcast: tokens (prompt, 1, L, d) with query (query, d) give (prompt, query, m).
All tensors of a call share one dtype, which is the dtype of the result. Gradients also flow
through every function by autograd.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from largeprompt.errors import InputError
from largeprompt.measures import TokenLaw

# Scores (or centred tokens) held at once; larger chunks leave the processor's cache.
CHUNK_ELEMENTS = 1 << 18
# A chunk is never smaller than this, however many prompts and queries share it.
CHUNK_TOKENS = 16


@dataclass(frozen=True, eq=False)
class Gradients:
    """Derivative of output k in V_ij, `V` (..., m, m, d), and in U_ij, `U` (..., m, d, d)."""

    V: Tensor
    U: Tensor


def softmax_attention(tokens: Tensor, query: Tensor, U: Tensor, V: Tensor) -> Tensor:
    """Softmax attention over the tokens (..., L, d), any L >= 1: (..., m).

    Scores of any finite size; memory independent of L. Raises InputError on shapes that
    do not fit.
    """
    return softmax_attention_prefixes(tokens, query, U, V, tokens.shape[-2:-1])[0]


def softmax_attention_prefixes(
    tokens: Tensor, query: Tensor, U: Tensor, V: Tensor, lengths: Sequence[int]
) -> Tensor:
    """Softmax attention over the first L tokens for each L of `lengths`: (length, ..., m).

    One pass over the tokens. `lengths` increase strictly within 1..L, else InputError.
    """
    _check(query, U, V, tokens)
    prefixes = _prefixes(tokens, query @ U.mT, lengths, spread=False)
    return torch.stack([part.mean @ V.mT for part in prefixes])


def softmax_attention_gradients(tokens: Tensor, query: Tensor, U: Tensor, V: Tensor) -> Gradients:
    """Gradients of `softmax_attention`."""
    prefix = softmax_attention_prefix_gradients(tokens, query, U, V, tokens.shape[-2:-1])
    return Gradients(V=prefix.V[0], U=prefix.U[0])


def softmax_attention_prefix_gradients(
    tokens: Tensor, query: Tensor, U: Tensor, V: Tensor, lengths: Sequence[int]
) -> Gradients:
    """Gradients of `softmax_attention_prefixes`: the axis of `lengths` comes first."""
    _check(query, U, V, tokens)
    prefixes = list(_prefixes(tokens, query @ U.mT, lengths, spread=True))
    first = torch.stack([part.mean for part in prefixes])
    second = torch.stack([part.covariance for part in prefixes])
    return _gradients(first, second, query, V)


def linear_attention(tokens: Tensor, query: Tensor, U: Tensor, V: Tensor) -> Tensor:
    """`(1/L) sum_i V z_i <z_i, U z>`: (..., m). Raises InputError on shapes that do not fit."""
    _check(query, U, V, tokens)
    return _apply(_second_moment(tokens), query @ U.mT) @ V.mT


def linear_attention_gradients(tokens: Tensor, query: Tensor, U: Tensor, V: Tensor) -> Gradients:
    """Gradients of `linear_attention`."""
    _check(query, U, V, tokens)
    second = _second_moment(tokens)
    return _gradients(_apply(second, query @ U.mT), second, query, V)


def infinite_attention(law: TokenLaw, query: Tensor, U: Tensor, V: Tensor) -> Tensor:
    """Attention over the law itself, the limit of a long prompt: (..., m).

    For Gaussian tokens this is `V mean + V covariance U z` (paper, Lemma 2.1). Raises InputError
    on shapes that do not fit.
    """
    _check(query, U, V)
    return law.tilted_mean(query @ U.mT).to(query.dtype) @ V.mT


def infinite_attention_gradients(law: TokenLaw, query: Tensor, U: Tensor, V: Tensor) -> Gradients:
    """Gradients of `infinite_attention`."""
    _check(query, U, V)
    a = query @ U.mT
    first, second = law.tilted_mean(a), law.tilted_covariance(a)
    return _gradients(first.to(query.dtype), second.to(query.dtype), query, V)


def _gradients(first: Tensor, second: Tensor, query: Tensor, V: Tensor) -> Gradients:
    identity = torch.eye(V.shape[0], dtype=V.dtype, device=V.device)
    return Gradients(
        V=identity[:, :, None] * first[..., None, None, :],  # (..., m, m, d)
        U=(V @ second)[..., None] * query[..., None, None, :],  # (..., m, d, d)
    )


def _apply(matrix: Tensor, vector: Tensor) -> Tensor:
    return torch.einsum("...ij,...j->...i", matrix, vector)


def _second_moment(tokens: Tensor) -> Tensor:
    return tokens.mT @ tokens / tokens.shape[-2]  # (..., d, d)


@dataclass(frozen=True, eq=False)
class _Part:
    """Softmax moments of some of a prompt's tokens, so that two parts can be merged.

    The weights `exp(score - shift)` sum to `mass`. Shift and mass stay apart because their
    logarithmic sum would lose digits at large scores.
    """

    shift: Tensor  # (...)
    mass: Tensor  # (...)
    mean: Tensor  # (..., d)
    covariance: Tensor | None  # (..., d, d)

    @classmethod
    def of(cls, tokens: Tensor, a: Tensor, spread: bool) -> "_Part":
        # einsum, not matmul: matmul would copy the tokens once per query.
        scores = torch.einsum("...td,...d->...t", tokens, a)
        shift = scores.detach().amax(-1)
        weights = (scores - shift[..., None]).exp()
        mass = weights.sum(-1)
        mean = torch.einsum("...t,...td->...d", weights, tokens) / mass[..., None]
        if not spread:
            return cls(shift, mass, mean, None)
        centred = tokens - mean[..., None, :]  # (..., token, d)
        covariance = (weights[..., None] * centred).mT @ centred / mass[..., None, None]
        return cls(shift, mass, mean, covariance)

    def merge(self, other: "_Part") -> "_Part":
        shift = torch.maximum(self.shift, other.shift)
        kept = self.mass * (self.shift - shift).exp()
        added = other.mass * (other.shift - shift).exp()
        mass = kept + added
        kept, added = (kept / mass)[..., None], (added / mass)[..., None]
        mean = kept * self.mean + added * other.mean
        if self.covariance is None:
            return _Part(shift, mass, mean, None)
        gap = other.mean - self.mean
        between = (kept * added * gap)[..., :, None] * gap[..., None, :]
        within = kept[..., None] * self.covariance + added[..., None] * other.covariance
        return _Part(shift, mass, mean, within + between)


def _prefixes(tokens: Tensor, a: Tensor, lengths: Sequence[int], spread: bool) -> Iterator[_Part]:
    """Moments of the first L tokens for each L of `lengths`, reading every token once."""
    whole = None
    for start, stop in pairwise([0, *_checked_lengths(lengths, tokens.shape[-2])]):
        for part in _parts(tokens[..., start:stop, :], a, spread):
            whole = part if whole is None else whole.merge(part)
        yield whole


def _parts(tokens: Tensor, a: Tensor, spread: bool) -> Iterator[_Part]:
    pairs = math.prod(torch.broadcast_shapes(tokens.shape[:-2], a.shape[:-1]))
    width = a.shape[-1] if spread else 1
    size = max(CHUNK_ELEMENTS // max(pairs * width, 1), CHUNK_TOKENS)
    for chunk in tokens.split(size, dim=-2):
        yield _Part.of(chunk, a, spread)


def _checked_lengths(lengths: Sequence[int], longest: int) -> list[int]:
    lengths = list(lengths)
    steps = [0, *lengths]
    if not lengths or lengths[-1] > longest or any(b <= a for a, b in pairwise(steps)):
        raise InputError(f"lengths: are {lengths}, must increase strictly within 1..{longest}")
    return lengths


def _check(query: Tensor, U: Tensor, V: Tensor, tokens: Tensor | None = None) -> None:
    """InputError unless the shapes fit and all dtypes agree."""
    d = query.shape[-1] if query.ndim else 0
    if U.shape != (d, d):
        raise InputError(f"U: has shape {tuple(U.shape)}, must be {(d, d)} to fit the query")
    if V.ndim != 2 or V.shape[1] != d:
        raise InputError(f"V: has shape {tuple(V.shape)}, must be (m, {d}) to fit the query")
    given = [query, U, V] if tokens is None else [query, U, V, tokens]
    if len({tensor.dtype for tensor in given}) > 1:
        raise InputError("tokens, query, U, V: have different dtypes, must share one")
    if tokens is not None:
        _check_tokens(tokens, query)


def _check_tokens(tokens: Tensor, query: Tensor) -> None:
    shape, d = tuple(tokens.shape), query.shape[-1]
    if tokens.ndim < 2 or shape[-1] != d or shape[-2] < 1:
        raise InputError(f"tokens: have shape {shape}, must be (..., L, {d}) with L >= 1")
    try:
        torch.broadcast_shapes(shape[:-2], query.shape[:-1])
    except RuntimeError:
        raise InputError(
            f"tokens: leading axes {shape[:-2]} do not broadcast with the query's "
            f"{tuple(query.shape[:-1])}"
        ) from None
