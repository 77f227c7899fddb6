"""Exact population risks of in-context linear regression, for finite and infinite prompts.

Closed forms for linear attention and for the infinite prompt, converged deterministic rules for
softmax attention on finite prompts; nothing here is random (docs/derivations.md, section 3).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from largeprompt.errors import InputError
from largeprompt.risk_bilinear import BilinearRisk
from largeprompt.risk_factorised import FactorisedRisk, RestrictedRisk, Risk
from largeprompt.risk_problem import Problem, parameter, problem
from largeprompt.risk_reduced import ReducedOptimum, reduced, reduced_optimum, reduced_risk
from largeprompt.risk_softmax import SoftmaxRisk

__all__ = [
    "FactorisedRisk",
    "ReducedOptimum",
    "RestrictedRisk",
    "Risk",
    "RiskEstimate",
    "RiskGradient",
    "factorised_risk",
    "merged_risk",
    "population_risk",
    "population_risk_gradient",
    "reduced_optimum",
    "reduced_risk",
    "reduced_training",
]

# exactness in the direction of the query and in the task; about 10 ms a risk in each dimension
_DEGREES = {1: (7, 41), 2: (19, 19), 3: (15, 13), 4: (11, 11), 5: (9, 7)} | dict.fromkeys(
    (6, 7, 8), (7, 7)
)
# on the family of Theorem 5.1 the task enters with power two at most
_REDUCED_DEGREES = {1: 7, 2: 19, 3: 17, 4: 13, 5: 13, 6: 9, 7: 7, 8: 7}


@dataclass(frozen=True)
class RiskEstimate:
    """A risk and the size of its numerical error (not a bound), 0 for a closed form."""

    value: float
    error: float


@dataclass(frozen=True, eq=False)
class RiskGradient:
    """A risk, the estimate of its error, and its gradient in U (D, D) and v (D,)."""

    value: float
    error: float
    gradient_U: np.ndarray
    gradient_v: np.ndarray


def merged_risk(
    Sigma: ArrayLike,
    noise_variance: float,
    task_variance: float,
    L: float,
    attention: str = "softmax",
    query_covariance: ArrayLike | None = None,
) -> BilinearRisk | SoftmaxRisk:
    """E (prediction - y_q)^2 as a function of the vector (U by rows, v); no factor 1/2.

    Raises InputError as `risk_problem.problem` does, and for softmax attention on finite prompts
    in more than 8 dimensions.
    """
    return _merged(problem(Sigma, noise_variance, task_variance, L, attention, query_covariance))


def factorised_risk(
    Sigma: ArrayLike,
    noise_variance: float,
    task_variance: float,
    L: float,
    attention: str = "softmax",
    query_covariance: ArrayLike | None = None,
) -> FactorisedRisk:
    """E (prediction - y_q)^2 in the factors Q, K, V, O of one head; no factor 1/2.

    Raises InputError as `merged_risk` does.
    """
    checked = problem(Sigma, noise_variance, task_variance, L, attention, query_covariance)
    return FactorisedRisk(_merged(checked), checked.d)


def reduced_training(
    Sigma: ArrayLike, noise_variance: float, L: float, attention: str = "softmax"
) -> RestrictedRisk:
    """1/2 E (prediction - y_q)^2, w ~ N(0, I), as a function of the vector (A by rows, b).

    `reduced_risk` is the same number to more digits; this one comes with derivatives.
    Raises InputError as `merged_risk` does.
    """
    checked = problem(Sigma, noise_variance, 1.0, L, attention)
    if checked.is_bilinear:
        return reduced(BilinearRisk(checked))
    return reduced(SoftmaxRisk(checked, _degrees(_REDUCED_DEGREES, checked), 3))


def population_risk(
    U: ArrayLike,
    v: ArrayLike,
    Sigma: ArrayLike,
    noise_variance: float,
    task_variance: float,
    L: float,
    attention: str = "softmax",
    query_covariance: ArrayLike | None = None,
) -> RiskEstimate:
    """E (prediction - y_q)^2, no factor 1/2, at U (D, D) and v (D,) with D = d + 1.

    The prediction is v^T sum_i p_i z_i with scores <z_i, U (x_q, 0)>; `query_covariance` None
    means Sigma. Raises InputError as `merged_risk` does, or if U or v has another shape.
    """
    checked = problem(Sigma, noise_variance, task_variance, L, attention, query_covariance)
    value, error, _ = _evaluated(U, v, checked)
    return RiskEstimate(value, error)


def population_risk_gradient(
    U: ArrayLike,
    v: ArrayLike,
    Sigma: ArrayLike,
    noise_variance: float,
    task_variance: float,
    L: float,
    attention: str = "softmax",
    query_covariance: ArrayLike | None = None,
) -> RiskGradient:
    """`population_risk` and its gradient; the last column of U never acts."""
    checked = problem(Sigma, noise_variance, task_variance, L, attention, query_covariance)
    value, error, gradient = _evaluated(U, v, checked)
    D = checked.d + 1
    return RiskGradient(value, error, gradient[: D * D].reshape(D, D), gradient[D * D :])


def _evaluated(U: ArrayLike, v: ArrayLike, checked: Problem) -> tuple[float, float, np.ndarray]:
    """Risk, size of its error, and gradient in the vector (U by rows, v)."""
    D = checked.d + 1
    theta = np.concatenate([parameter("U", U, (D, D)).ravel(), parameter("v", v, (D,))])
    value, gradient = _merged(checked).value_and_gradient(theta)
    return value, _error(checked, theta, value), gradient


def _merged(checked: Problem) -> BilinearRisk | SoftmaxRisk:
    if checked.is_bilinear:
        return BilinearRisk(checked)
    return SoftmaxRisk(checked, *_degrees(_DEGREES, checked))


def _error(checked: Problem, theta: np.ndarray, value: float) -> float:
    """Distances to rules coarser in the query and in the task, summed: each overstates its part."""
    if checked.is_bilinear:
        return 0.0
    query_degree, task_degree = _degrees(_DEGREES, checked)
    coarser = (query_degree - 2, task_degree), (query_degree, task_degree - 2)
    values = [SoftmaxRisk(checked, *rule).value_and_gradient(theta)[0] for rule in coarser]
    return abs(value - values[0]) + abs(value - values[1])


def _degrees(by_dimension: dict, checked: Problem):
    if checked.d not in by_dimension:
        raise InputError(
            f"Sigma: dimension {checked.d}, softmax attention on finite prompts needs "
            f"dimension {max(by_dimension)} or less"
        )
    return by_dimension[checked.d]
