"""Exact mean square errors of softmax attention at prompt length L, for Gaussian tokens.

The left sides of Props 3.1 and 3.4 with mu = N(., Gamma) and a query z ~ N(0, S): no bound and no
sampling, for any L (docs/derivations.md, section 2). `Gamma` (d, d) may be singular, `U` is
(d, d), `V` is (m, d), the query covariance S (d, d); the mean of the tokens does not matter.
Errors are sums over all entries of the output or gradient. Every function raises InputError for a
Gamma or S that is no covariance, shapes that do not fit, or an L that is no integer >= 1.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from largeprompt.gaussian_problem import gaussian_problem, queries, query_law
from largeprompt.query_average import QueryAverage
from largeprompt.rates import local_exponent, one_over_L_constant, rate_exponent, tilt
from largeprompt.score_moments import GradientMoments, gradient_moments, score_moments
from largeprompt.score_sums import participation
from largeprompt.score_validation import prompt_lengths

__all__ = [
    "gradient_u_error",
    "gradient_u_error_at",
    "gradient_v_error",
    "gradient_v_error_at",
    "local_exponent",
    "one_over_L_constant",
    "output_error",
    "output_error_at",
    "rate_exponent",
    "sharp_bound",
    "tilt",
]


@dataclass(frozen=True)
class _Term:
    """factor * E f(s) s^(-2 n) prod z^T A z, with f one of the named functions below."""

    function: str
    factor: float
    forms: tuple[np.ndarray, ...]
    negative_powers: int = 0


def output_error(
    Gamma: Any, U: Any, V: Any, query_covariance: Any, L: Any, *, return_error: bool = False
) -> Any:
    """E ||T[mu_hat_L](z) - T[mu](z)||^2 (eq. 2.2), of the shape of `L`.

    With `return_error` a pair (value, error): the change when every second point of the query
    average is left out, an upper estimate of its quadrature error.
    """
    Gamma, U, V = gaussian_problem(Gamma, U, V)
    terms = _output_terms(Gamma, U, V)
    return _averaged(terms, Gamma, U, query_covariance, L, return_error)


def sharp_bound(
    Gamma: Any, U: Any, V: Any, query_covariance: Any, L: Any, *, return_error: bool = False
) -> Any:
    """E q(s, L) (tr V Gamma V^T + |V Gamma U z|^2) >= output_error (eq. 2.3)."""
    Gamma, U, V = gaussian_problem(Gamma, U, V)
    trace, image = np.trace(V @ Gamma @ V.T), V @ Gamma @ U
    terms = [_Term("q", trace, ()), _Term("q", 1.0, (image.T @ image,))]
    return _averaged(terms, Gamma, U, query_covariance, L, return_error)


def gradient_v_error(
    Gamma: Any, U: Any, V: Any, query_covariance: Any, L: Any, *, return_error: bool = False
) -> Any:
    """E ||grad_V T[mu_hat_L](z) - grad_V T[mu](z)||^2 (eq. 2.11), of the shape of `L`."""
    Gamma, U, V = gaussian_problem(Gamma, U, V)
    terms = _output_terms(Gamma, U, np.eye(len(Gamma)))
    value, error = _averaged(terms, Gamma, U, query_covariance, L, True)
    return (len(V) * value, len(V) * error) if return_error else len(V) * value


def gradient_u_error(
    Gamma: Any, U: Any, V: Any, query_covariance: Any, L: Any, *, return_error: bool = False
) -> Any:
    """E ||grad_U T[mu_hat_L](z) - grad_U T[mu](z)||^2 (eq. 2.14), of the shape of `L`."""
    Gamma, U, V = gaussian_problem(Gamma, U, V)
    direction = Gamma @ U  # s e = direction z
    image, image_twice = V @ direction, V @ Gamma @ direction
    square, trace, value_trace = (
        np.sum((V @ Gamma) ** 2),
        np.trace(Gamma),
        np.trace(V @ Gamma @ V.T),
    )
    norm, along = np.eye(len(Gamma)), direction.T @ direction
    seen, mixed = image.T @ image, _symmetric(image.T @ image_twice)
    terms = [
        _Term("q22+tau", square, (norm,)),
        _Term("tau", trace * value_trace, (norm,)),
        _Term("beta-tau", trace, (norm, seen), 1),
        _Term("beta-tau", value_trace, (norm, along), 1),
        _Term("beta-tau-A2-q22", 2.0, (norm, mixed), 1),
        _Term("A1-4beta+2A2+q22+2tau", 1.0, (norm, seen, along), 2),
    ]
    return _averaged(terms, Gamma, U, query_covariance, L, return_error)


def output_error_at(Gamma: Any, U: Any, V: Any, z: Any, L: Any) -> np.ndarray:
    """Output error at the queries `z` (..., d), `L` broadcast against (...) (eq. 2.2)."""
    Gamma, U, V = gaussian_problem(Gamma, U, V)
    e, s = _direction(Gamma, U, queries(z, Gamma))
    moments = score_moments(s, L)
    image = np.sum((e @ V.T) ** 2, -1) * s * s
    return moments.q * np.trace(V @ Gamma @ V.T) + moments.kappa * image


def gradient_v_error_at(Gamma: Any, U: Any, V: Any, z: Any, L: Any) -> np.ndarray:
    """Error of grad_V at the queries `z` (eq. 2.11); shapes as `output_error_at`."""
    Gamma, U, V = gaussian_problem(Gamma, U, V)
    return len(V) * output_error_at(Gamma, U, np.eye(len(Gamma)), z, L)


def gradient_u_error_at(Gamma: Any, U: Any, V: Any, z: Any, L: Any) -> np.ndarray:
    """Error of grad_U at the queries `z` (eq. 2.13); shapes as `output_error_at`."""
    Gamma, U, V = gaussian_problem(Gamma, U, V)
    z = queries(z, Gamma)
    e, s = _direction(Gamma, U, z)
    R = Gamma - e[..., :, None] * e[..., None, :]  # (..., d, d)
    VR = V @ R
    Ve = e @ V.T
    along, seen = np.sum(e * e, -1), np.sum(Ve * Ve, -1)
    mixed = np.sum(Ve * (VR @ e[..., None])[..., 0], -1)
    square, traces = np.sum(VR**2, (-2, -1)), np.sum(VR * V, (-2, -1))
    trace = np.trace(R, axis1=-2, axis2=-1)
    m = gradient_moments(s, L)
    return np.sum(z * z, -1) * (
        m.A1 * seen * along
        + m.beta * (seen * trace + traces * along + 2 * mixed)
        - 2 * m.A2 * mixed
        + m.q22 * square
        + m.tau * (square + trace * traces)
    )


def _output_terms(Gamma: np.ndarray, U: np.ndarray, V: np.ndarray) -> list[_Term]:
    image = V @ Gamma @ U
    return [_Term("q", np.trace(V @ Gamma @ V.T), ()), _Term("kappa", 1.0, (image.T @ image,))]


def _symmetric(matrix: np.ndarray) -> np.ndarray:
    return (matrix + matrix.T) / 2


def _direction(Gamma: np.ndarray, U: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """e = Gamma U z / s (..., d) and s (...); where s = 0 no direction matters and e = 0."""
    a = z @ U.T
    image = a @ Gamma
    s = np.sqrt(np.maximum(np.sum(a * image, -1), 0))
    return image / np.where(s > 0, s, 1)[..., None], s


def _averaged(
    terms: list[_Term],
    Gamma: np.ndarray,
    U: np.ndarray,
    query_covariance: Any,
    L: Any,
    return_error: bool,
) -> Any:
    """Sum of the terms over z ~ N(0, query_covariance) (eq. 2.8)."""
    lengths = prompt_lengths(L)
    distinct, back = np.unique(lengths, return_inverse=True)
    query = QueryAverage(Gamma, U, query_law(query_covariance, Gamma), distinct.max(initial=1))
    value, coarse = np.zeros(distinct.size), np.zeros(distinct.size)
    for term in terms:
        at_zero, at_scales = _function(term.function, query.scales, tuple(distinct.tolist()))
        weights = query.weights(*term.forms) / query.scales ** (2 * term.negative_powers)
        if term.negative_powers == 0:
            value += term.factor * query.mean(*term.forms) * at_zero
            coarse += term.factor * query.mean(*term.forms) * at_zero
            at_scales = at_scales - at_zero
        value += term.factor * weights @ at_scales
        coarse += term.factor * 2 * weights[::2] @ at_scales[::2]
    pair = [x[back].reshape(lengths.shape)[()] for x in (value, np.abs(value - coarse))]
    return tuple(pair) if return_error else pair[0]


_FUNCTIONS: dict[str, Callable[[Any], np.ndarray]] = {
    "q": lambda m: m[0],
    "kappa": lambda m: m[1],
    "q22+tau": lambda m: m.q22 + m.tau,
    "tau": lambda m: m.tau,
    "beta-tau": lambda m: m.beta - m.tau,
    "beta-tau-A2-q22": lambda m: (m.beta - m.tau) - (m.A2 + m.q22),
    "A1-4beta+2A2+q22+2tau": lambda m: m.A1 - 4 * m.beta + 2 * m.A2 + m.q22 + 2 * m.tau,
}


def _function(name: str, scales: np.ndarray, L: tuple) -> tuple[np.ndarray, np.ndarray]:
    """f at s = 0 (length,) and at the scales (scale, length)."""
    moments = _weight_moments if name in ("q", "kappa") else _covariance_moments
    at_scales = np.array([_FUNCTIONS[name](moments(s, L)) for s in scales.tolist()])
    return _FUNCTIONS[name](moments(0.0, L)), at_scales.reshape(len(scales), len(L))


@functools.lru_cache(maxsize=8192)
def _weight_moments(s: float, L: tuple) -> tuple[np.ndarray, np.ndarray]:
    return participation(s, np.array(L))


@functools.lru_cache(maxsize=8192)
def _covariance_moments(s: float, L: tuple) -> GradientMoments:
    return gradient_moments(s, L)
