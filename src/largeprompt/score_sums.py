"""The moments of the weights as expectations of products of sums over tokens, at one s."""

import numpy as np

from largeprompt.score_quadrature import STEP, ScoreQuadrature

ONE, LINEAR, HERMITE_2 = (1.0,), (0.0, 1.0), (-1.0, 0.0, 1.0)  # polynomials in y


def participation(s: float, L: np.ndarray, step: float = STEP) -> tuple[np.ndarray, np.ndarray]:
    """q = E sum p_i^2 and kappa = h - 1 + 2 q, the latter without cancellation (eq. 1.2)."""
    E = ScoreQuadrature(s, L, degree=4, step=step).expectation
    q = E((2, ONE))
    return q, q - 6 * (E((3, ONE)) - E((2, ONE), (2, ONE)))


def weight_sums(s: float, L: np.ndarray, step: float = STEP) -> tuple[np.ndarray, ...]:
    """q, kappa and the derivatives of q and h in s^2 (eq. 1.2 to 1.4)."""
    E = ScoreQuadrature(s, L, degree=6, step=step).expectation
    q, c3, c4 = (E((power, ONE)) for power in (2, 3, 4))
    q22, q23 = E((2, ONE), (2, ONE)), E((2, ONE), (3, ONE))
    q222 = E((2, ONE), (2, ONE), (2, ONE))
    return (
        q,
        q - 6 * (c3 - q22),
        q - 4 * c3 + 3 * q22,
        -q - 14 * c3 + 9 * q22 + 78 * c4 - 132 * q23 + 60 * q222,
    )


def covariance_sums(s: float, L: np.ndarray, step: float = STEP) -> tuple[np.ndarray, ...]:
    """A1, beta, A2, q22, tau in the shifted variable y, with no powers of s to cancel (eq. 1.9)."""
    E = ScoreQuadrature(s, L, degree=4, step=step).expectation
    mean, spread, weight = (1, LINEAR), (1, HERMITE_2), (2, ONE)
    q, q22 = E(weight), E(weight, weight)
    return (
        E(spread, spread) - 2 * E(spread, mean, mean) + E(mean, mean, mean, mean),
        E((2, (0.0, 0.0, 1.0))) - 2 * E((2, LINEAR), mean) + E(weight, mean, mean),
        E(weight, spread) - E(weight, mean, mean),
        q22,
        q - 2 * E((3, ONE)) + q22,
    )
