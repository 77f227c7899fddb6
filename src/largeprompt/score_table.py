"""Fast q(s, L) and h(s, L) for one prompt length: piecewise polynomials in s on [0, s_max]."""

import functools
import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev

from largeprompt.errors import InputError
from largeprompt.score_sums import participation
from largeprompt.score_validation import prompt_lengths, scales

_TAIL = 2e-13  # largest trailing Chebyshev coefficient of a resolved function
_COUNTS = (32, 64, 128, 256)  # of Chebyshev coefficients on a segment, the first nearly always do
_CELLS_PER_UNIT = 16
_DEGREE = 9


@dataclass(frozen=True)
class TableValues:
    """q, h and their first two derivatives in s: arrays or tensors of the shape asked for."""

    q: Any
    h: Any
    dq: Any
    dh: Any
    d2q: Any
    d2h: Any


class ScoreMomentTable:
    """q and h of prompt length `L` on [0, s_max] (docs/derivations.md, section 1.6).

    Absolute errors below 1e-11 in q and h (q also relative), 1e-9 in the first and 1e-7 in the
    second derivatives. Raises InputError for an unusable `L` or `s_max`, and for any s outside.
    """

    def __init__(self, L: int, s_max: float):
        self._L = prompt_lengths(L)
        self.s_max = float(scales(s_max, "s_max"))
        if self._L.ndim != 0 or self.s_max == 0:
            raise InputError(f"L={L}, s_max={s_max}: one prompt length and s_max > 0 are needed")
        self.L = int(self._L)
        self._cells = math.ceil(_CELLS_PER_UNIT * max(1.0, self.s_max))
        self._coefficients = self._piecewise()

    def __call__(self, s: Any) -> TableValues:
        """Values at `s`; a tensor gives tensors that can be differentiated twice in s."""
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(s, torch.Tensor):
            from largeprompt.score_table_torch import lookup

            return TableValues(*(v for order in range(3) for v in lookup(s, self, order)))
        values = self.derivatives(np.asarray(s, dtype=float), order=2)
        return TableValues(*(v for pair in values for v in pair))

    def derivatives(self, s: np.ndarray, order: int) -> np.ndarray:
        """(order + 1, 2, *s.shape): derivatives 0..order in s of (q, h)."""
        if s.size and not (s.min() >= 0 and s.max() <= self.s_max):
            raise InputError(
                f"s from {s.min()} to {s.max()}: the table for L={self.L} covers [0, {self.s_max}]"
            )
        position = s.ravel() * (self._cells / self.s_max)
        cell = np.minimum(position.astype(np.intp), self._cells - 1)
        t = 2 * (position - cell) - 1
        coefficients = np.take(self._coefficients, cell, axis=-1)  # (degree, function, point)
        result = np.zeros((order + 1, 2, t.size))
        for coefficient in coefficients[::-1]:
            for n in range(order, 0, -1):
                result[n] *= t
                result[n] += result[n - 1]
            result[0] *= t
            result[0] += coefficient
        for n in range(2, order + 1):
            result[n] *= math.factorial(n)
        scale = (2 * self._cells / self.s_max) ** np.arange(order + 1)
        return (result * scale[:, None, None]).reshape(order + 1, 2, *s.shape)

    def _piecewise(self) -> np.ndarray:
        """(degree + 1, function, cell): q and h on each cell as polynomials in t in [-1, 1]."""
        t = np.cos(math.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1))
        s = (np.arange(self._cells) + (1 + t[:, None]) / 2) * (self.s_max / self._cells)
        log_q, ratio = _log_q_and_ratio(s, self.L)
        q = np.exp(log_q)
        values = np.stack([q, 1 - 2 * q + q * ratio])  # (function, node, cell)
        return np.linalg.solve(np.vander(t, increasing=True), values).transpose(1, 0, 2)


def _log_q_and_ratio(s: np.ndarray, L: int) -> np.ndarray:
    """(2, *s.shape): ln q and kappa / q, from segments [0, 1], [1, 2], [2, 4], [4, 8], ..."""
    result = np.empty((2, *s.shape))
    segment = np.frexp(np.maximum(s, 0.5))[1]
    for k in np.unique(segment):
        low, high = _ends(k)
        x = (2 * s[segment == k] - low - high) / (high - low)
        result[:, segment == k] = chebyshev.chebval(x, _resolved(L, int(k)))
    return result


def _ends(segment: int) -> tuple[float, float]:
    return (2.0 ** (segment - 1) if segment else 0.0), 2.0**segment


@functools.lru_cache(maxsize=256)
def _resolved(L: int, segment: int) -> np.ndarray:
    """Chebyshev coefficients (power, function) on a segment, as many as bring the tail to noise."""
    low, high = _ends(segment)
    for count in _COUNTS:
        s = low + (high - low) * np.cos(0.5 * math.pi * np.arange(count + 1) / count) ** 2
        coefficients = _chebyshev_coefficients(np.array([_sums(value, L) for value in s]))
        if np.abs(coefficients[-count // 8 :]).max() < _TAIL:
            break
    return coefficients


def _sums(s: float, L: int) -> tuple[float, float]:
    (q,), (kappa,) = participation(s, np.array([L]))
    return math.log(q), kappa / q


def _chebyshev_coefficients(values: np.ndarray) -> np.ndarray:
    """Interpolation coefficients from the values at cos(pi j / n), j = 0..n, along axis 0."""
    n = len(values) - 1
    coefficients = np.fft.irfft(values, n=2 * n, axis=0)[: n + 1] * 2
    coefficients[[0, n]] /= 2
    return coefficients


@functools.lru_cache(maxsize=64)
def cached_table(L: int, s_max: float) -> ScoreMomentTable:
    """One table per process for the same (L, s_max)."""
    return ScoreMomentTable(L, s_max)
