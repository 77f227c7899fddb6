"""The family of Theorem 5.1, U = diag(A, 0) and v = (0, b), at every prompt length.

Its scores do not depend on the task, so the risk is an expectation over the query alone, of
quadratic forms times functions of one further quadratic form (docs/derivations.md, 3.5).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from largeprompt.errors import InputError
from largeprompt.length_table import score_table
from largeprompt.quadratic_form import QuadraticForm, largest_scale, quadratic_form
from largeprompt.risk_bilinear import BilinearRisk
from largeprompt.risk_factorised import RestrictedRisk
from largeprompt.risk_problem import Problem, parameter, problem, square_root
from largeprompt.risk_softmax import SoftmaxRisk

_STARTS = (0.3, 0.6, 1.0)  # common scale of the scores, from the largest prompts to short ones
_GRADIENT_TOLERANCE = 1e-11
_STATIONARY = 1e-7  # what round-off lets every descent reach


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
) -> float:
    """1/2 E (prediction - y_q)^2 at A (d, d) and b, with w ~ N(0, I) and noise on y_q.

    Raises InputError as `risk_problem.problem` does, or if A or b has another shape.
    """
    checked = problem(Sigma, noise_variance, 1.0, L, attention)
    A = parameter("A", A, (checked.d, checked.d))
    b = float(parameter("b", b, ()))
    if checked.is_bilinear:
        return reduced(BilinearRisk(checked)).value_and_gradient(np.append(A.ravel(), b))[0]
    Sigma, root = checked.Sigma, square_root(checked.Sigma)
    scores = Sigma @ A @ root
    eigenvalues, basis = np.linalg.eigh(root @ A.T @ scores)
    product = np.sum(basis * (root @ scores @ basis), axis=0)  # diagonals in the basis of s^2
    square = np.sum((scores @ basis) ** 2, axis=0)
    of_product, of_square, q = _expectations(np.maximum(eigenvalues, 0), int(L))
    label = np.trace(Sigma) + checked.noise_variance
    mean = b**2 * (square @ of_square + label * q) - 2 * b * product @ of_product
    return float(label + mean) / 2


def reduced_optimum(
    Sigma: ArrayLike, noise_variance: float, L: float, attention: str = "softmax"
) -> ReducedOptimum:
    """Minimiser (A, b) of the reduced risk; A commutes with Sigma.

    Linear attention and infinite prompts determine only b A: their representative is the balanced
    one, |A| = b, where the flow of Theorem 5.1 ends. Softmax takes the best of several descents.
    Raises InputError as `risk_problem.problem` does, or if Sigma is zero.
    """
    checked = problem(Sigma, noise_variance, 1.0, L, attention)
    eigenvalues, basis = np.linalg.eigh(checked.Sigma)
    eigenvalues = np.maximum(eigenvalues, 0)
    if eigenvalues.max() == 0:
        raise InputError("Sigma: zero, every A and b has the same risk")
    if checked.is_bilinear:
        diagonal, b = _balanced_optimum(checked, eigenvalues)
    else:
        diagonal, b = _softmax_optimum(checked, eigenvalues)
    A = (basis * diagonal) @ basis.T
    return ReducedOptimum(A, b, reduced_risk(A, b, Sigma, noise_variance, L, attention))


def reduced(full: BilinearRisk | SoftmaxRisk) -> RestrictedRisk:
    """Half the restriction of a merged risk to A and b: a risk in the vector (A by rows, b)."""
    d = full.problem.d
    D = d + 1
    block = np.arange(D * D).reshape(D, D)[:d, :d].ravel()
    return RestrictedRisk(full, D * D + D, np.append(block, D * D + D - 1), factor=0.5)


def _balanced_optimum(checked: Problem, eigenvalues: np.ndarray) -> tuple[np.ndarray, float]:
    """Equation (3.12), in the eigenbasis of Sigma."""
    finite = 0.0 if checked.is_infinite else 1 / checked.L
    label = eigenvalues.sum() + checked.noise_variance
    denominator = (1 + finite) * eigenvalues + finite * label
    product = np.divide(1.0, denominator, out=np.zeros_like(denominator), where=eigenvalues > 0)
    b = math.sqrt(np.linalg.norm(product))
    return product / b, b


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


def _softmax_optimum(checked: Problem, eigenvalues: np.ndarray) -> tuple[np.ndarray, float]:
    """Best of several descents over alpha_i = sigma_i a_i; s^2 is sum_i alpha_i^2 xi_i^2."""
    found = [
        minimize(
            _profile,
            np.full(len(eigenvalues), start),
            args=(checked, eigenvalues),
            jac=True,
            method="BFGS",
            options={"gtol": _GRADIENT_TOLERANCE * eigenvalues.sum()},
        )
        for start in _STARTS
    ]
    best = min(found, key=lambda result: result.fun)
    if np.abs(best.jac).max() > _STATIONARY * eigenvalues.sum():
        raise ArithmeticError(f"reduced optimum: {best.message}")
    alpha = best.x
    numerator, denominator = _parts(alpha, checked, eigenvalues)[:2]
    a = np.divide(alpha, eigenvalues, out=np.zeros_like(alpha), where=eigenvalues > 0)
    return a, float(numerator / denominator)


def _profile(
    alpha: np.ndarray, checked: Problem, eigenvalues: np.ndarray
) -> tuple[float, np.ndarray]:
    """The risk at the best b for alpha_i = sigma_i a_i, up to a constant, and its gradient."""
    numerator, denominator, of_numerator, of_denominator = _parts(alpha, checked, eigenvalues)
    b = numerator / denominator
    return -b * numerator / 2, b**2 / 2 * of_denominator - b * of_numerator


def _parts(alpha: np.ndarray, checked: Problem, eigenvalues: np.ndarray) -> tuple:
    """E x_q^T Sigma A x_q (1 - q), the coefficient of b^2, and their gradients in alpha."""
    form = quadratic_form(alpha**2)
    (q, h), (dq, dh) = _scores(form, alpha**2, int(checked.L))
    label = eigenvalues.sum() + checked.noise_variance
    products, squares = form.mean_of_squares(1 - q), form.mean_of_squares(h)
    numerator = (eigenvalues * alpha) @ products
    denominator = (eigenvalues * alpha**2) @ squares + label * form.mean(q)
    of_numerator = -2 * alpha * (form.mean_of_fourths(dq) @ (eigenvalues * alpha))
    of_numerator += eigenvalues * products
    of_denominator = 2 * alpha * (form.mean_of_fourths(dh) @ (eigenvalues * alpha**2))
    of_denominator += 2 * alpha * (eigenvalues * squares + label * form.mean_of_squares(dq))
    return numerator, denominator, of_numerator, of_denominator
