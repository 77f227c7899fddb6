"""Checks of Gaussian tokens N(., Gamma), attention matrices U and V, and a query or its law."""

from typing import Any

import numpy as np

from largeprompt.covariances import checked_covariance
from largeprompt.errors import InputError


def gaussian_problem(Gamma: Any, U: Any, V: Any = None) -> tuple[np.ndarray, ...]:
    """(Gamma, U, V) as float64 of shapes (d, d), (d, d), (m, d); V defaults to the identity.

    Raises InputError if Gamma is no covariance or a shape does not fit.
    """
    Gamma = checked_covariance("Gamma", _matrix("Gamma", Gamma))
    d = len(Gamma)
    U = _matrix("U", U)
    if U.shape != (d, d):
        raise InputError(f"U of shape {U.shape}: must be {(d, d)} like Gamma")
    V = np.eye(d) if V is None else _matrix("V", V)
    if V.shape[1] != d:
        raise InputError(f"V of shape {V.shape}: must have {d} columns like Gamma")
    return Gamma, U, V


def query_law(query_covariance: Any, Gamma: np.ndarray) -> np.ndarray:
    """The covariance (d, d) of the query. Raises InputError if it is none or does not fit."""
    S = checked_covariance("query_covariance", _matrix("query_covariance", query_covariance))
    if S.shape != Gamma.shape:
        raise InputError(f"query_covariance of shape {S.shape}: must be {Gamma.shape} like Gamma")
    return S


def queries(z: Any, Gamma: np.ndarray) -> np.ndarray:
    """Query vectors (..., d). Raises InputError if they do not fit or are not finite."""
    z = _numbers("z", z)
    if z.ndim < 1 or z.shape[-1] != len(Gamma) or not np.isfinite(z).all():
        raise InputError(f"z of shape {z.shape}: must be finite, with last axis {len(Gamma)}")
    return z


def _matrix(name: str, value: Any) -> np.ndarray:
    matrix = _numbers(name, value)
    if matrix.ndim != 2 or matrix.size == 0 or not np.isfinite(matrix).all():
        raise InputError(f"{name} of shape {matrix.shape}: must be a finite, non-empty matrix")
    return matrix


def _numbers(name: str, value: Any) -> np.ndarray:
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name}={value!r}: must be an array of numbers") from None
