"""Exact population risks of in-context linear regression, for finite and infinite prompts."""

import numpy as np
from numpy.typing import ArrayLike

from largeprompt.risk_bilinear import BilinearRisk
from largeprompt.risk_factorised import FactorisedRisk, RestrictedRisk, Risk
from largeprompt.risk_problem import Problem, problem


def merged_risk(
    Sigma: ArrayLike,
    noise_variance: float,
    task_variance: float,
    L: float,
    attention: str = "softmax",
    query_covariance: ArrayLike | None = None,
) -> Risk:
    """E (prediction - y_q)^2 as a function of the vector (U by rows, v); no factor 1/2.

    Raises InputError as `risk_problem.problem` does.
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

    Raises InputError as `risk_problem.problem` does.
    """
    checked = problem(Sigma, noise_variance, task_variance, L, attention, query_covariance)
    return FactorisedRisk(_merged(checked), checked.d)


def reduced_training(
    Sigma: ArrayLike, noise_variance: float, L: float, attention: str = "softmax"
) -> Risk:
    """1/2 E (prediction - y_q)^2, w ~ N(0, I), as a function of the vector (A by rows, b).

    Raises InputError as `risk_problem.problem` does.
    """
    checked = problem(Sigma, noise_variance, 1.0, L, attention)
    return RestrictedRisk(_merged(checked), *_reduced_places(checked.d), factor=0.5)


def _merged(checked: Problem) -> Risk:
    if checked.attention == "linear" or checked.is_infinite:
        return BilinearRisk(checked)
    raise NotImplementedError("softmax attention on finite prompts")


def _reduced_places(d: int) -> tuple[int, np.ndarray]:
    """Size of the vector (U, v), and where A and b stand in it."""
    D = d + 1
    block = np.arange(D * D).reshape(D, D)[:d, :d].ravel()
    return D * D + D, np.append(block, D * D + D - 1)
