"""The infinite-prompt operator by its definition: weighted points, no formula for the law (numpy).

Lemma 2.1 says what exponential weights do to a Gaussian law. Everything here only sums
`exp(<x, a>)` over points x of the law, on a grid or drawn, so it can check that formula.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np

from largeprompt.covariances import checked_covariance, square_root
from largeprompt.errors import InputError

_GRID_STEP = 0.5  # trapezoid error of a Gaussian integral: exp(-2 pi^2 / step^2) = 1e-34
_GRID_REACH = 9.0  # Gaussian mass beyond: 1e-19
_LEGENDRE_NODES = 40
_CHUNK = 1 << 21  # scores held at once


@dataclass(frozen=True, eq=False)
class WeightedPoints:
    """A law as points (point, d) with the logarithms of their masses (point,), up to a constant."""

    points: np.ndarray
    log_masses: np.ndarray

    def tilted_mean(self, a: np.ndarray) -> np.ndarray:
        """Mean under the weights `exp(<x, a>)`: (..., d) -> (..., d)."""
        flat = a.reshape(-1, a.shape[-1])
        rows = max(1, _CHUNK // len(self.points))
        parts = [self._tilted(flat[i : i + rows]) for i in range(0, len(flat), rows)]
        return np.concatenate(parts).reshape(a.shape)

    def _tilted(self, a: np.ndarray) -> np.ndarray:
        scores = a @ self.points.T + self.log_masses  # (query, point)
        weights = np.exp(scores - scores.max(1, keepdims=True))
        return weights @ self.points / weights.sum(1, keepdims=True)

    def image(self, matrix: np.ndarray, shift: np.ndarray) -> "WeightedPoints":
        """The law of `matrix @ X + shift`."""
        return WeightedPoints(self.points @ matrix.T + shift, self.log_masses)


def gaussian_points(mean: np.ndarray, Gamma: np.ndarray, largest_tilt: float) -> WeightedPoints:
    """N(mean, Gamma) on a grid that is exact to round-off for `|Gamma^(1/2) a| <= largest_tilt`.

    The grid has (about 40 + 4 largest_tilt)^d points. Raises InputError for d > 3.
    """
    d = len(mean)
    if d > 3:
        raise InputError(f"dimension = {d}: a grid is for at most 3, draw points instead")
    root = square_root(checked_covariance("Gamma", Gamma))
    edge = _GRID_REACH + largest_tilt
    axis = _GRID_STEP * np.arange(-np.ceil(edge / _GRID_STEP), np.ceil(edge / _GRID_STEP) + 1)
    normal = np.stack(np.meshgrid(*[axis] * d, indexing="ij"), -1).reshape(-1, d)
    return WeightedPoints(mean + normal @ root, -0.5 * np.sum(normal**2, -1))


def sign_points(dimension: int) -> WeightedPoints:
    """Independent fair signs."""
    points = np.array(list(product((-1.0, 1.0), repeat=dimension)))
    return WeightedPoints(points, np.zeros(len(points)))


def cube_points(dimension: int) -> WeightedPoints:
    """Uniform on the cube of covariance I, by Gauss and Legendre's rule."""
    nodes, weights = np.polynomial.legendre.leggauss(_LEGENDRE_NODES)
    points = np.array(list(product(np.sqrt(3) * nodes, repeat=dimension)))
    return WeightedPoints(points, np.log(list(product(weights, repeat=dimension))).sum(-1))


def sampled_tilted_mean(
    rng: np.random.Generator, mean: np.ndarray, Gamma: np.ndarray, a: np.ndarray, tokens: int
) -> tuple[np.ndarray, np.ndarray]:
    """The tilted mean (d,) from drawn tokens, and the covariance (d, d) of its sampling error.

    Self-normalised importance sampling from N(mean, Gamma) itself; the covariance is that of the
    delta method. About `tokens exp(-a^T Gamma a)` tokens carry the weight.
    """
    root = square_root(checked_covariance("Gamma", Gamma))
    x = mean + rng.standard_normal((tokens, len(mean))) @ root
    scores = x @ a
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    value = weights @ x
    deviations = weights[:, None] * (x - value)
    return value, deviations.T @ deviations
