"""Score moments averaged over the length of the query, tabulated for fast lookup.

For x_q = r u with |u| = 1 in whitened coordinates the scale is s = r sqrt(rho), where rho is the
squared scale of the direction u. Averages over r leave functions of rho alone (equation 3.7).
"""

import functools
import math

import numpy as np

from largeprompt.gaussian_cubature import length_rule
from largeprompt.kernels import length_lookup as kernel
from largeprompt.score_moments import ScoreMomentTable, cached_table

_CELLS_PER_UNIT = 256
_SMALLEST_RHO, _SMALLEST_S = 2.0, 4.0  # ranges that every table covers


class LengthTable:
    """E r^2 (h - 1), E q and E r^2 q over r ~ chi_d, as functions of rho on [0, rho_max]."""

    def __init__(self, L: int, d: int, rho_max: float) -> None:
        self.rho_max = rho_max
        self._cells = math.ceil(_CELLS_PER_UNIT * rho_max)
        t = np.cos(np.pi * (np.arange(kernel.DEGREE + 1) + 0.5) / (kernel.DEGREE + 1))
        rho = (np.arange(self._cells) + (1 + t[:, None]) / 2) * (rho_max / self._cells)
        values = _length_averages(L, d, rho, rho_max)  # (function, node, cell)
        powers = np.linalg.solve(np.vander(t, increasing=True), values)
        self._coefficients = np.ascontiguousarray(powers.transpose(1, 0, 2))

    def derivatives(self, rho: np.ndarray) -> np.ndarray:
        """(3, 3, *rho.shape): values, slopes and curvatures in rho, all within [0, rho_max]."""
        found = kernel.derivatives(rho.ravel(), self._coefficients, self._cells / self.rho_max)
        return found.reshape(3, kernel.FUNCTIONS, *rho.shape)

    def gradient_moments(
        self,
        rho: np.ndarray,
        means: np.ndarray,
        variance: np.ndarray,
        targets: np.ndarray,
        powers: tuple[np.ndarray, ...],
    ) -> tuple[np.ndarray, ...]:
        """What `kernels.length_lookup` sums for the gradient, at rho within [0, rho_max]."""
        table = self._coefficients, self._cells / self.rho_max
        return kernel.gradient_moments(rho, means, variance, targets, powers, *table)


def length_table(L: int, d: int, rho_max: float) -> LengthTable:
    """A table that covers [0, rho_max], shared between calls."""
    return _cached(L, d, _covering(rho_max, _SMALLEST_RHO, 2.0))


def score_table(L: int, s_max: float) -> ScoreMomentTable:
    """A table of q and h that covers [0, s_max], shared between calls."""
    return cached_table(L, _covering(s_max, _SMALLEST_S, math.sqrt(2)))


def _covering(needed: float, smallest: float, ratio: float) -> float:
    """The first of smallest, smallest ratio, ... that is at least `needed`."""
    if needed <= smallest:
        return smallest
    return smallest * ratio ** math.ceil(math.log(needed / smallest, ratio) + 1e-9)


@functools.lru_cache(maxsize=64)
def _cached(L: int, d: int, rho_max: float) -> LengthTable:
    return LengthTable(L, d, rho_max)


def _length_averages(L: int, d: int, rho: np.ndarray, rho_max: float) -> np.ndarray:
    lengths = length_rule(d, 32 * math.ceil(1 + math.sqrt(rho_max)))  # steps in s stay alike
    scores = score_table(L, float(lengths.nodes[-1] * math.sqrt(rho_max)))
    averages = np.zeros((3, *rho.shape))
    for r, weight in zip(lengths.nodes, lengths.weights, strict=True):
        q, h = scores.derivatives(r * np.sqrt(rho), order=0)[0]
        averages += weight * np.stack([r * r * (h - 1), q, r * r * q])
    return averages
