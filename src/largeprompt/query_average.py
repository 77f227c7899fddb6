"""Averages E f(s) P(z) over Gaussian queries, where s^2 = z^T U^T Gamma U z (derivations, 2.2).

The Laplace transform of the law of s^2, also when weighted with a polynomial P, has a closed form
in any dimension. It is inverted on a contour, at points s shared by query laws of similar size.
"""

import math
from functools import cached_property

import numpy as np

from largeprompt.covariances import square_root

_STEP = 0.125  # of x in s = c ln(1 + e^x), at few degrees of freedom
_CONTOUR_POINTS = 96
_RANK_TOLERANCE = 1e-14  # eigenvalues this small against the largest are zero


class QueryAverage:
    """The law of the score scale for z ~ N(0, query_covariance).

    `longest` is the largest prompt length: f may be as small as 1 / longest at s = 0 and as large
    as 1 further out, so the points must reach where the probability is small against that.
    """

    def __init__(
        self, Gamma: np.ndarray, U: np.ndarray, query_covariance: np.ndarray, longest: float
    ):
        root = square_root(query_covariance)
        variances, directions = np.linalg.eigh(root.T @ U.T @ Gamma @ U @ root)
        variances[variances < _RANK_TOLERANCE * variances[-1]] = 0
        self._variances = np.maximum(variances, 0)  # (d,) ascending
        self._from_normal = root @ directions  # z = from_normal @ xi, xi ~ N(0, I)
        # in powers, so that similar laws share their points and the caller can keep f there
        self._unit = 2.0 ** max(0, round(0.5 * math.log2(max(self._variances[-1], 1e-9))))
        self._step = self._fine_step()
        x = self._lattice(longest)
        self.scales = self._unit * np.log1p(np.exp(x))  # (point,)
        self._spacing = self._step * self._unit / (1 + np.exp(-x))

    def mean(self, *forms: np.ndarray) -> float:
        """E of the product of the quadratic forms z^T A z."""
        return float(_wick(np.ones((1, self._variances.size)), *map(self._in_normal, forms))[0])

    def weights(self, *forms: np.ndarray) -> np.ndarray:
        """(point,) such that E f(s) prod z^T A z is their sum with f(s), if f(0) = 0 (eq. 2.7)."""
        forms = tuple(map(self._in_normal, forms))
        if self.scales.size == 0:
            return np.zeros(0)
        density = [
            (g * _wick(covariance, *forms)).real.sum()
            for g, covariance in zip(*self._contour, strict=True)
        ]
        return 2 * self._spacing * self.scales * np.array(density)

    def _in_normal(self, form: np.ndarray) -> np.ndarray:
        return self._from_normal.T @ form @ self._from_normal

    def _fine_step(self) -> float:
        """Fine enough for the law of ln s, which narrows as many equal variances add up (2.8)."""
        squares = np.sum(self._variances**2)
        freedom = self._variances.sum() ** 2 / squares if squares else 1.0
        return _STEP / 2 ** (max(0, math.ceil(math.log2((freedom + 8) / 16))) / 2)

    def _lattice(self, longest: float) -> np.ndarray:
        """x of the points: from where f(s) - f(0) ~ s^2 times the mass ~ s is nothing (eq. 2.8)."""
        top = self._variances[-1]
        if top == 0:
            return np.zeros(0)
        tail = 45 + math.log(longest)
        spread = math.sqrt(np.sum(self._variances**2) * tail)
        highest = math.sqrt(self._variances.sum() + 2 * spread + 2 * top * tail) / self._unit
        lowest = math.log(1e-17 * math.sqrt(top)) / 3 - math.log(self._unit)
        last = highest + math.log(-math.expm1(-highest))
        return self._step * np.arange(
            math.floor(lowest / self._step), math.ceil(last / self._step) + 1
        )

    @cached_property
    def _contour(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights (point, node) and complex covariances (point, node, d) of eq. 2.6."""
        v = self.scales**2
        lam = self._variances
        top = lam[-1]
        saddle = self._saddle(v)
        reach = np.sqrt(1 + 42 / (saddle * v))
        step = (reach / _CONTOUR_POINTS)[:, None]
        w = step * (np.arange(_CONTOUR_POINTS) + 0.5)
        u = saddle[:, None] * (1 + 1j * w) ** 2
        scale = (1 - lam / top) + 2 * lam * u[..., None]  # 1 + 2 t lambda
        log_g = v[:, None] * (u - 0.5 / top) - 0.5 * np.log(scale).sum(-1)
        return 2 * step / math.pi * saddle[:, None] * (1 + 1j * w) * np.exp(log_g), 1 / scale

    def _saddle(self, v: np.ndarray) -> np.ndarray:
        """u > 0 at which e^{uv} times the transform is least on the real axis, by bisection."""
        lam = self._variances[self._variances > 0]
        low, high = 0.5 / v, 0.5 * lam.size / v
        for _ in range(30):
            middle = np.sqrt(low * high)
            mean = (lam / ((1 - lam / lam[-1]) + 2 * middle[:, None] * lam)).sum(-1)
            low, high = np.where(mean > v, middle, low), np.where(mean > v, high, middle)
        return np.sqrt(low * high)


def _wick(covariance: np.ndarray, *forms: np.ndarray) -> np.ndarray:
    """E prod xi^T A xi for xi_i of variance `covariance` (node, d), up to 3 forms (eq. 2.5)."""
    if not forms:
        return np.ones(len(covariance))
    if len(forms) == 1:
        return covariance @ np.diag(forms[0])
    first, *rest = forms
    trace = covariance @ np.diag(first)
    total = trace * _wick(covariance, *rest)
    # pairing one end of `first` with one end of another form chains the two matrices
    for i, form in enumerate(rest):
        others = rest[:i] + rest[i + 1 :]
        total = total + _chained(covariance, first, form, *others)
    return total


def _chained(
    covariance: np.ndarray, first: np.ndarray, second: np.ndarray, *others: np.ndarray
) -> np.ndarray:
    pair = 2 * np.sum((covariance @ (first * second)) * covariance, -1)
    if not others:
        return pair
    (third,) = others
    chain = (covariance[:, :, None] * first * covariance[:, None, :]) @ second  # (node, i, k)
    triple = np.sum(chain * third * covariance[:, None, :], (-2, -1))
    return pair * (covariance @ np.diag(third)) + 4 * triple
