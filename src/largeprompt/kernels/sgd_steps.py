"""Compiled steps of SGD on fresh prompts, of which only what the gradient needs is drawn.

Arrays are (row, prompt), so that inner loops run over prompts; D = d + 1.
"""

import math
from typing import NamedTuple

import numpy as np

from largeprompt.kernels import compiled
from largeprompt.kernels.columns import copy, descend, inner, multiply, outer
from largeprompt.kernels.counted_random import f32, fill_normals
from largeprompt.kernels.pooling import (
    Frame,
    infinite_coefficients,
    linear_coefficients,
    softmax_coefficients,
)

SOFTMAX, LINEAR, INFINITE = range(3)
# A value direction this close (relatively) to the score direction has no part of its own.
PARALLEL = 1e-12


class Problem(NamedTuple):
    """Attention code, prompt length, prompts a step; roots (d, d) of the input covariances.

    noise, scale: standard deviations of the noise of a label and of the entries of a task.
    """

    attention: int
    L: int
    batch: int
    root: np.ndarray
    query_root: np.ndarray
    noise: float
    scale: float


class Prompts(NamedTuple):
    """Query inputs (d, prompt), lifts `root w` (d, prompt), targets (prompt,), normals drawn.

    Rows of normals (4 D, prompt): w, x_q, target noise, N1, N2, one for linear attention.
    """

    inputs: np.ndarray
    lifts: np.ndarray
    targets: np.ndarray
    normals: np.ndarray


@compiled
def merged_steps(weights, rate, problem, keys, step, losses):
    """Take losses.size steps of plain SGD from number `step` on the weights (U, v), in place."""
    U, v = weights
    D = v.size
    exact_U, exact_v = np.empty((D, D)), np.empty((D, 1))
    slope_U, slope_v = np.empty((D, D)), np.empty((D, 1))
    for n in range(losses.size):
        copy(U, exact_U)
        copy(v.reshape(D, 1), exact_v)
        losses[n] = gradient(exact_U, exact_v, problem, keys, step + n, slope_U, slope_v)
        descend(U, rate, slope_U)
        descend(v.reshape(D, 1), rate, slope_v)


@compiled
def factorised_steps(weights, rate, problem, keys, step, losses):
    """As `merged_steps`, on the weights (Q, K, V, O): `U = K^T Q / sqrt(D)`, `v^T = O V`."""
    Q, K, V, output = weights
    D = Q.shape[0]
    exact, slope = np.empty((3, D, D)), np.empty((D, D))
    row, U, v = np.empty((1, D)), np.empty((D, D)), np.empty((D, 1))
    slope_U, slope_v, slope_row = np.empty((D, D)), np.empty((D, 1)), np.empty((1, D))
    q, k, value = exact[0], exact[1], exact[2]
    for n in range(losses.size):
        copy(Q, q)
        copy(K, k)
        copy(V, value)
        copy(output, row)
        multiply(k.T, q, U)
        for i in range(D):
            for j in range(D):
                U[i, j] /= math.sqrt(D)
        multiply(value.T, row.T, v)
        losses[n] = gradient(U, v, problem, keys, step + n, slope_U, slope_v)
        multiply(k, slope_U, slope)
        descend(Q, rate / math.sqrt(D), slope)
        multiply(q, slope_U.T, slope)
        descend(K, rate / math.sqrt(D), slope)
        multiply(row.T, slope_v.T, slope)
        descend(V, rate, slope)
        multiply(slope_v.T, value.T, slope_row)
        descend(output, rate, slope_row)


@compiled
def gradient(U, v, problem, keys, step, slope_U, slope_v):
    """Mean squared error of the batch of this step; fills its slopes in U and in v (D, 1)."""
    d, batch = problem.root.shape[0], problem.batch
    prompts = draw_prompts(problem, keys, step)
    frame = align(U, v, problem, prompts)
    first, second = draw_coefficients(problem, keys, step, frame, prompts)
    loss = 0.0
    for b in range(batch):
        error = frame.along[b] * first[0, b] + frame.across[b] * first[1, b] - prompts.targets[b]
        loss += error * error / batch
        for k in range(4):
            first[k, b] *= 2 * error / batch
            second[k, b] *= 2 * error / batch
    N1 = _off_axes(frame, prompts.normals[2 * d + 1 : 3 * d + 2])
    N2 = _off_axes(frame, prompts.normals[3 * d + 2 : 4 * d + 3])
    pooled = _colour(problem, prompts.lifts, _combine(frame, first, N1, N2))
    multiply(pooled, np.ones((batch, 1)), slope_v)
    pooled = _colour(problem, prompts.lifts, _combine(frame, second, N1, N2))
    outer(pooled, prompts.inputs, slope_U)
    return loss


