"""In-context regression with one-dimensional tokens of any law, at finite prompts (numpy).

Tokens (x, w x + noise), scores a x_q x: the risk needs three moments of the weights, which are
integrals of the form (1.6) of docs/derivations.md, for any law that can be summed over.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from largeprompt.errors import InputError

LAWS = ("gaussian", "cube", "mixture")
_STEP = 0.2  # of the trapezoid rule in tau: aliasing below 1e-15 (derivations, 1.4)
_GAUSSIAN_STEP, _GAUSSIAN_NODES = 0.2, 43  # on either side; none at 0, where both sides meet
_MIXTURE_MEAN = 0.8  # of the two components; the variance of the mixture is 1
_NEGLIGIBLE = 41.0  # e^-41 of what is kept
_SCORES = (1e-3, 2.0)  # range of a, the scale of the scores


@dataclass(frozen=True, eq=False)
class ScalarLaw:
    """A law of mean 0 and variance 1, symmetric, as nodes and weights (n,) of a sum."""

    nodes: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True)
class ScalarOptimum:
    """Best score scale a and output scale b, and the risk above that of the true task."""

    a: float
    b: float
    excess: float


def scalar_law(name: str) -> ScalarLaw:
    """N(0, 1), uniform on [-sqrt 3, sqrt 3] (`cube`), or two normal components (`mixture`)."""
    x = _GAUSSIAN_STEP * (np.arange(-_GAUSSIAN_NODES, _GAUSSIAN_NODES) + 0.5)
    normal = np.exp(-(x**2) / 2)
    normal /= normal.sum()
    if name == "gaussian":
        return ScalarLaw(x, normal)
    if name == "cube":
        nodes, weights = np.polynomial.legendre.leggauss(32)
        return ScalarLaw(math.sqrt(3) * nodes, weights / 2)
    if name == "mixture":
        spread = math.sqrt(1 - _MIXTURE_MEAN**2) * x
        nodes = np.concatenate([spread - _MIXTURE_MEAN, spread + _MIXTURE_MEAN])
        return ScalarLaw(nodes, np.tile(normal / 2, 2))
    raise InputError(f"law = {name!r}: must be one of {', '.join(LAWS)}")


def weight_moments(law: ScalarLaw, slope: float, L: float) -> np.ndarray:
    """E sum p_i x_i, E (sum p_i x_i)^2 and E sum p_i^2 for p = softmax(slope x), L tokens."""
    x, weights = law.nodes, law.weights
    scores = slope * x
    first = -math.log(L) - scores.max() - _NEGLIGIBLE  # below, L E eta is negligible
    last = -math.log(L) - scores.min() + math.log(_NEGLIGIBLE)  # above, Phi^L is
    tau = np.arange(first, last, _STEP)
    eta = np.exp(tau[:, None] + scores)  # (tau, node)
    decay = np.exp(-eta)
    log_phi = _log_mean(eta, decay, weights)
    one_x = (eta * decay) @ (weights * x)
    two, two_xx = ((eta**2 * decay) @ (weights * factor) for factor in (np.ones_like(x), x**2))
    others, remaining = np.exp((L - 1) * log_phi), np.exp((L - 2) * log_phi)
    mean = one_x @ others
    square = two_xx @ others + (L - 1) * one_x**2 @ remaining
    return L * _STEP * np.array([mean, square, two @ others])


def scalar_excess(law: ScalarLaw, a: float, b: float, noise_variance: float, L: float) -> float:
    """Risk at score scale a and output scale b above noise_variance / 2, with w ~ N(0, 1)."""
    parts = _parts(law, a, noise_variance, L)
    return float(b**2 * parts[1] - 2 * b * parts[0] + 1) / 2


def scalar_optimum(law: ScalarLaw, noise_variance: float, L: float) -> ScalarOptimum:
    """The best a and b. Digits are lost beyond L = 1e9, where the excess is a small difference."""

    def best_excess(log_a: float) -> float:
        cross, square = _parts(law, math.exp(log_a), noise_variance, L)
        return (1 - cross**2 / square) / 2

    found = minimize_scalar(best_excess, bounds=np.log(_SCORES), method="bounded")
    a = math.exp(found.x)
    cross, square = _parts(law, a, noise_variance, L)
    return ScalarOptimum(a, float(cross / square), float(found.fun))


def _parts(law: ScalarLaw, a: float, noise_variance: float, L: float) -> np.ndarray:
    """Coefficients of -b and of b^2 / 2 in the risk, averaged over the query."""
    half = law.nodes > 0  # both parts are even in the query
    queries, weights = law.nodes[half], 2 * law.weights[half]
    moments = np.array([weight_moments(law, a * x, L) for x in queries])
    cross = moments[:, 0] * queries
    return weights @ np.stack([cross, moments[:, 1] + noise_variance * moments[:, 2]], axis=1)


def _log_mean(eta: np.ndarray, decay: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """ln E exp(-eta), relatively exact at both ends."""
    missing = -np.expm1(-eta) @ weights
    direct = np.log(np.maximum(decay @ weights, np.finfo(float).tiny))
    return np.where(missing < 0.5, np.log1p(-np.minimum(missing, 0.5)), direct)
