"""How fast the averaged errors decay in L for Gaussian tokens, and where the rate 1/L ends."""

import math
from typing import Any

import numpy as np

from largeprompt.covariances import square_root
from largeprompt.errors import InputError
from largeprompt.gaussian_problem import gaussian_problem, query_law
from largeprompt.score_validation import prompt_lengths


def tilt(Gamma: Any, U: Any, query_covariance: Any) -> float:
    """lambda, the largest variance of the score scale's normal coordinates (eq. 2.4).

    The largest eigenvalue of S^(1/2) U^T Gamma U S^(1/2). Raises InputError as `output_error`.
    """
    Gamma, U, _ = gaussian_problem(Gamma, U)
    root = square_root(query_law(query_covariance, Gamma))
    return float(np.linalg.eigvalsh(root @ U.T @ Gamma @ U @ root)[-1])


def rate_exponent(tilt: Any) -> Any:
    """theta of `MSE = L^(-theta + o(1))` at tilt lambda >= 0: 1 up to lambda = 1/2 (eq. 2.10).

    Raises InputError for a negative tilt.
    """
    lam = np.asarray(tilt, dtype=float)
    if not (lam >= 0).all():
        raise InputError(f"tilt={tilt}: must be a number >= 0")
    # 2/(1 + sqrt(1 + 4/lam)) / lam is the same without cancellation at large lam
    slow = np.maximum(lam, 0.5)
    exponent = 2 / (slow * (1 + np.sqrt(1 + 4 / slow)))
    return exponent if exponent.ndim else float(exponent)


def one_over_L_constant(Gamma: Any, U: Any, V: Any, query_covariance: Any) -> float:
    """lim L * output_error (eq. 2.9); infinite exactly if twice the tilt is 1 or more."""
    Gamma, U, V = gaussian_problem(Gamma, U, V)
    root = square_root(query_law(query_covariance, Gamma))
    M = root @ U.T @ Gamma @ U @ root
    eigenvalues = np.linalg.eigvalsh(M)
    if 2 * eigenvalues[-1] >= 1:
        return math.inf
    image = V @ Gamma @ U @ root
    stretched = np.linalg.solve(np.eye(len(M)) - 2 * M, image.T)
    growth = np.prod(1 - 2 * eigenvalues) ** -0.5
    return float(growth * (np.trace(V @ Gamma @ V.T) + np.sum(image.T * stretched)))


def local_exponent(L: Any, error: Any) -> np.ndarray:
    """-d ln(error) / d ln(L) by central differences, at increasing `L`; for finite L not theta.

    Raises InputError unless both are sequences of one length >= 2, increasing and positive.
    """
    L, error = prompt_lengths(L), np.asarray(error, dtype=float)
    if L.ndim != 1 or L.shape != error.shape or L.size < 2 or not (np.diff(L) > 0).all():
        raise InputError("L, error: must be two sequences of one length >= 2, L increasing")
    if not (error > 0).all():
        raise InputError(f"error={error.min()}: must be positive")
    return -np.gradient(np.log(error), np.log(L))
