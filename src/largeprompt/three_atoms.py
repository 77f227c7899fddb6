"""The law that limits Prop 3.1: rare large tokens of a size that sub-Gaussianity just allows.

mu_L = (1 - 1/L) delta_0 + 1/(2L) (delta_A + delta_-A) with A = sigma sqrt(2 ln L), in d = 1, is
sigma-sub-Gaussian, and with probability near 1/e a prompt of L tokens shows no large one at all
(docs/derivations.md, section 2.5, eq. 2.16).
"""

import math

import numpy as np
from scipy.special import gammaln

from largeprompt.errors import InputError

_STEPS_PER_WIDTH = 12  # of the trapezoid rule, where a sigmoid of the query has width 1
_TAIL = 85.0  # exponent beyond which a query does not count against the result
_MOST_ATOMS = 18  # more large tokens have probability below 1e-16


def three_atom_error(tilt: float, L: float) -> float:
    """E |T[mu_hat_L](z) - T[mu_L](z)|^2 / sigma^2 for V = 1, z ~ N(0, 1), tilt = sigma^2 U^2.

    Exact sums over the numbers of large tokens, quadrature over the query. L >= 2, any size.
    Raises InputError for a tilt that is not positive or L < 2.
    """
    atom, z = _checked(tilt, L)
    limit = _output(tilt, L, z, atom, np.array(0.5), np.array(0.5), L - 1)
    plus, minus, log_mass = _counts(L)
    value = np.zeros_like(z)
    for up, down, log_p in zip(plus, minus, log_mass, strict=True):
        output = _output(tilt, L, z, atom, up, down, L - up - down)
        value += np.exp(log_p) * (output - limit) ** 2
    return float(_normal_mean(value, z))


def three_atom_fourth_moment(tilt: float, L: float) -> float:
    """E T[mu_L](z)^4 / sigma^4: bounded in L, as the conditions of Prop 3.1 ask."""
    atom, z = _checked(tilt, L)
    limit = _output(tilt, L, z, atom, np.array(0.5), np.array(0.5), L - 1)
    return float(_normal_mean(limit**4, z))


def log_mgf(a: np.ndarray, L: float) -> np.ndarray:
    """ln E exp(a X) for sigma = 1; sub-Gaussianity asks that it is at most a^2 / 2."""
    exponent = np.abs(a) * math.sqrt(2 * math.log(L))
    return np.log1p((np.cosh(np.minimum(exponent, 700)) - 1) / L)


def _checked(tilt: float, L: float) -> tuple[float, np.ndarray]:
    """A / sigma, and the queries of the quadrature: the positive half of a symmetric grid."""
    if not tilt > 0:
        raise InputError(f"tilt = {tilt}: must be positive")
    if not L >= 2:
        raise InputError(f"L = {L}: must be at least 2")
    atom = math.sqrt(2 * math.log(L))
    width = min(1.0, 1 / (math.sqrt(tilt) * atom))
    step = width / _STEPS_PER_WIDTH
    # the error is carried by |z| near A / (2 sigma sqrt(tilt)) if that is not negligible
    reach = math.sqrt(2 * _TAIL + atom**2 / (2 * tilt))
    return atom, step * np.arange(math.ceil(reach / step) + 1)


def _normal_mean(values: np.ndarray, z: np.ndarray) -> np.floating:
    """E f(z) of an even f from its values on the positive half of the grid."""
    weights = np.exp(-(z**2) / 2) * (2 * z[1] / math.sqrt(2 * math.pi))
    weights[0] /= 2
    return weights @ values


def _counts(L: float) -> tuple[np.ndarray, ...]:
    """Numbers of tokens at A and at -A with the log probability of each pair."""
    n = np.arange(min(_MOST_ATOMS, int(min(L, _MOST_ATOMS))) + 1)
    with np.errstate(divide="ignore"):  # all tokens are large with L = n: (1 - 1/L)^0
        falling = np.concatenate([[0.0], np.cumsum(np.log1p(-n[:-1] / L))])
    log_n = falling + (L - n) * math.log1p(-1 / L) - gammaln(n + 1)
    plus, minus = (x.ravel() for x in np.meshgrid(n, n, indexing="ij"))
    kept = plus + minus < len(n)
    plus, minus = plus[kept], minus[kept]
    total = plus + minus
    split = gammaln(total + 1) - gammaln(plus + 1) - gammaln(minus + 1) - total * math.log(2)
    return plus, minus, log_n[total] + split


def _output(
    tilt: float, L: float, z: np.ndarray, atom: float, up: float, down: float, zeros: float
) -> np.ndarray:
    """Attention over `zeros` tokens at 0, `up` at A, `down` at -A, divided by sigma."""
    score = math.sqrt(tilt) * z * atom  # of a token at A; >= 0
    small, smallest = np.exp(-score), np.exp(-2 * score)
    return atom * (up - down * smallest) / (up + zeros * small + down * smallest)
