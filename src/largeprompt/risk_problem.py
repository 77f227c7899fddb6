"""In-context linear regression as a problem for the exact risks: checked once, then trusted."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from largeprompt.covariances import checked_covariance
from largeprompt.errors import InputError

ATTENTIONS = ("softmax", "linear")


@dataclass(frozen=True, eq=False)
class Problem:
    """Task w ~ N(0, task_variance I), tokens (x, w·x + noise), query x_q, prompt length L."""

    Sigma: np.ndarray  # (d, d), covariance of the context inputs
    noise_variance: float
    task_variance: float
    query_covariance: np.ndarray  # (d, d)
    L: float
    attention: str

    @property
    def d(self) -> int:
        return len(self.Sigma)

    @property
    def is_infinite(self) -> bool:
        return math.isinf(self.L)

    @property
    def is_bilinear(self) -> bool:
        """Whether the prediction is bilinear in (v, U)."""
        return self.attention == "linear" or self.is_infinite


def problem(
    Sigma: ArrayLike,
    noise_variance: float,
    task_variance: float,
    L: float,
    attention: str = "softmax",
    query_covariance: ArrayLike | None = None,
) -> Problem:
    """The checked problem; `query_covariance` None means Sigma.

    Raises InputError if a covariance is not symmetric positive semi-definite, a variance is
    negative or not finite, L is neither a positive integer nor infinity, or the attention unknown.
    """
    Sigma = _covariance("Sigma", Sigma)
    query = Sigma if query_covariance is None else _covariance("query_covariance", query_covariance)
    if query.shape != Sigma.shape:
        raise InputError(f"query_covariance: shape {query.shape}, must be {Sigma.shape} like Sigma")
    _check_length(L)
    if attention not in ATTENTIONS:
        raise InputError(f"attention: {attention!r}, must be one of {', '.join(ATTENTIONS)}")
    noise = _variance("noise_variance", noise_variance)
    return Problem(Sigma, noise, _variance("task_variance", task_variance), query, L, attention)


def parameter(name: str, value: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    """`value` as a float64 array; InputError unless it is finite and has `shape`."""
    array = _numbers(name, value)
    if array.shape != shape:
        raise InputError(f"{name}: shape {array.shape}, must be {shape}")
    return array


def _numbers(name: str, value: ArrayLike) -> np.ndarray:
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name}: {value!r}, must be an array of numbers") from None
    if not array.size:
        raise InputError(f"{name}: empty, must hold numbers")
    if not np.isfinite(array).all():
        raise InputError(f"{name}: holds NaN or infinity, must be finite")
    return array


def _covariance(name: str, value: ArrayLike) -> np.ndarray:
    matrix = checked_covariance(name, _numbers(name, value))
    return (matrix + matrix.T) / 2


def _variance(name: str, value: float) -> float:
    number = _numbers(name, value)
    if number.ndim != 0 or number < 0:
        raise InputError(f"{name}: {value!r}, must be a number >= 0")
    return float(number)


def _check_length(L: float) -> None:
    try:
        allowed = L >= 1 and (math.isinf(L) or L % 1 == 0)
    except (TypeError, ValueError):
        allowed = False
    if not allowed:
        raise InputError(f"L: {L!r}, must be an integer >= 1 or math.inf")
