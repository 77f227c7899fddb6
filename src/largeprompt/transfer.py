"""Theorem 4.3: from which prompt length on a trained model is as good as the infinite one's."""

import math

import numpy as np
from numpy.typing import ArrayLike

from largeprompt.errors import InputError


def required_length(lengths: ArrayLike, excess: ArrayLike, eps: float) -> float:
    """The L from which on the excess stays at most `eps`, infinite if it does not on the grid.

    Between the lengths (increasing) the excess is taken to be a power of L. Raises InputError
    unless there is one excess a length and eps > 0.
    """
    L, values = np.asarray(lengths, dtype=float), np.asarray(excess, dtype=float)
    if L.ndim != 1 or L.shape != values.shape or not L.size or (np.diff(L) <= 0).any():
        raise InputError("lengths, excess: must be two sequences of one length, lengths increasing")
    if not eps > 0:
        raise InputError(f"eps = {eps}: must be positive")
    above = np.flatnonzero(values > eps)
    if not above.size:
        return float(L[0])
    last = above[-1]
    if last == L.size - 1:
        return math.inf
    floor = np.finfo(float).tiny
    upper, lower = np.log(values[last]), np.log(max(values[last + 1], floor))
    share = (upper - math.log(eps)) / (upper - lower)
    return float(np.exp(np.log(L[last]) + share * np.log(L[last + 1] / L[last])))
