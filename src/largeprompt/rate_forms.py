"""Exponents that one might take for the rate of Prop 3.1, beside the true one of `rates` (numpy).

At tilt lambda = sigma^2 ||U||^2 (queries N(0, I)); docs/derivations.md, section 2.5.
"""

from typing import Any

import numpy as np


def naive_exponent(tilt: Any) -> np.ndarray:
    """min(1, 1/(2 lambda)): the exponent of E min(1, e^{s^2}/L), a bound on the rate only."""
    return np.minimum(1.0, 0.5 / np.asarray(tilt, dtype=float))


def class_exponent(tilt: Any) -> np.ndarray:
    """min(1, 1/(4 lambda)): no larger one holds for all sigma-sub-Gaussian tokens (eq. 2.17)."""
    return np.minimum(1.0, 0.25 / np.asarray(tilt, dtype=float))


def fitted_exponent(L: np.ndarray, error: np.ndarray) -> float:
    """Minus the least-squares slope of ln(error) against ln(L): what a log-log plot shows."""
    return float(-np.polyfit(np.log(L), np.log(error), 1)[0])
