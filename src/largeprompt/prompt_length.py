"""How many tokens make softmax attention linear: the inverse of the exact error in L.

Deviations are relative and in norm: the root of E ||T[mu_hat_L](z) - T[mu](z)||^2 over that of
E ||T[mu](z)||^2, for centred Gaussian tokens N(0, Gamma) and a query z ~ N(0, S). Arguments and
errors are those of `concentration.output_error`.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.special import lambertw

from largeprompt.concentration import output_error, sharp_bound
from largeprompt.errors import InputError
from largeprompt.gaussian_problem import gaussian_problem, query_law
from largeprompt.rates import one_over_L_constant

LONGEST = 10**12
# The work hardly depends on how many lengths share a call, so each call takes many.
_FIRST = np.unique(np.geomspace(1, LONGEST, 97).round().astype(np.int64))
_AROUND = np.concatenate([[0.0], 10 ** -np.arange(1, 12, 0.5)])  # relative to a guess


def mean_square_output(Gamma: Any, U: Any, V: Any, query_covariance: Any) -> float:
    """E ||T[mu](z)||^2 = tr(V Gamma U S U^T Gamma V^T) for centred tokens (Lemma 2.1).

    Raises InputError if it is zero: then nothing can be said relative to it.
    """
    Gamma, U, V = gaussian_problem(Gamma, U, V)
    image = V @ Gamma @ U
    size = float(np.sum((image @ query_law(query_covariance, Gamma)) * image))
    if not size > 0:
        raise InputError("V Gamma U: the infinite-prompt output is zero, no error is relative to 0")
    return size


def relative_error(Gamma: Any, U: Any, V: Any, query_covariance: Any, L: Any) -> Any:
    """The relative deviation in norm at the lengths `L`, of their shape."""
    problem = (Gamma, U, V, query_covariance)
    return np.sqrt(output_error(*problem, L) / mean_square_output(*problem))


def relative_constant(Gamma: Any, U: Any, V: Any, query_covariance: Any) -> float:
    """lim L * relative_error^2 (eq. 2.9); infinite if twice the tilt is 1 or more."""
    problem = (Gamma, U, V, query_covariance)
    return one_over_L_constant(*problem) / mean_square_output(*problem)


def required_prompt_length(
    Gamma: Any, U: Any, V: Any, query_covariance: Any, tolerance: float
) -> int:
    """The smallest L at which the relative deviation in norm is at most `tolerance`.

    `tolerance` = 0.1 asks for E ||T[mu_hat_L] - T[mu]||^2 <= 0.01 E ||T[mu]||^2. The error falls
    with L (checked in the tests, not proved), so the answer is exact; above 1e10 the quadrature's
    round-off may move it by a few tokens.
    Raises InputError if more than 1e12 tokens are needed; the message names what they reach.
    """
    problem = (Gamma, U, V, query_covariance)
    (length,) = required_prompt_lengths(*problem, [tolerance])
    if math.isinf(length):
        reached = relative_error(*problem, LONGEST)
        raise InputError(
            f"tolerance = {tolerance:g}: more than {LONGEST:.0e} tokens are needed, "
            f"must be at least {reached:.3g}"
        )
    return int(length)


def required_prompt_lengths(
    Gamma: Any, U: Any, V: Any, query_covariance: Any, tolerances: Sequence[float]
) -> list[float]:
    """`required_prompt_length` for several tolerances in one go; infinity beyond 1e12 tokens."""
    return _first_lengths(output_error, (Gamma, U, V, query_covariance), tolerances)


def sharp_bound_lengths(
    Gamma: Any, U: Any, V: Any, query_covariance: Any, tolerances: Sequence[float]
) -> list[float]:
    """`required_prompt_lengths` with the bound (2.3) in place of the error: never fewer tokens."""
    return _first_lengths(sharp_bound, (Gamma, U, V, query_covariance), tolerances)


def log_envelope_length(constant: float, exponent: float, mean_square: float) -> float:
    """ln L from which on `constant ln(L) L^(-exponent) <= mean_square`, at least ln 2.

    That is the form of Prop 3.1; L itself may be too large for a number.
    """
    ratio = exponent * mean_square / constant
    if ratio >= math.exp(-1):  # the envelope never exceeds constant / (e exponent)
        return math.log(2)
    return max(math.log(2), float(-lambertw(-ratio, -1).real) / exponent)


def _first_lengths(error: Callable, problem: tuple, tolerances: Sequence[float]) -> list[float]:
    for tolerance in tolerances:
        if not (isinstance(tolerance, int | float) and 0 < tolerance < math.inf):
            raise InputError(f"tolerance = {tolerance!r}: must be a positive number")
    size = mean_square_output(*problem)
    targets = [tolerance**2 * size for tolerance in tolerances]
    found: dict[int, float] = {}
    tried = _FIRST
    while tried.size:
        values = error(*problem, np.append(tried, LONGEST))[:-1]  # LONGEST fixes the quadrature
        found |= dict(zip(map(int, tried), map(float, values), strict=True))
        brackets = [_bracket(found, target) for target in targets]
        tried = np.unique(np.concatenate([_between(*bracket) for bracket in brackets]))
    return [math.inf if high is None else high[0] for _, high, _ in brackets]


_Point = tuple[int, float]  # length, mean square error


def _bracket(found: dict[int, float], target: float) -> tuple[_Point | None, _Point | None, float]:
    """The last length known to exceed the target and the first known not to, if there are such."""
    low, high = None, None
    for length in sorted(found):
        if found[length] <= target:
            high = (length, found[length])
            break
        low = (length, found[length])
    return low, high, target


def _between(low: _Point | None, high: _Point | None, target: float) -> np.ndarray:
    """Lengths to try inside a bracket: around the straight line in ln L and ln error."""
    if low is None or high is None or high[0] - low[0] == 1:
        return np.zeros(0, dtype=np.int64)
    share = math.log(low[1] / target) / math.log(low[1] / high[1])
    guess = low[0] * (high[0] / low[0]) ** share
    tried = guess * (1 + np.concatenate([-_AROUND, _AROUND]))
    tried = np.concatenate([np.floor(tried), np.floor(tried) + 1])
    return np.unique(np.clip(tried, low[0] + 1, high[0] - 1)).astype(np.int64)
