"""The family of Theorem 5.1, U = diag(A, 0) and v = (0, b), at every prompt length.

Its scores do not depend on the task, so the risk is an expectation over the query alone, of
quadratic forms times functions of one further quadratic form (docs/derivations.md, 3.5).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from largeprompt.covariances import square_root
from largeprompt.errors import InputError
from largeprompt.length_table import score_table
from largeprompt.quadratic_form import QuadraticForm, largest_scale, quadratic_form
from largeprompt.risk_bilinear import BilinearRisk
from largeprompt.risk_factorised import RestrictedRisk
from largeprompt.risk_problem import Problem, parameter, problem
from largeprompt.risk_softmax import SoftmaxRisk

_STARTS = (0.3, 0.6, 1.0)  # common scale of the scores, from the largest prompts to short ones
_GRADIENT_TOLERANCE = 1e-11
_STATIONARY = 1e-7  # what round-off lets every descent reach
_ROUND_OFF = 1e-10


@dataclass(frozen=True, eq=False)
class ReducedOptimum:
    """Minimiser of the reduced risk, with b > 0; `risk` carries the factor 1/2."""

    A: np.ndarray  # (d, d)
    b: float
    risk: float


def reduced_risk(
    A: ArrayLike,
    b: float,
    Sigma: ArrayLike,
    noise_variance: float,
    L: float,
    attention: str = "softmax",
    query_covariance: ArrayLike | None = None,
) -> float:
    """1/2 E (prediction - y_q)^2 at A (d, d) and b, with w ~ N(0, I) and noise on y_q.

    `query_covariance` None means Sigma. Raises InputError as `risk_problem.problem` does, or if A
    or b has another shape.
    """
    checked = problem(Sigma, noise_variance, 1.0, L, attention, query_covariance)
    A = parameter("A", A, (checked.d, checked.d))
    b = float(parameter("b", b, ()))
    if checked.is_bilinear:
        return reduced(BilinearRisk(checked)).value_and_gradient(np.append(A.ravel(), b))[0]
    root = square_root(checked.query_covariance)
    scores = checked.Sigma @ A @ root
    eigenvalues, basis = np.linalg.eigh(root @ A.T @ scores)
    product = np.sum(basis * (root @ scores @ basis), axis=0)  # diagonals in the basis of s^2
    square = np.sum((scores @ basis) ** 2, axis=0)
    of_product, of_square, q = _expectations(np.maximum(eigenvalues, 0), int(L))
    noise = checked.noise_variance
    label = np.trace(checked.Sigma) + noise
    mean = b**2 * (square @ of_square + label * q) - 2 * b * product @ of_product
    return float(np.trace(checked.query_covariance) + noise + mean) / 2


def reduced_optimum(
    Sigma: ArrayLike,
    noise_variance: float,
    L: float,
    attention: str = "softmax",
    query_covariance: ArrayLike | None = None,
) -> ReducedOptimum:
    """Minimiser (A, b) of the reduced risk; A commutes with Sigma and the query covariance.

    Linear attention and infinite prompts determine only b A, whatever the query covariance: their
    representative is the balanced one, |A| = b, where the flow of Theorem 5.1 ends. Softmax takes
    the best of several descents. Raises InputError as `risk_problem.problem` does, if Sigma is
    zero on the query inputs, or if softmax attention on a finite prompt gets a query covariance
    that does not commute with Sigma.
    """
    checked = problem(Sigma, noise_variance, 1.0, L, attention, query_covariance)
    if not np.any(checked.Sigma @ checked.query_covariance):
        raise InputError("Sigma: zero on the query inputs, no A predicts anything")
    A, b = _balanced_optimum(checked) if checked.is_bilinear else _softmax_optimum(checked)
    risk = reduced_risk(A, b, Sigma, noise_variance, L, attention, query_covariance)
    return ReducedOptimum(A, b, risk)


def reduced(full: BilinearRisk | SoftmaxRisk) -> RestrictedRisk:
    """Half the restriction of a merged risk to A and b: a risk in the vector (A by rows, b)."""
    d = full.problem.d
    D = d + 1
    block = np.arange(D * D).reshape(D, D)[:d, :d].ravel()
    return RestrictedRisk(full, D * D + D, np.append(block, D * D + D - 1), factor=0.5)


def _balanced_optimum(checked: Problem) -> tuple[np.ndarray, float]:
    """Equation (3.12)."""
    eigenvalues, basis = np.linalg.eigh(checked.Sigma)
    finite = 0.0 if checked.is_infinite else 1 / checked.L
    label = np.trace(checked.Sigma) + checked.noise_variance
    denominator = (1 + finite) * eigenvalues + finite * label
    positive = eigenvalues > 0
    product = np.divide(1.0, denominator, out=np.zeros_like(denominator), where=positive)
    b = math.sqrt(np.linalg.norm(product))
    return (basis * (product / b)) @ basis.T, b


def _expectations(eigenvalues: np.ndarray, L: int) -> tuple[np.ndarray, np.ndarray, float]:
    """E (1 - q) xi_i^2, E h xi_i^2 (d,) and E q."""
    if eigenvalues.max() == 0:
        ones = np.ones_like(eigenvalues)
        return (1 - 1 / L) * ones, (1 - 1 / L) * ones, 1 / L  # uniform weights
    form = quadratic_form(eigenvalues)
    (q, h), _ = _scores(form, eigenvalues, L)
    return form.mean_of_squares(1 - q), form.mean_of_squares(h), form.mean(q)


def _scores(form: QuadraticForm, eigenvalues: np.ndarray, L: int) -> np.ndarray:
    """(q, h) at the nodes, and their derivatives in s^2."""
    s = np.sqrt(form.s_squared)
    values, slopes = score_table(L, largest_scale(eigenvalues)).derivatives(s, order=1)
    return values, slopes / (2 * s)


@dataclass(frozen=True, eq=False)
class _Diagonal:
    """The problem in the common eigenbasis of Sigma and the query covariance, and prompt length.

    With alpha_i = sqrt(sigma_i rho_i) a_i the form s^2 is sum_i alpha_i^2 xi_i^2.
    """

    basis: np.ndarray  # (d, d)
    sigma: np.ndarray  # (d,), eigenvalues of Sigma
    gain: np.ndarray  # (d,), sqrt(sigma_i rho_i), rho the eigenvalues of the query covariance
    label: float  # variance of a label
    L: int


def _diagonal(checked: Problem) -> _Diagonal:
    basis = _common_basis(checked.Sigma, checked.query_covariance)
    sigma, rho = (
        np.maximum(np.sum(basis * (matrix @ basis), axis=0), 0)
        for matrix in (checked.Sigma, checked.query_covariance)
    )
    label = sigma.sum() + checked.noise_variance
    return _Diagonal(basis, sigma, np.sqrt(sigma * rho), label, int(checked.L))


def _common_basis(Sigma: np.ndarray, query: np.ndarray) -> np.ndarray:
    """Orthonormal eigenvectors of both (d, d), in columns; InputError unless they commute."""
    if np.abs(Sigma @ query - query @ Sigma).max() > _ROUND_OFF * np.abs(Sigma @ query).max():
        raise InputError("query_covariance: does not commute with Sigma, the optimum needs it to")
    eigenvalues, basis = np.linalg.eigh(Sigma)
    gaps = np.diff(eigenvalues) > _ROUND_OFF * eigenvalues[-1]
    for space in np.split(np.arange(len(Sigma)), np.flatnonzero(gaps) + 1):
        inside = basis[:, space]
        basis[:, space] = inside @ np.linalg.eigh(inside.T @ query @ inside)[1]
    return basis


def _softmax_optimum(checked: Problem) -> tuple[np.ndarray, float]:
    """Best of several descents over alpha."""
    diagonal = _diagonal(checked)
    gain, size = diagonal.gain, diagonal.gain.sum()
    found = [
        minimize(
            _profile,
            np.full(len(gain), start),
            args=(diagonal,),
            jac=True,
            method="BFGS",
            options={"gtol": _GRADIENT_TOLERANCE * size},
        )
        for start in _STARTS
    ]
    best = min(found, key=lambda result: result.fun)
    if np.abs(best.jac).max() > _STATIONARY * size:
        raise ArithmeticError(f"reduced optimum: {best.message}")
    numerator, denominator = _parts(best.x, diagonal)[:2]
    a = np.divide(best.x, gain, out=np.zeros_like(gain), where=gain > 0)
    A = (diagonal.basis * a) @ diagonal.basis.T
    return A, float(numerator / denominator)


def _profile(alpha: np.ndarray, diagonal: _Diagonal) -> tuple[float, np.ndarray]:
    """The risk at the best b for alpha, up to a constant, and its gradient."""
    numerator, denominator, of_numerator, of_denominator = _parts(alpha, diagonal)
    b = numerator / denominator
    return -b * numerator / 2, b**2 / 2 * of_denominator - b * of_numerator


def _parts(alpha: np.ndarray, diagonal: _Diagonal) -> tuple:
    """E x_q^T Sigma A x_q (1 - q), the coefficient of b^2, and their gradients in alpha."""
    sigma, gain, label = diagonal.sigma, diagonal.gain, diagonal.label
    form = quadratic_form(alpha**2)
    (q, h), (dq, dh) = _scores(form, alpha**2, diagonal.L)
    products, squares = form.mean_of_squares(1 - q), form.mean_of_squares(h)
    numerator = (gain * alpha) @ products
    denominator = (sigma * alpha**2) @ squares + label * form.mean(q)
    of_numerator = gain * products - 2 * alpha * (form.mean_of_fourths(dq) @ (gain * alpha))
    of_denominator = 2 * alpha * (form.mean_of_fourths(dh) @ (sigma * alpha**2))
    of_denominator += 2 * alpha * (sigma * squares + label * form.mean_of_squares(dq))
    return numerator, denominator, of_numerator, of_denominator
