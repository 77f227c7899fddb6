"""The envelope of Prop 3.1: `c1 sigma^6 ln(L) / L^(c2 / sigma^2)`."""

import numpy as np


def envelope_shape(sigma: np.ndarray, L: np.ndarray, c2: float) -> np.ndarray:
    """`sigma^6 ln(L) / L^(c2 / sigma^2)`, the bound of Prop 3.1 at c1 = 1. It is 0 at L = 1."""
    return sigma**6 * np.log(L) / L ** (c2 / sigma**2)


def sigma_free_shape(sigma: np.ndarray, L: np.ndarray, c2: float) -> np.ndarray:
    """`sigma^6 ln(L) / L^c2`: one exponent for every sigma, which Prop 3.1 does not claim."""
    return sigma**6 * np.log(L) / L**c2


def smallest_constant(error: np.ndarray, shape: np.ndarray) -> float:
    """The smallest c1 with `error <= c1 shape` everywhere; shape positive (L >= 2)."""
    return float(np.max(error / shape))
