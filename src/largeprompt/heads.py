"""One attention head in two parametrisations, each a dict of named arrays; D = d + 1.

Factorised: {Q, K, V (D, D), O (1, D)}, scores scaled by D^(-1/2), as in the experiments (paper,
section 6). Merged: {U (D, D), v (D,)}, scores not scaled, as in Theorem 5.1. Either acts through
its products U, v: the prediction is `v^T sum_i p_i z_i` with scores `<z_i, U z_q>`.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from largeprompt.errors import InputError

FACTORISED = ("Q", "K", "V", "O")
MERGED = ("U", "v")
# Names of the arrays that each kind of start draws.
STARTS = {"random": FACTORISED, "theorem": MERGED}

Arrays = dict[str, np.ndarray]


def random_weights(rng: np.random.Generator, dimension: int) -> Arrays:
    """Factorised weights for inputs of `dimension` d, entries uniform(-1/sqrt(D), 1/sqrt(D))."""
    D = dimension + 1
    shapes = {"Q": (D, D), "K": (D, D), "V": (D, D), "O": (1, D)}
    return {name: rng.uniform(-(D**-0.5), D**-0.5, shape) for name, shape in shapes.items()}


def theorem_weights(alpha: float, dimension: int) -> Arrays:
    """Merged weights of Theorem 5.1: `U = alpha [[Theta Theta^T, 0], [0, 0]]`, `v = alpha e_(d+1)`.

    Theta Theta^T = I / sqrt(d), of Frobenius norm 1. Raises InputError unless alpha > 0.
    """
    if not 0 < alpha < math.inf:
        raise InputError(f"alpha = {alpha}: must be positive and finite")
    U = np.zeros((dimension + 1, dimension + 1))
    U[:dimension, :dimension] = alpha / math.sqrt(dimension) * np.eye(dimension)
    return {"U": U, "v": alpha * np.eye(dimension + 1)[dimension]}


def products(weights: Mapping[str, Any]) -> tuple[Any, Any]:
    """The pair U (..., D, D), v (..., D) that a head acts by, score scaling included.

    Takes numpy arrays or tensors, leading dimensions (saved steps) allowed. Raises InputError if
    the names fit no parametrisation.
    """
    if set(weights) == set(MERGED):
        return weights["U"], weights["v"]
    if set(weights) == set(FACTORISED):
        Q, K = weights["Q"], weights["K"]
        return K.mT @ Q / Q.shape[-1] ** 0.5, (weights["O"] @ weights["V"])[..., 0, :]
    raise InputError(f"weights named {', '.join(weights)}: must be Q, K, V, O or U, v")


def to_vector(weights: Mapping[str, np.ndarray]) -> np.ndarray:
    """All entries of one set of weights as one vector, in the order of its names."""
    return np.concatenate([np.ravel(value) for value in weights.values()])


def from_vectors(vectors: np.ndarray, like: Mapping[str, np.ndarray]) -> Arrays:
    """Vectors (saves, parameter) back into weights (saves, ...) shaped and named as `like`."""
    ends = np.cumsum([value.size for value in like.values()])[:-1]
    parts = np.split(vectors, ends, axis=1)
    return {
        name: part.reshape(len(vectors), *value.shape)
        for (name, value), part in zip(like.items(), parts, strict=True)
    }
