"""Expectations of symmetric functions of p = softmax(s g), g iid N(0, 1), as one-dimensional sums.

Everything reduces to chi_{a,f}(tau) = E f(y) eta^a e^{-eta} and Phi(tau) = E e^{-eta} with
eta = e^{tau + s g} (docs/derivations.md, eq. 1.5): bounded functions that do not depend on L. The
prompt length enters only through a power of Phi, so one s serves all lengths at once.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import ndtr

# A factor (a, f) is the sum over tokens of p_i^a f(y_i); f lists coefficients, lowest first.
Factor = tuple[int, tuple[float, ...]]

STEP = 0.2  # of the trapezoidal sums in tau and in s g: relative error below 1e-14 (eq. 1.8)
_DENSE_BELOW = 0.5  # smaller s: a lattice in s g would need needlessly many points
_DENSE_STEPS = 2  # the step in g is then this many times the step in tau
_LEFT = 9.5  # Gaussian mass to its left: 1e-21
_NEGLIGIBLE = -300.0  # in a logarithm


class ScoreQuadrature:
    """The sums for one scale `s` >= 0 and the prompt lengths `L` (a 1-d array).

    `degree` is the largest total power of p that will be asked for. Factors are polynomials in
    y = g - shift: the weighted mean of g lies near `shift`, so their moments are not large numbers
    that cancel.
    """

    def __init__(self, s: float, L: np.ndarray, degree: int, step: float = STEP):
        self.L = np.asarray(L, dtype=float)
        log_L = math.log(self.L.max())
        reach = math.sqrt(2 * (2 * log_L + 41)) + 0.5  # no token of the prompt lies beyond
        self.shift = min(s, math.sqrt(2 * log_L))
        low = -(log_L + 20.5 + min(degree * s * s / 2, s * reach))
        lattice = range(math.floor(low / step), math.ceil((_LEFT * s + 4.5) / step) + 1)
        transform = _Dense if s < _DENSE_BELOW else _Lattice
        self._transform = transform(s, lattice, step, reach, self.shift)
        # at large s everything varies with tau on the scale s / reach at the fastest
        self._stride = max(1, int(s / reach))
        self._step = step * self._stride
        log_phi = self._transform.log_phi()[:: self._stride]
        # Phi decreases in tau, so what survives the largest power is a prefix of the lattice
        self._kept = max(1, int(np.sum((self.L.min() - 8) * log_phi > _NEGLIGIBLE)))
        self._log_phi = log_phi[: self._kept]
        self._chi: dict[Factor, np.ndarray] = {}
        self._power: dict[int, np.ndarray] = {}

    def expectation(self, *factors: Factor) -> np.ndarray:
        """E of the product of the factors, of total power 2 to `degree`, over L (eq. 1.7)."""
        total = np.zeros_like(self.L)
        for blocks, count in Counter(_set_partitions(factors)).items():
            total += count * self._distinct(blocks)
        return total

    def _distinct(self, blocks: Sequence[Factor]) -> np.ndarray:
        """Sum over distinct tokens, one for each block (eq. 1.6)."""
        integrand = math.prod((self._chi_of(block) for block in blocks), start=np.ones(self._kept))
        # terms that cannot be seen in the sum would only be slow subnormal numbers
        size = np.abs(integrand)
        integrand[size < 1e-150 * size.max()] = 0
        tokens, degree = len(blocks), sum(power for power, _ in blocks)
        choices = math.prod(self.L - i for i in range(tokens))
        return choices * (self._phi_power(tokens) @ integrand) * (self._step / math.gamma(degree))

    def _chi_of(self, factor: Factor) -> np.ndarray:
        if factor not in self._chi:
            self._chi[factor] = self._transform.chi(*factor)[:: self._stride][: self._kept]
        return self._chi[factor]

    def _phi_power(self, tokens: int) -> np.ndarray:
        """Phi^(L - tokens), (length, tau); where L < tokens the number of choices is zero."""
        if tokens not in self._power:
            exponent = np.maximum(self.L - tokens, 0.0)
            log_power = exponent[:, None] * self._log_phi
            log_power[log_power < _NEGLIGIBLE] = -math.inf
            self._power[tokens] = np.exp(log_power)
        return self._power[tokens]


class _Dense:
    """chi and Phi with the scores on their own grid, for small s."""

    def __init__(self, s: float, lattice: range, step: float, reach: float, shift: float):
        spacing = _DENSE_STEPS * step
        g = np.arange(-_LEFT, reach + spacing, spacing)
        self._y = g - shift
        self._weight = spacing * _density(g)
        self._u = step * np.array(lattice)[:, None] + s * g  # (tau, score)

    def log_phi(self) -> np.ndarray:
        exponential = np.exp(self._u)
        return _log_phi(-np.expm1(-exponential) @ self._weight, np.exp(-exponential) @ self._weight)

    def chi(self, power: int, f: tuple[float, ...]) -> np.ndarray:
        return _kernel(self._u, power) @ (self._weight * np.polynomial.Polynomial(f)(self._y))


class _Lattice:
    """chi and Phi as correlations: tau and s g share one lattice, so no two-dimensional table."""

    def __init__(self, s: float, lattice: range, step: float, reach: float, shift: float):
        low = lattice[0] * step - _LEFT * s - 41
        if s > reach:  # eta^a falls faster than the Gaussian weight can rise
            low = max(low, -41 / (1 - reach / s))
        kernel = range(math.floor(low / step), math.ceil(6.7 / step) + 1)
        self._step = step
        self._u = step * np.array(kernel)
        self._g = (step / s) * np.arange(kernel[0] - lattice[-1], kernel[-1] - lattice[0] + 1)
        self._y = self._g - shift
        self._weight = (step / s) * _density(self._g)

    def log_phi(self) -> np.ndarray:
        """Phi as the mean of a normal distribution function over a Gumbel law (section 1.4)."""
        gumbel = self._step * _kernel(self._u, 1)
        return _log_phi(
            np.correlate(ndtr(-self._g), gumbel, "valid")[::-1],
            np.correlate(ndtr(self._g), gumbel, "valid")[::-1],
        )

    def chi(self, power: int, f: tuple[float, ...]) -> np.ndarray:
        weight = self._weight * np.polynomial.Polynomial(f)(self._y)
        return np.correlate(weight, _kernel(self._u, power), "valid")[::-1]


def _kernel(u: np.ndarray, power: int) -> np.ndarray:
    """eta^power e^{-eta} at eta = e^u."""
    return np.exp(power * u - np.exp(u))


def _log_phi(complement: np.ndarray, phi: np.ndarray) -> np.ndarray:
    small = complement < 0.5
    return np.where(small, np.log1p(-np.where(small, complement, 0)), np.log(phi))


def _density(g: np.ndarray) -> np.ndarray:
    return np.exp(-0.5 * g * g) / math.sqrt(2 * math.pi)


def _set_partitions(factors: Sequence[Factor]) -> Iterator[tuple[Factor, ...]]:
    """Ways in which the tokens of a product of sums coincide: sorted tuples of merged factors."""
    if not factors:
        yield ()
        return
    first, *rest = factors
    for blocks in _set_partitions(rest):
        yield tuple(sorted((first, *blocks)))
        for i, block in enumerate(blocks):
            merged = (first[0] + block[0], _product(first[1], block[1]))
            yield tuple(sorted((merged, *blocks[:i], *blocks[i + 1 :])))


def _product(f: tuple[float, ...], g: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(map(float, np.polynomial.polynomial.polymul(f, g)))
