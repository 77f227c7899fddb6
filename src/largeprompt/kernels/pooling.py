"""Compiled samplers of what attention pools from a prompt, seen from the score and value axes.

A token is `G xi` with `G G^T = Gamma_w`, xi standard normal. The loss gradient sees the tokens of
a prompt through two vectors: `first` (the pooled token, gradient in v) and `second` (the pooled
covariance times v, gradient in U). Both are G times a combination of

    A ~ G^T U z_q,  B ~ G^T v made orthogonal to A,  normals N1, N2 orthogonal to both,

and attentions differ in the law of the coefficients alone (docs/performance.md, Training).
Coefficients are (A, B, N1, N2; prompt).
"""

import math
from typing import NamedTuple

import numpy as np

from largeprompt.kernels import compiled
from largeprompt.kernels.counted_random import (
    chi_square,
    exponential,
    f32,
    fill_normals,
    i32,
    normal_pair,
    random_words,
    u32,
)

# Indices are unsigned, or else each would be tested for its sign, which keeps loops out of SIMD.
unsigned = np.uintp
# Tokens drawn at once: their float32 arrays stay in the processor's nearest cache.
CHUNK_TOKENS = 4096


class Frame(NamedTuple):
    """Axes A, B (D, prompt); `G^T U z_q = score A`, `G^T v = along A + across B` (prompt,).

    The axes are orthonormal, save that one is zero where score or across is.
    """

    score_axis: np.ndarray
    value_axis: np.ndarray
    score: np.ndarray
    along: np.ndarray
    across: np.ndarray


class Keys(NamedTuple):
    """Keys of the streams: all that attentions draw alike, then what each draws its own way."""

    prompts: tuple[np.uint32, np.uint32]
    tokens: tuple[np.uint32, np.uint32]
    trials: tuple[np.uint32, np.uint32]


@compiled
def infinite_coefficients(frame, first, second):
    """The law itself: `first = Gamma U z_q`, `second = Gamma v`."""
    for b in range(frame.score.size):
        first[0, b], second[0, b], second[1, b] = frame.score[b], frame.along[b], frame.across[b]


@compiled
def softmax_coefficients(keys, step, L, frame, first, second):
    """Softmax over L tokens, of which only the parts along A and B are drawn.

    Given them the rest is normal: it enters `first` weighted by p, `second` by p times the
    centred value. Memory is 12 bytes a token of one prompt.
    """
    batch = frame.score.size
    group = max(1, min(batch, CHUNK_TOKENS // L))
    scores, values = np.empty(group * L, f32), np.empty(group * L, f32)
    tokens = scores, scores.view(i32), values, np.empty(group * L, f32)
    sums = np.empty((8, batch), f32)
    for start in range(0, batch, group):
        count = min(group, batch - start)
        fill_normals(keys.tokens, start * L, step, scores[: count * L], values[: count * L])
        for i in range(count):
            _pool(frame, start + i, tokens, unsigned(i * L), unsigned((i + 1) * L), sums)
    for b in range(batch):
        mass, norm, mixed = sums[0, b], math.sqrt(sums[1, b]), sums[6, b] / sums[1, b]
        first[0, b], first[1, b], first[2, b] = sums[2, b], sums[3, b], norm / mass
        second[0, b], second[1, b] = sums[4, b] / mass, sums[5, b] / mass
        second[2, b] = mixed * norm / mass
        second[3, b] = math.sqrt(max(sums[7, b] - mixed * sums[6, b], 0)) / mass


@compiled
def _pool(frame, b, tokens, start, stop, sums):
    """Fill column b of the eight sums over tokens that the coefficients are made of.

    tokens: their parts along A, the bits of these, their parts along B, room for weights.
    """
    scores, bits, values, weights = tokens
    top = _largest(bits, start, stop)
    score, along, across = f32(frame.score[b]), f32(frame.along[b]), f32(frame.across[b])
    mass = norm = score_mean = value_mean = f32(0)
    for i in range(start, stop):
        weight = exponential(score * (scores[i] - top))
        weights[i] = weight
        mass += weight
        norm += weight * weight
        score_mean += weight * scores[i]
        value_mean += weight * values[i]
    score_mean /= mass
    value_mean /= mass
    score_spread = value_spread = mixed = square = f32(0)
    for i in range(start, stop):
        off_score, off_value = scores[i] - score_mean, values[i] - value_mean
        part = weights[i] * (along * off_score + across * off_value)
        score_spread += part * off_score
        value_spread += part * off_value
        mixed += part * weights[i]
        square += part * part
    sums[0, b], sums[1, b], sums[2, b], sums[3, b] = mass, norm, score_mean, value_mean
    sums[4, b], sums[5, b], sums[6, b], sums[7, b] = score_spread, value_spread, mixed, square


@compiled
def _largest(bits, start, stop):
    """Largest float32 from its bits, compared as integers of the same order: that runs in SIMD."""
    top = i32(-(2**31))
    for i in range(start, stop):
        top = max(top, i32(bits[i] ^ i32((bits[i] >> i32(31)) & i32(2**31 - 1))))
    return i32(top ^ i32((top >> i32(31)) & i32(2**31 - 1))).view(f32)


@compiled
def linear_coefficients(keys, step, L, frame, below, first, second):
    """Linear attention over L tokens: two columns of their Wishart matrix, by Bartlett's factor.

    The factor's columns are (head, below, N1) and (0, tail, N2), head and tail chi with L and
    L - 1 degrees of freedom (with none, the column is missing), below normal (prompt,).
    """
    batch = below.size
    normals, words = np.empty((2, batch), f32), np.empty((2, batch), u32)
    fill_normals(keys.tokens, 0, step, normals[0], normals[1])
    for b in range(batch):
        words[0, b], words[1, b] = random_words(keys.trials, b, step)
    for b in range(batch):
        head = _chi(L, keys, step, b, batch, 0, normals[0, b], words[0, b])
        tail = _chi(L - 1, keys, step, b, batch, 1, normals[1, b], words[1, b])
        score, across = frame.score[b] / L, frame.across[b] / L
        mixed = frame.along[b] / L * head + across * below[b]
        first[0, b], first[1, b] = score * head * head, score * head * below[b]
        first[2, b] = score * head
        second[0, b], second[1, b] = mixed * head, mixed * below[b] + across * tail * tail
        second[2, b], second[3, b] = mixed, across * tail


@compiled
def _chi(freedom, keys, step, index, stride, which, x, word):
    """Root of a chi-square; x and word are its trial at `index`, the next one a stride further."""
    if freedom == 0:
        return 0.0
    value = chi_square(freedom, x, word)
    while value < 0:
        index += stride
        first, second = random_words(keys.tokens, index, step)
        x = normal_pair(first, second)[which]
        value = chi_square(freedom, x, random_words(keys.trials, index, step)[which])
    return math.sqrt(value)
