"""What s and L may be, wherever a user first hands them over."""

from typing import Any

import numpy as np

from largeprompt.errors import InputError

LARGEST_S = 1e4  # the work grows with s; beyond, q = 1 to four digits
LARGEST_L = 1e50
LARGEST_GRADIENT_L = 1e24  # beyond, the gradient moments lose digits to cancellation


def scales(s: Any, name: str = "s") -> np.ndarray:
    """`s` as float64. Raises InputError unless every value lies in [0, 1e4]."""
    values = _numbers(s, name)
    bad = values[~((values >= 0) & (values <= LARGEST_S))]
    if bad.size:
        raise InputError(f"{name}={bad[0]}: must be a number from 0 to {LARGEST_S:g}")
    return values


def prompt_lengths(L: Any, largest: float = LARGEST_L) -> np.ndarray:
    """`L` as float64. Raises InputError unless every value is an integer from 1 to `largest`."""
    values = _numbers(L, "L")
    bad = values[~((values >= 1) & (values <= largest) & (values == np.floor(values)))]
    if bad.size:
        raise InputError(f"L={bad[0]}: a prompt length is an integer from 1 to {largest:g}")
    return values


def _numbers(value: Any, name: str) -> np.ndarray:
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name}={value!r}: must be a number or an array of numbers") from None
