"""Compiled steps of SGD on fresh prompts, of which only what the gradient needs is drawn.

Arrays are (row, prompt), so that inner loops run over prompts; D = d + 1.
"""

import math
from typing import NamedTuple

import numpy as np

from largeprompt.kernels import compiled
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
        _copy(U, exact_U)
        _copy(v.reshape(D, 1), exact_v)
        losses[n] = gradient(exact_U, exact_v, problem, keys, step + n, slope_U, slope_v)
        _descend(U, rate, slope_U)
        _descend(v.reshape(D, 1), rate, slope_v)


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
        _copy(Q, q)
        _copy(K, k)
        _copy(V, value)
        _copy(output, row)
        _multiply(k.T, q, U)
        for i in range(D):
            for j in range(D):
                U[i, j] /= math.sqrt(D)
        _multiply(value.T, row.T, v)
        losses[n] = gradient(U, v, problem, keys, step + n, slope_U, slope_v)
        _multiply(k, slope_U, slope)
        _descend(Q, rate / math.sqrt(D), slope)
        _multiply(q, slope_U.T, slope)
        _descend(K, rate / math.sqrt(D), slope)
        _multiply(row.T, slope_v.T, slope)
        _descend(V, rate, slope)
        _multiply(slope_v.T, value.T, slope_row)
        _descend(output, rate, slope_row)


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
    _multiply(pooled, np.ones((batch, 1)), slope_v)
    pooled = _colour(problem, prompts.lifts, _combine(frame, second, N1, N2))
    _outer(pooled, prompts.inputs, slope_U)
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
    _multiply(problem.query_root, normals[d : 2 * d], inputs)
    _multiply(problem.root, normals[:d], lifts)
    _inner(normals[:d], inputs, targets)
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
    _multiply(U[:, :d], prompts.inputs, queries)
    _multiply(v, np.ones((1, batch)), values)
    score_axis = _uncolour(problem, prompts.lifts, queries)
    value_axis = _uncolour(problem, prompts.lifts, values)
    score, along, across, least = np.empty(batch), np.empty(batch), np.empty(batch), np.zeros(batch)
    _normalise(score_axis, least, score)
    _inner(score_axis, value_axis, along)
    _inner(value_axis, value_axis, least)
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
    _inner(axis, axis, length)
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
    _multiply(problem.root, white[:d], out[:d])
    _inner(lifts, white[:d], out[d])
    for b in range(batch):
        out[d, b] += problem.noise * white[d, b]
    return out


@compiled
def _uncolour(problem, lifts, columns):
    """`G^T columns` (D, prompt)."""
    d, batch = lifts.shape
    out = np.empty((d + 1, batch))
    _multiply(problem.root, columns[:d], out[:d])
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
    _inner(frame.score_axis, normals, score_part)
    _inner(frame.value_axis, normals, value_part)
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


@compiled
def _multiply(matrix, columns, out):
    """out = matrix @ columns; the long axis is columns' last."""
    for i in range(out.shape[0]):
        for b in range(out.shape[1]):
            out[i, b] = 0
        for j in range(columns.shape[0]):
            for b in range(out.shape[1]):
                out[i, b] += matrix[i, j] * columns[j, b]


@compiled
def _inner(left, right, out):
    """out[b] = sum over rows of left[:, b] right[:, b]."""
    for b in range(out.size):
        out[b] = 0
    for i in range(left.shape[0]):
        for b in range(out.size):
            out[b] += left[i, b] * right[i, b]


@compiled
def _outer(pooled, inputs, out):
    """out (D, D) = pooled @ inputs^T, its last column zero: a query has no label."""
    for i in range(out.shape[0]):
        for j in range(inputs.shape[0]):
            total = 0.0
            for b in range(inputs.shape[1]):
                total += pooled[i, b] * inputs[j, b]
            out[i, j] = total
        out[i, -1] = 0


@compiled
def _copy(source, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = source[i, j]


@compiled
def _descend(weight, rate, slope):
    for i in range(weight.shape[0]):
        for j in range(weight.shape[1]):
            weight[i, j] -= rate * slope[i, j]
