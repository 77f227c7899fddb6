"""Moments of Assumption 3.3 for Gaussian tokens: token weighted by exp(<z', U z>), query Gaussian.

Two readings. `normalised`: the token follows the tilted law, N(Gamma a, Gamma) with a = U z.
`unnormalised`: the weight is not divided by its mean e^{s^2 / 2}, which moves the query to the
covariance (S^{-1} - U^T Gamma U)^{-1} and has no finite value once the tilt reaches 1
(docs/derivations.md, section 2.6).
"""

import math
from typing import Any

import numpy as np
from scipy.special import eval_genlaguerre, logsumexp

from largeprompt.covariances import square_root
from largeprompt.errors import InputError
from largeprompt.gaussian_problem import gaussian_problem, query_law

READINGS = ("normalised", "unnormalised")
_RADIAL_NODES = 200


def tilted_moment(
    Gamma: Any, U: Any, query_covariance: Any, p: int, q: int, reading: str = "normalised"
) -> float:
    """E |z'|^p |z|^q over the weighted tokens and the query; infinite where it does not exist.

    Eq. 2.18, unnormalised eq. 2.19. `p`, `q` even. Raises InputError for odd orders, an unknown
    reading or a Gamma or S that is no covariance.
    """
    Gamma, U, _ = gaussian_problem(Gamma, U)
    S = query_law(query_covariance, Gamma)
    if reading not in READINGS:
        raise InputError(f"reading = {reading!r}: must be one of {', '.join(READINGS)}")
    if p % 2 or q % 2 or min(p, q) < 0:
        raise InputError(f"p, q = {p}, {q}: must be even and >= 0")
    root, mass = square_root(S), 1.0
    if reading == "unnormalised":
        M = root @ U.T @ Gamma @ U @ root
        gaps = 1 - np.linalg.eigvalsh(M)
        if gaps.min() <= 0:
            return math.inf
        mass = float(np.prod(gaps) ** -0.5)
        root = root @ np.linalg.inv(square_root(np.eye(len(M)) - M))
    # x = (xi, zeta) standard: z = root xi, z' = Gamma U z + Gamma^(1/2) zeta
    d = len(Gamma)
    query = np.hstack([root, np.zeros((d, d))])
    token = np.hstack([Gamma @ U @ root, square_root(Gamma)])
    return mass * _productmoment(token.T @ token, query.T @ query, p // 2, q // 2)


def log_isotropic_moment(
    sigma: float, score_scale: float, dimension: int, p: int, q: int, reading: str, reach: float
) -> float:
    """ln of `tilted_moment` for Gamma = sigma^2 I, U = score_scale I, S = I, over |z| <= reach.

    Another route: Laguerre polynomials for the token given |z|, a quadrature over |z|. Where the
    moment is infinite the result grows without end with `reach`.
    """
    nodes, weights = np.polynomial.legendre.leggauss(_RADIAL_NODES)
    r = reach * (1 + nodes) / 2
    noncentral = (sigma * score_scale * r) ** 2
    n, half = p // 2, dimension / 2
    token = sigma**p * 2**n * math.factorial(n) * eval_genlaguerre(n, half - 1, -noncentral / 2)
    exponent = (dimension - 1 + q) * np.log(r) - r**2 / 2 - math.lgamma(half)
    if reading == "unnormalised":
        exponent += noncentral / 2
    constant = (1 - half) * math.log(2) + math.log(reach / 2)
    return float(logsumexp(exponent, b=token * weights) + constant)


def _productmoment(A: np.ndarray, B: np.ndarray, i: int, j: int) -> float:
    """E (x^T A x)^i (x^T B x)^j for x ~ N(0, I), from det(I - 2 alpha A - 2 beta B)^(-1/2).

    Coefficients of alpha^m beta^n are kept in arrays (i + 1, j + 1).
    """
    size = len(A)
    power = np.zeros((i + 1, j + 1, size, size))  # (alpha A + beta B)^k
    power[0, 0] = np.eye(size)
    log_mgf = np.zeros((i + 1, j + 1))
    for k in range(1, i + j + 1):
        raised = np.zeros_like(power)
        raised[1:] += A @ power[:-1]
        raised[:, 1:] += B @ power[:, :-1]
        power = raised
        log_mgf += 2 ** (k - 1) / k * np.trace(power, axis1=-2, axis2=-1)
    return math.factorial(i) * math.factorial(j) * _exponential(log_mgf)[i, j]


def _exponential(series: np.ndarray) -> np.ndarray:
    """Coefficients of exp of a bivariate power series without constant term, truncated alike."""
    total = np.zeros_like(series)
    total[0, 0] = 1.0
    term = total
    for k in range(1, sum(series.shape) - 1):
        product = np.zeros_like(series)
        for m, n in zip(*np.nonzero(series), strict=True):
            product[m:, n:] += series[m, n] * term[: term.shape[0] - m, : term.shape[1] - n]
        term = product / k
        total = total + term
    return total
