"""How long a prompt must be before the best trained models are within a tolerance of each other.

Risks are E (prediction - y_q)^2, no factor 1/2, of the best (A, b) of docs/derivations.md, 3.5,
which trained heads approach; nothing here is trained or random.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from largeprompt.errors import InputError
from largeprompt.risk_reduced import reduced_optimum


@dataclass(frozen=True)
class OptimalExcess:
    """What the best model of each attention loses to an infinite prompt, which serves both alike.

    For an invertible Sigma the risk of the infinite prompt is the noise variance.
    """

    softmax: float
    linear: float

    @property
    def gap(self) -> float:
        """Best softmax risk less best linear risk."""
        return self.softmax - self.linear


def optimal_excess(
    Sigma: ArrayLike,
    noise_variance: float,
    task_variance: float,
    L: float,
    query_covariance: ArrayLike | None = None,
) -> OptimalExcess:
    """Excess risks at prompt length L, for w ~ N(0, task_variance I) and any dimension to 64.

    Seconds for softmax attention in 64 dimensions. Raises InputError as
    `risk_reduced.reduced_optimum` does, or unless the task variance is positive and finite.
    """
    if not 0 < task_variance < np.inf:
        raise InputError(f"task_variance = {task_variance}: must be positive and finite")

    def best(L: float, attention: str) -> float:
        unit = noise_variance / task_variance  # the reduced risk is that of task variance 1
        optimum = reduced_optimum(Sigma, unit, L, attention, query_covariance)
        return 2 * task_variance * optimum.risk

    floor = best(np.inf, "linear")
    return OptimalExcess(best(L, "softmax") - floor, best(L, "linear") - floor)


def smallest_length(excess: Callable[[int], float], tolerance: float, longest: int) -> int | None:
    """Smallest L from which on `excess` stays below `tolerance`, None if it is not at `longest`.

    `excess` may rise to a single peak before it falls, as the gap of the optima does in five
    dimensions or more; a peak between two of the lengths longest, longest / 2, ... that tops the
    tolerance between them alone is missed. Raises InputError unless tolerance > 0, longest >= 1.
    """
    if not tolerance > 0:
        raise InputError(f"tolerance = {tolerance}: must be positive")
    if longest < 1:
        raise InputError(f"longest = {longest}: must be at least 1")
    if excess(longest) >= tolerance:
        return None
    below, above = longest, longest // 2
    while above and excess(above) < tolerance:
        below, above = above, above // 2
    bisect = False
    while below - above > 1:  # length 0 stands for an excess above every tolerance
        width = below - above
        middle = (above + below) // 2
        if above and not bisect:
            middle = _interpolated(excess, tolerance, above, below)
        if excess(middle) < tolerance:
            below = middle
        else:
            above = middle
        bisect = 2 * (below - above) > width
    return below


def _interpolated(excess: Callable[[int], float], tolerance: float, above: int, below: int) -> int:
    """Where the tolerance would lie between two lengths were the excess linear in 1 / L."""
    high, low = excess(above), excess(below)
    share = (tolerance - low) / (high - low)
    length = 1 / (1 / below + share * (1 / above - 1 / below))
    return min(max(round(length), above + 1), below - 1)
