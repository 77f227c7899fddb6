"""What a head does to an infinite prompt, and how far that is from the optimum.

Given the task w the prediction of products U (D, D), v (D,) is v^T Gamma_w U (x_q, 0), D = d + 1.
With the blocks v = (v_x, b), U_xx (d, d) and u, the last row of U, it is quadratic in w:
v_x^T Sigma U_xx x_q + w^T Sigma B x_q + b (w^T Sigma w + noise) u^T x_q, B = b U_xx + v_x u^T. The
optimum has B = Sigma^-1 and no other part.

Which pairs act alike: the last column of U never acts. Linear attention and infinite prompts act
by the products of an entry of v with one of U, so that (c U, v / c) acts alike for every c != 0.
Softmax attention on finite prompts leaves no such freedom: its scores fix the scale and the sign
of U. (-U, -v) is another function there, of the same risk as the law of the query is symmetric.
The freedom of the factors Q, K, V, O is gone in the products.
"""

import numpy as np

from largeprompt.errors import InputError


def linear_part(U: np.ndarray, v: np.ndarray) -> np.ndarray:
    """B (..., d, d) of products U (..., D, D), v (..., D)."""
    direct = v[..., -1, None, None] * U[..., :-1, :-1]
    return direct + v[..., :-1, None] * U[..., -1:, :-1]


def product_distance(U: np.ndarray, v: np.ndarray, target: np.ndarray) -> np.ndarray:
    """|B - target| / |target| in the Frobenius norm, (...), for a target (d, d).

    Raises InputError if target has another shape than B or is zero.
    """
    product = linear_part(U, v)
    if np.shape(target) != product.shape[-2:] or not np.any(target):
        raise InputError(
            f"target: must be a non-zero matrix of shape {product.shape[-2:]}, like the product"
        )
    return np.linalg.norm(product - target, axis=(-2, -1)) / np.linalg.norm(target)


def balanced(U: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pair (c U, v / c) with |c U| = |v / c| and last entry of v >= 0; last column of U zero.

    It acts like U (..., D, D), v (..., D) on infinite prompts and in linear attention. The product
    B does not depend on c, so that its sign cannot fix that of c. Raises InputError if v or what
    acts of U is zero.
    """
    U = np.concatenate([U[..., :-1], np.zeros_like(U[..., -1:])], axis=-1)
    size_U, size_v = np.linalg.norm(U, axis=(-2, -1)), np.linalg.norm(v, axis=-1)
    if not (np.all(size_U) and np.all(size_v)):
        raise InputError("U, v: one is zero, the pair has no balanced form")
    c = np.sqrt(size_v / size_U) * np.where(v[..., -1] < 0, -1.0, 1.0)
    return c[..., None, None] * U, v / c[..., None]


def idle_share(U: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Share (...) of the squared weight of the balanced pair outside U_xx and b.

    It is 0 on the family of Theorem 5.1. Raises InputError as `balanced` does.
    """
    U, v = balanced(U, v)
    used = np.sum(U[..., :-1, :-1] ** 2, axis=(-2, -1)) + v[..., -1] ** 2
    return 1 - used / (np.sum(U**2, axis=(-2, -1)) + np.sum(v**2, axis=-1))
