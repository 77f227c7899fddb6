"""What a prompt of length L allows: ridge regression, and the best linear attention (numpy).

Every risk here is `E (prediction - y_q)^2`: no factor 1/2, label noise on the query included.
Weights are `w ~ N(0, task_variance I)`.
"""

import math
from dataclasses import dataclass

import numpy as np

from largeprompt.covariances import checked_covariance
from largeprompt.errors import InputError
from largeprompt.estimates import Estimate


@dataclass(frozen=True, eq=False)
class LinearOptimum:
    """The best linear attention of a prompt length: matrix B (d, d) and its risk."""

    B: np.ndarray
    risk: float


def ridge_prediction(
    tokens: np.ndarray, query: np.ndarray, noise_variance: float, task_variance: float
) -> np.ndarray:
    """Prediction (prompt,) of ridge regression at its optimal penalty: the posterior mean.

    tokens (prompt, L, d+1), query (prompt, d+1); the penalty is noise_variance / task_variance.
    Without noise it is the minimum-norm least-squares fit, the limit of small noise. Slice the
    tokens for the prediction from a prefix.
    """
    _check_variances(noise_variance, task_variance)
    inputs, labels = tokens[..., :-1], tokens[..., -1]
    values, vectors = np.linalg.eigh(inputs.mT @ inputs)  # (prompt, d), (prompt, d, d)
    shrinkage = _shrinkage(values, noise_variance / task_variance, inputs.shape[-2])
    # (1 - shrinkage) / value = 1 / (value + penalty) where the inputs reach, 0 elsewhere.
    inverse = (1 - shrinkage) / np.where(shrinkage < 1, values, 1)
    correlation = vectors.mT @ (inputs.mT @ labels[..., None])  # (prompt, d, 1)
    fitted = vectors @ (inverse[..., None] * correlation)
    return (query[..., None, :-1] @ fitted)[..., 0, 0]


def ridge_risk(
    tokens: np.ndarray,
    query: np.ndarray,
    target: np.ndarray,
    noise_variance: float,
    task_variance: float,
) -> Estimate:
    """Monte Carlo risk of `ridge_prediction` over the prompts given; target (prompt,)."""
    prediction = ridge_prediction(tokens, query, noise_variance, task_variance)
    return Estimate.of((prediction - target) ** 2)


def bayes_risk(
    inputs: np.ndarray,
    query_covariance: np.ndarray,
    noise_variance: float,
    task_variance: float,
) -> Estimate:
    """Risk of `ridge_prediction`, exact given the context inputs (prompt, L, d).

    Conditional expectation over weights, noise and query:
    `noise + tr(Q (X^T X / noise + I / task_variance)^-1)` with Q the query covariance. Only the
    spread of the inputs is left as Monte Carlo error. No estimator has a smaller risk.
    """
    _check_variances(noise_variance, task_variance)
    values, vectors = np.linalg.eigh(inputs.mT @ inputs)
    shrinkage = _shrinkage(values, noise_variance / task_variance, inputs.shape[-2])
    # Mean square of the query along each eigenvector: the diagonal of vectors^T Q vectors.
    spread = (vectors * (query_covariance @ vectors)).sum(-2)  # (prompt, d)
    return Estimate.of(noise_variance + task_variance * (shrinkage * spread).sum(-1))


def asymptotic_ridge_risk(
    dimension: int, L: int, noise_variance: float, task_variance: float
) -> float:
    """Limit of the optimal ridge risk for isotropic inputs, d and L large at the ratio d / L.

    Dobriban & Wager, Annals of Statistics 46 (2018): with c = 1 - L / d and the signal
    a = d task_variance, `(noise + c a + sqrt((noise - c a)^2 + 4 a noise)) / 2`.
    """
    _check_variances(noise_variance, task_variance)
    _check_length(L)
    signal = dimension * task_variance
    excess = (1 - L / dimension) * signal
    root = math.hypot(noise_variance - excess, 2 * math.sqrt(signal * noise_variance))
    return (noise_variance + excess + root) / 2


def linear_optimum(
    Sigma: np.ndarray,
    noise_variance: float,
    task_variance: float,
    L: float,
    query_covariance: np.ndarray | None = None,
) -> LinearOptimum:
    """The best linear attention `(1/L) sum_i y_i x_i^T B x_q` at prompt length L, and its risk.

    Zhang, Frei & Bartlett, JMLR 25 (2024), with label noise:
    `B = [(1 + 1/L) Sigma + (tr Sigma + noise / task_variance) / L I]^-1`, of risk
    `noise + task_variance tr(Q - Sigma B Q)`. B does not depend on the query covariance Q, which
    is Sigma unless given. L = inf gives `Sigma^-1` and the noise alone.
    Raises InputError for L below 1, a Sigma that is not a covariance or, at L = inf, singular.
    """
    _check_variances(noise_variance, task_variance)
    _check_length(L)
    Sigma = checked_covariance("Sigma", Sigma)
    query_covariance = Sigma if query_covariance is None else np.asarray(query_covariance)
    ridge = (np.trace(Sigma) + noise_variance / task_variance) / L
    curvature = (1 + 1 / L) * Sigma + ridge * np.eye(len(Sigma))
    if np.linalg.matrix_rank(curvature) < len(Sigma):
        raise InputError(f"Sigma is singular: linear attention at L = {L} has no unique optimum")
    B = np.linalg.inv(curvature)
    # I - Sigma B = (Sigma + ridge L I) B / L, without the cancellation at large L.
    defect = (Sigma / L + ridge * np.eye(len(Sigma))) @ B
    return LinearOptimum(
        B, float(noise_variance + task_variance * np.sum(defect * query_covariance))
    )


def _shrinkage(values: np.ndarray, penalty: float, L: int) -> np.ndarray:
    """Share penalty / (value + penalty) of each direction that the fit leaves at zero.

    values (..., d): eigenvalues of X^T X. A direction is unseen if its eigenvalue is rounding
    noise; there the share is 1, also without a penalty.
    """
    d = values.shape[-1]
    largest = np.abs(values).max(-1, keepdims=True)
    unseen = values <= max(L, d) * np.finfo(values.dtype).eps * largest
    return np.where(unseen, 1.0, penalty / (np.where(unseen, 1.0, values) + penalty))


def _check_variances(noise_variance: float, task_variance: float) -> None:
    if not 0 <= noise_variance < math.inf:
        raise InputError(f"noise_variance = {noise_variance}: must be at least 0, finite")
    if not 0 < task_variance < math.inf:
        raise InputError(f"task_variance = {task_variance}: must be positive and finite")


def _check_length(L: float) -> None:
    if not L >= 1:
        raise InputError(f"L = {L}: must be at least 1")