@compiled
def draw_coefficients(problem, keys, step, frame, prompts):
    """Coefficients (4, prompt) of `first` and `second`."""
    first, second = np.zeros((4, problem.batch)), np.zeros((4, problem.batch))
    if problem.attention == SOFTMAX:
        softmax_coefficients(keys, step, problem.L, frame, first, second)
    elif problem.attention == LINEAR:
        linear_coefficients(keys, step, problem.L, frame, prompts.normals[-1], first, second)
    else:
        infinite_coefficients(frame, first, second)
    return first, second


@compiled
def draw_prompts(problem, keys, step):
    """The Prompts of this step, the same for every attention."""
    d, batch = problem.root.shape[0], problem.batch
    normals = np.empty((4 * d + 4, batch), f32)
    flat = normals.reshape(-1)
    fill_normals(keys.prompts, 0, step, flat[: flat.size // 2], flat[flat.size // 2 :])
    inputs, lifts, targets = np.empty((d, batch)), np.empty((d, batch)), np.empty(batch)
    multiply(problem.query_root, normals[d : 2 * d], inputs)
    multiply(problem.root, normals[:d], lifts)
    inner(normals[:d], inputs, targets)
    for b in range(batch):
        targets[b] = problem.scale * targets[b] + problem.noise * normals[2 * d, b]
        for i in range(d):
            lifts[i, b] *= problem.scale
    return Prompts(inputs, lifts, targets, normals)


@compiled
def align(U, v, problem, prompts):
    """The Frame of each prompt."""
    d, batch = prompts.inputs.shape
    queries, values = np.empty((d + 1, batch)), np.empty((d + 1, batch))
    multiply(U[:, :d], prompts.inputs, queries)
    multiply(v, np.ones((1, batch)), values)
    score_axis = _uncolour(problem, prompts.lifts, queries)
    value_axis = _uncolour(problem, prompts.lifts, values)
    score, along, across, least = np.empty(batch), np.empty(batch), np.empty(batch), np.zeros(batch)
    _normalise(score_axis, least, score)
    inner(score_axis, value_axis, along)
    inner(value_axis, value_axis, least)
    for b in range(batch):
        least[b] = PARALLEL * math.sqrt(least[b])
    for i in range(d + 1):
        for b in range(batch):
            value_axis[i, b] -= along[b] * score_axis[i, b]
    _normalise(value_axis, least, across)
    return Frame(score_axis, value_axis, score, along, across)


@compiled
def _normalise(axis, least, length):
    """Divide columns by their length, which is filled in; where it is <= least, both become 0."""
    inner(axis, axis, length)
    inverse = np.empty(length.size)
    for b in range(length.size):
        length[b] = math.sqrt(length[b])
        if length[b] <= least[b]:
            length[b] = 0
        inverse[b] = 1 / length[b] if length[b] != 0 else 0
    for i in range(axis.shape[0]):
        for b in range(length.size):
            axis[i, b] *= inverse[b]


@compiled
def _colour(problem, lifts, white):
    """`G white` (D, prompt), G = [[root, 0], [lift^T, noise]]."""
    d, batch = lifts.shape
    out = np.empty((d + 1, batch))
    multiply(problem.root, white[:d], out[:d])
    inner(lifts, white[:d], out[d])
    for b in range(batch):
        out[d, b] += problem.noise * white[d, b]
    return out


@compiled
def _uncolour(problem, lifts, columns):
    """`G^T columns` (D, prompt)."""
    d, batch = lifts.shape
    out = np.empty((d + 1, batch))
    multiply(problem.root, columns[:d], out[:d])
    for i in range(d):
        for b in range(batch):
            out[i, b] += lifts[i, b] * columns[d, b]
    for b in range(batch):
        out[d, b] = problem.noise * columns[d, b]
    return out


@compiled
def _off_axes(frame, normals):
    """Float64 copy of normals (D, prompt), orthogonal to both axes."""
    out = np.empty(normals.shape)
    score_part, value_part = np.empty(out.shape[1]), np.empty(out.shape[1])
    inner(frame.score_axis, normals, score_part)
    inner(frame.value_axis, normals, value_part)
    for i in range(out.shape[0]):
        for b in range(out.shape[1]):
            on_axes = (
                score_part[b] * frame.score_axis[i, b] + value_part[b] * frame.value_axis[i, b]
            )
            out[i, b] = normals[i, b] - on_axes
    return out


@compiled
def _combine(frame, coefficients, N1, N2):
    """The combination (D, prompt) of A, B, N1, N2."""
    A, B = frame.score_axis, frame.value_axis
    out = np.empty(A.shape)
    for i in range(out.shape[0]):
        for b in range(out.shape[1]):
            on_axes = coefficients[0, b] * A[i, b] + coefficients[1, b] * B[i, b]
            out[i, b] = on_axes + coefficients[2, b] * N1[i, b] + coefficients[3, b] * N2[i, b]
    return out
