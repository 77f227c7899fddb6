"""Score moments averaged over the length of the query, tabulated for fast lookup.

For x_q = r u with |u| = 1 in whitened coordinates the scale is s = r sqrt(rho), where rho is the
squared scale of the direction u. Averages over r leave functions of rho alone (equation 3.7).
"""

import functools
import math

import numpy as np

from largeprompt.gaussian_cubature import length_rule
from largeprompt.score_moments import ScoreMomentTable, cached_table

_CELLS_PER_UNIT = 256
_DEGREE = 5
_CHUNK = 4096  # nodes that stay in cache together
_SMALLEST_RHO, _SMALLEST_S = 0.5, 4.0  # ranges that every table covers


class LengthTable:
    """E r^2 (h - 1), E q and E r^2 q over r ~ chi_d, as functions of rho on [0, rho_max]."""

    def __init__(self, L: int, d: int, rho_max: float) -> None:
        self.rho_max = rho_max
        self._cells = math.ceil(_CELLS_PER_UNIT * rho_max)
        t = np.cos(np.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1))
        rho = (np.arange(self._cells) + (1 + t[:, None]) / 2) * (rho_max / self._cells)
        values = _length_averages(L, d, rho, rho_max)  # (function, node, cell)
        powers = np.linalg.solve(np.vander(t, increasing=True), values)
        self._coefficients = np.ascontiguousarray(powers.transpose(1, 0, 2))

    def __call__(self, rho: np.ndarray, order: int) -> np.ndarray:
        """(order + 1, 3, *rho.shape): derivatives in rho, which must lie in [0, rho_max]."""
        result = np.empty((order + 1, 3, rho.size))
        flat = rho.ravel()
        for first in range(0, rho.size, _CHUNK):
            part = slice(first, first + _CHUNK)
            self._horner(flat[part], result[:, :, part])
        return result.reshape(order + 1, 3, *rho.shape)

    def _horner(self, rho: np.ndarray, result: np.ndarray) -> None:
        """Fill `result` with all derivatives in one pass over the coefficients."""
        position = rho * (self._cells / self.rho_max)
        cell = np.minimum(position.astype(np.intp), self._cells - 1)
        t = 2 * (position - cell) - 1
        result[0], result[1:] = self._coefficients[-1].take(cell, axis=1), 0.0
        for coefficients in self._coefficients[-2::-1]:
            for n in range(len(result) - 1, 0, -1):
                result[n] *= t
                result[n] += result[n - 1]
            result[0] *= t
            result[0] += coefficients.take(cell, axis=1)
        for n in range(1, len(result)):
            result[n] *= math.factorial(n) * (2 * self._cells / self.rho_max) ** n


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
