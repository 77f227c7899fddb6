"""Settings for the exact errors: (Gamma, U, V, query covariance) of attention one meets in use."""

import numpy as np

Problem = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def isotropic(dimension: int, tilt: float) -> Problem:
    """Whitened tokens and queries, U = tilt^(1/2) I, V = I: scores of variance tilt * dimension.

    Dot-product attention with orthogonal key and query matrices and scores divided by d^(1/2) is
    tilt 1/d. Entries uniform(-d^(-1/2), d^(-1/2)), as heads are started, have a third of the
    variance in the keys and in the queries: tilt 1/(9d).
    """
    identity = np.eye(dimension)
    return identity, tilt**0.5 * identity, identity, identity


def fixed_rank(dimension: int, rank: int, score_variance: float) -> Problem:
    """Tokens and queries that fill `rank` directions of the space, scores of the variance given."""
    Gamma = np.diag(np.arange(dimension) < rank).astype(float)
    identity = np.eye(dimension)
    return Gamma, (score_variance / rank) ** 0.5 * identity, identity, Gamma


def reduced_regression(scale: float, dimension: int, noise_variance: float) -> Problem:
    """In-context regression on the family of Theorem 5.1, A = scale I, Sigma = I, w ~ N(0, I).

    Averaged over w, the error of the prediction (eq. 3.10 against its limit) is, up to b^2, that
    of d whitened coordinates and one of variance `noise_variance` that no score sees.
    """
    inputs = np.diag(np.arange(dimension + 1) < dimension).astype(float)
    Gamma = inputs + noise_variance * (np.eye(dimension + 1) - inputs)
    return Gamma, scale * inputs, np.eye(dimension + 1), inputs
