"""Where the infinite-prompt flow of Theorem 5.1 ends, and what a finite prompt costs there.

The end point (A*, b*) is one point on the line A = Sigma^-1 / b of infinite-prompt minimisers. On
that line s^2 = |xi|^2 / b^2 with xi ~ N(0, I_d) whatever Sigma is, so b alone sets how fast the
excess risk of a finite prompt decays: like 1/L if b^2 > 2, slower otherwise.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from largeprompt.concentration import output_error
from largeprompt.covariances import checked_covariance
from largeprompt.errors import InputError
from largeprompt.rates import one_over_L_constant

_LARGEST_B_SQUARED = 1e6
_ROUND_OFF = 1e-12


def end_point(Sigma: ArrayLike) -> tuple[np.ndarray, float]:
    """A* = Sigma^-1 / b* (d, d) and b* = tr(Sigma^-2)^(1/4), as Theorem 5.1 states them."""
    inverse = _inverse(Sigma)
    b = float(np.linalg.norm(inverse)) ** 0.5
    return inverse / b, b


def interval_end(Sigma: ArrayLike) -> float:
    """Theorem 5.1 asks for 0 < alpha < sqrt(2) / (d^(1/4) |Sigma|_op): the upper end."""
    Sigma = checked_covariance("Sigma", Sigma)
    return math.sqrt(2) / (len(Sigma) ** 0.25 * np.linalg.norm(Sigma, 2))


def theorem_start(rng: np.random.Generator, alpha: float, d: int) -> tuple[np.ndarray, float]:
    """A(0) = alpha Theta Theta^T (d, d) and b(0) = alpha, Theta random, |Theta Theta^T|_F = 1."""
    theta = rng.normal(size=(d, d))
    square = theta @ theta.T
    return alpha * square / np.linalg.norm(square), alpha


def slowest_rate(Sigma: ArrayLike) -> float:
    """The slowest exponential rate at which the infinite-prompt flow approaches (A*, b*).

    In the eigenbasis of Sigma the off-diagonal entries of A decay at b^2 s_i^2 s_j; diagonal
    entries and b at the eigenvalues of diag(b^2 s^3) + sqrt(s) sqrt(s)^T / b^2, the Gram matrix of
    the gradients of b s_i A_ii (the one direction besides, along the line, is conserved).
    """
    eigenvalues = np.linalg.eigvalsh(checked_covariance("Sigma", Sigma))
    b = end_point(np.diag(eigenvalues))[1]
    root = np.sqrt(eigenvalues)
    coupled = np.diag(b**2 * eigenvalues**3) + np.outer(root, root) / b**2
    rates = b**2 * np.outer(eigenvalues**2, eigenvalues)
    separate = rates[~np.eye(len(rates), dtype=bool)]
    return float(min(np.linalg.eigvalsh(coupled)[0], separate.min(initial=math.inf)))


def line_excess(
    Sigma: ArrayLike, b: float, noise_variance: float, lengths: Sequence[float]
) -> np.ndarray:
    """Risk above the Bayes risk at A = Sigma^-1 / b, for each prompt length (length,).

    Half the mean square of prediction - w.x_q, with w ~ N(0, I). It holds no difference of nearby
    numbers, so it keeps its digits to any length. Raises InputError for b <= 0.
    """
    return output_error(*_line_problem(Sigma, b, noise_variance), list(lengths)) / 2


def line_constant(Sigma: ArrayLike, b: float, noise_variance: float) -> float:
    """The limit of L `line_excess`, infinite exactly if b^2 <= 2 (up to round-off)."""
    if b**2 <= 2 * (1 + _ROUND_OFF):
        return math.inf
    return one_over_L_constant(*_line_problem(Sigma, b, noise_variance)) / 2


def best_constant(d: int, trace: float, noise_variance: float) -> float:
    """Limit of L times the smallest softmax excess: `line_constant` at the best b (eq. 3.13)."""

    def constant(b_squared: float) -> float:
        shrink = 1 - 2 / b_squared
        return shrink ** (-d / 2) * (b_squared * (trace + noise_variance) + trace / shrink) / 2

    bounds = (2 + 1e-9, _LARGEST_B_SQUARED)
    found = minimize_scalar(
        lambda x: constant(math.exp(x)), bounds=np.log(bounds), method="bounded"
    )
    return float(found.fun)


def linear_constant(d: int, trace: float, noise_variance: float) -> float:
    """The limit of L times the smallest excess of linear attention."""
    return (trace + d * (trace + noise_variance)) / 2


def _line_problem(Sigma: ArrayLike, b: float, noise_variance: float) -> tuple[np.ndarray, ...]:
    """Gamma, U, V and query covariance whose output error is twice the excess.

    One task stands for all: the error is linear in w w^T and, as the scores are isotropic, depends
    on it through w^T Sigma w only, whose mean is tr Sigma.
    """
    if not 0 < b < math.inf:
        raise InputError(f"b = {b}: must be positive and finite")
    inverse = _inverse(Sigma)
    Sigma = np.asarray(Sigma, dtype=float)
    d, trace = len(Sigma), np.trace(Sigma)
    w = np.eye(d)[0] * math.sqrt(trace / Sigma[0, 0])
    Gamma = np.zeros((d + 1, d + 1))
    Gamma[:d, :d] = Sigma
    Gamma[:d, d] = Gamma[d, :d] = Sigma @ w
    Gamma[d, d] = trace + noise_variance
    U, query = np.zeros((2, d + 1, d + 1))
    U[:d, :d] = inverse / b
    query[:d, :d] = Sigma
    return Gamma, U, b * np.eye(d + 1)[d:], query


def _inverse(Sigma: ArrayLike) -> np.ndarray:
    Sigma = checked_covariance("Sigma", Sigma)
    smallest = np.linalg.eigvalsh(Sigma)[0]
    if smallest <= 0:
        raise InputError(f"Sigma has the eigenvalue {smallest:.3g}: it must be invertible")
    return np.linalg.inv(Sigma)
