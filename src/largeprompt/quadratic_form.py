"""Expectations of a function of s^2 = sum_i lambda_i xi_i^2, xi ~ N(0, I), to near round-off.

Weighting the law with powers of xi_i only changes its Laplace transform by simple factors, so one
contour integral gives every moment that the reduced risk needs, for any number of dimensions and
any spectrum (docs/derivations.md, 3.5).
"""

import functools
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri

_STEP = 0.12  # of the trapezoid rule in ln s^2
_NEGLIGIBLE = 1e-17  # probability beyond either end of the range of s^2
_SMALLEST_RATIO = 1e-30


@dataclass(frozen=True, eq=False)
class QuadraticForm:
    """Nodes in s^2 with the complex weights of the contour integral.

    E f(s^2) = Re sum f(s_squared) weights; each factor xi_i^2 multiplies by `factors[..., i]`.
    """

    s_squared: np.ndarray  # (node,)
    weights: np.ndarray  # (node, contour), complex
    factors: np.ndarray  # (node, contour, d), complex

    def mean(self, values: np.ndarray) -> float:
        """E f(s^2) from `values` of f at the nodes."""
        return float(np.real(values @ self.weights.sum(axis=1)))

    def mean_of_squares(self, values: np.ndarray) -> np.ndarray:
        """E f(s^2) xi_i^2, (d,)."""
        return np.real(np.einsum("nc,nci->i", values[:, None] * self.weights, self.factors))

    def mean_of_fourths(self, values: np.ndarray) -> np.ndarray:
        """E f(s^2) xi_i^2 xi_j^2, (d, d) (eq. 3.11)."""
        factors = self.factors.reshape(-1, self.factors.shape[-1])
        weighted = (values[:, None] * self.weights).reshape(-1, 1) * factors
        products = np.real(weighted.T @ factors)
        return products + 2 * np.diag(np.diag(products))


def quadratic_form(eigenvalues: np.ndarray) -> QuadraticForm:
    """The law of sum_i lambda_i xi_i^2 for `eigenvalues` >= 0, (d,), not all zero."""
    largest = eigenvalues.max()
    ratios = np.where(eigenvalues > _SMALLEST_RATIO * largest, eigenvalues / largest, 0.0)
    s_squared = _nodes(len(ratios), int(np.count_nonzero(ratios)), float(_geometric_mean(ratios)))
    contour, contour_weights = _contour(len(ratios))
    # the transform is regular right of -1/2: shifting it there keeps the tail relatively exact
    z = contour / s_squared[:, None] - 0.5  # (node, contour)
    factors = 1 / (1 + 2 * z[..., None] * ratios)
    transform = np.prod(np.sqrt(factors), axis=-1)
    weights = _STEP * np.exp(-s_squared / 2)[:, None] * transform * contour_weights
    return QuadraticForm(largest * s_squared, weights, factors)


def largest_scale(eigenvalues: np.ndarray) -> float:
    """No node of `quadratic_form` has an s beyond this."""
    return float(np.sqrt(eigenvalues.max() * chdtri(len(eigenvalues), _NEGLIGIBLE)))


def _nodes(d: int, rank: int, typical: float) -> np.ndarray:
    """Equidistant in ln s^2, for largest eigenvalue 1; below the first node P ~ (s^2)^(rank/2)."""
    first = np.log(typical) + 2 / rank * np.log(_NEGLIGIBLE)
    last = np.log(chdtri(d, _NEGLIGIBLE))
    return np.exp(np.arange(last, first, -_STEP))


def _geometric_mean(ratios: np.ndarray) -> float:
    return np.exp(np.mean(np.log(ratios[ratios > 0])))


@functools.cache
def _contour(d: int) -> tuple[np.ndarray, np.ndarray]:
    """Talbot contour of Trefethen, Weideman and Schmelzer (2006); its upper half suffices.

    The transform may be as steep as z^-(d/2 + 2), which takes more nodes; too many lose digits.
    """
    count = 2 * round(16 + 0.75 * d)
    angle = (2 * np.arange(count // 2) + 1) * np.pi / count
    cotangent, sine = 1 / np.tan(0.6407 * angle), np.sin(0.6407 * angle)
    points = count * (0.5017 * angle * cotangent - 0.6122 + 0.2645j * angle)
    slope = count * (0.5017 * cotangent - 0.5017 * 0.6407 * angle / sine**2 + 0.2645j)
    return points, 2 / (1j * count) * np.exp(points) * slope
