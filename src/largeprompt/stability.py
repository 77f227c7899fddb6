"""Lemma D.1 and Corollary D.3: how close training at a finite prompt stays to the infinite one.

If |grad R_L - grad R_inf| <= g2 and grad R_inf is beta-Lipschitz on a set that holds both paths
and the segments between them, then |theta_L(t) - theta_inf(t)| <= g2 t exp(beta t). A supremum over
fewer points is smaller, so an envelope from sampled points is a stricter test than the lemma's.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import lambertw

from largeprompt.errors import InputError
from largeprompt.risk_factorised import Risk

SEGMENT_PARTS = 3  # points on each segment between the two paths, besides its ends


@dataclass(frozen=True)
class Gap:
    """Largest distances between two risks on a set of points: g1 and g2 of the paper."""

    risk: float
    gradient: float


def gap(risk: Risk, limit: Risk, points: np.ndarray) -> Gap:
    """Suprema of |R - R_inf| and |grad R - grad R_inf| over `points` (point, parameter)."""
    values, gradients = _at(risk, points)
    limit_values, limit_gradients = _at(limit, points)
    return Gap(
        float(np.abs(values - limit_values).max()),
        float(np.linalg.norm(gradients - limit_gradients, axis=1).max()),
    )


def curvature(risk: Risk, points: np.ndarray) -> float:
    """Largest |eigenvalue| of the Hessian over `points` (point, parameter): beta."""
    return max(float(np.abs(np.linalg.eigvalsh(risk.hessian(p))).max()) for p in points)


def log_envelope(gradient_gap: float, beta: float, times: np.ndarray) -> np.ndarray:
    """ln(g2 t exp(beta t)) at times > 0; the envelope itself may overflow."""
    times = np.asarray(times, dtype=float)
    if not (times > 0).all():
        raise InputError("times: must be positive")
    return np.log(gradient_gap * times) + beta * times


def segments(path: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """Points on the segments between two paths (time, parameter) at equal times, ends included."""
    shares = np.linspace(0, 1, SEGMENT_PARTS + 2)[:, None, None]
    return (path + shares * (limit - path)).reshape(-1, path.shape[1])


def sphere(rng: np.random.Generator, count: int, size: int, radius: float) -> np.ndarray:
    """`count` points (count, size) spread evenly over the sphere: the border of a ball."""
    directions = rng.normal(size=(count, size))
    return radius * directions / np.linalg.norm(directions, axis=1, keepdims=True)


def useful_until(gradient_gap: float, beta: float, bound: float) -> float:
    """The time up to which g2 t exp(beta t) <= `bound`: W(beta bound / g2) / beta."""
    return float(lambertw(beta * bound / gradient_gap).real / beta)


def _at(risk: Risk, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values, gradients = zip(*(risk.value_and_gradient(p) for p in points), strict=True)
    return np.array(values), np.array(gradients)
