"""For which constants a bound `c1 sigma^a ln(L)^b / L^(c2 / sigma^2)` holds, from exact errors.

`error` (sigma, length) are errors at the grid of `sigma` (sigma,) and `L` (length,), L >= 2.
"""

from dataclasses import dataclass

import numpy as np

from largeprompt.errors import InputError


@dataclass(frozen=True)
class Factor:
    """sigma^a ln(L)^b; Prop 3.1 has a = 6, b = 1, the gradient in U of Prop 3.4 a = 12, b = 2."""

    sigma_power: float
    log_power: float


PAPER = {"output": Factor(6, 1), "gradient_v": Factor(6, 1), "gradient_u": Factor(12, 2)}


def needed_constant(
    error: np.ndarray, sigma: np.ndarray, L: np.ndarray, c2: float, factor: Factor
) -> np.ndarray:
    """The smallest c1 that each cell (sigma, length) allows; their maximum is that of the bound.

    Raises InputError if some L < 2, where the logarithm leaves nothing of the bound.
    """
    return np.exp(_log_ratio(error, sigma, L, factor) + c2 * _slope(sigma, L))


def largest_c2(error: np.ndarray, sigma: np.ndarray, L: np.ndarray, factor: Factor) -> float:
    """The c2 beyond which the c1 needed still grows at the two longest prompts, for some sigma.

    As they grow longer this tends to the largest c2 for which the bound can hold at all (eq. 2.15).
    """
    falls = -np.diff(_log_ratio(error, sigma, L, factor)[:, -2:])[:, 0]  # in c2 = 0
    return float((falls / np.diff(_slope(sigma, L)[:, -2:])[:, 0]).min())


def growth_in_sigma(constants: np.ndarray, sigma: np.ndarray) -> float:
    """d ln(c1) / d ln(sigma) at the largest sigma, c1 the maximum over L of `needed_constant`."""
    largest = np.log(constants.max(1))
    return float((largest[-1] - largest[-2]) / np.log(sigma[-1] / sigma[-2]))


def _log_ratio(error: np.ndarray, sigma: np.ndarray, L: np.ndarray, factor: Factor) -> np.ndarray:
    """ln(error / (sigma^a ln(L)^b)), (sigma, length)."""
    if L.min() < 2:
        raise InputError(f"L = {L.min():g}: the bound needs L >= 2, it is 0 at L = 1")
    logs = factor.sigma_power * np.log(sigma)[:, None] + factor.log_power * np.log(np.log(L))
    return np.log(error) - logs


def _slope(sigma: np.ndarray, L: np.ndarray) -> np.ndarray:
    return np.log(L) / sigma[:, None] ** 2


def bound_shape(sigma: np.ndarray, L: np.ndarray, power: np.ndarray, factor: Factor) -> np.ndarray:
    """sigma^a ln(L)^b / L^power, elementwise; 0 at L = 1 if b > 0."""
    return sigma**factor.sigma_power * np.log(L) ** factor.log_power / L**power
