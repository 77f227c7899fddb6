"""Gradient flow d theta / dt = -grad R(theta) on the exact risks (docs/derivations.md, eq. 4.1).

Time is that of the risk handed in. Stochastic training minimises E (prediction - y_q)^2, so on
`risk.merged_risk` and `risk.factorised_risk` t = steps x learning rate; `risk.reduced_training`
carries the factor 1/2 of Theorem 5.1, and its time runs half as fast.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import Radau

from largeprompt.errors import InputError
from largeprompt.risk_factorised import Risk

_DESCENT_SLACK = 10.0  # in units of the integrator's tolerance


class NotADescentError(ArithmeticError):
    """The risk grew along what should be its gradient flow: gradient or integrator is wrong."""


@dataclass(frozen=True, eq=False)
class GradientFlow:
    """A path of the flow at `times`."""

    times: np.ndarray  # (T,)
    theta: np.ndarray  # (T, parameter)
    risk: np.ndarray  # (T,)
    gradient_norm: np.ndarray  # (T,)
    drift: np.ndarray  # (T,), largest departure of a conserved quantity from its start
    converged: bool
    evaluations: int  # of the gradient, while integrating


def gradient_flow(
    risk: Risk,
    start: ArrayLike,
    times: ArrayLike | None = None,
    *,
    tolerance: float = 1e-5,
    stationarity: float = 1e-8,
    horizon: float = 1e12,
) -> GradientFlow:
    """Path of the flow from `start` (parameter,), by an implicit method with the exact Hessian.

    With `times` (increasing, from 0 on) the path at those times. Without, the path at the
    integrator's own steps until the gradient norm is at most `stationarity` times the largest one
    met on the way, or `horizon` is reached. `converged` says whether that ratio was met.
    `tolerance` is the relative local error of a step.

    Raises InputError for an unusable argument and NotADescentError if the risk grows.
    """
    start = _checked_start(start)
    grid = None if times is None else _checked_times(times)
    for name, value in (("tolerance", tolerance), ("stationarity", stationarity)):
        if not 0 < value < 1:
            raise InputError(f"{name}: {value!r}, must lie in (0, 1)")
    if not 0 < horizon < np.inf:
        raise InputError(f"horizon: {horizon!r}, must be a positive number")
    until = horizon if grid is None else float(grid[-1])
    steps = _integrate(risk, start, until, tolerance, stationarity if grid is None else 0.0)
    if grid is None:
        output_times, theta = np.array(steps.times), np.array(steps.thetas)
    else:
        output_times, theta = grid, steps.at(grid)
    return _describe(risk, output_times, theta, steps, tolerance, stationarity)


class _Steps:
    """Accepted steps of the integrator with their interpolants."""

    def __init__(self, start: np.ndarray) -> None:
        self.times, self.thetas, self.interpolants = [0.0], [start], []
        self.evaluations = 0
        self.largest_gradient = 0.0

    def at(self, grid: np.ndarray) -> np.ndarray:
        """Parameters at the times of `grid`, (T, parameter)."""
        step = np.searchsorted(self.times, grid) - 1
        values = [
            self.interpolants[k](t) if self.interpolants and k >= 0 else self.thetas[0]
            for k, t in zip(step, grid, strict=True)
        ]
        return np.array(values)


def _integrate(
    risk: Risk, start: np.ndarray, until: float, tolerance: float, stationarity: float
) -> _Steps:
    """Integrate to `until`, or to a gradient norm of `stationarity` times the largest one."""
    steps = _Steps(start)
    norm = float(np.linalg.norm(risk.value_and_gradient(start)[1]))
    steps.largest_gradient = norm
    if until == 0 or norm == 0:
        return steps
    solver = Radau(
        lambda t, theta: -risk.value_and_gradient(theta)[1],
        0.0,
        start,
        until,
        rtol=tolerance,
        atol=tolerance / 10,
        jac=lambda t, theta: -risk.hessian(theta),
    )
    while solver.status == "running" and norm > stationarity * steps.largest_gradient:
        failure = solver.step()
        if solver.status == "failed":
            raise ArithmeticError(f"gradient flow stopped at t = {solver.t:.6g}: {failure}")
        norm = float(np.linalg.norm(solver.f))
        steps.largest_gradient = max(steps.largest_gradient, norm)
        steps.times.append(solver.t)
        steps.thetas.append(solver.y.copy())
        steps.interpolants.append(solver.dense_output())
    steps.evaluations = solver.nfev
    return steps


def _describe(
    risk: Risk,
    times: np.ndarray,
    theta: np.ndarray,
    steps: _Steps,
    tolerance: float,
    stationarity: float,
) -> GradientFlow:
    """The path with its risk, gradient norm and conserved quantities; checks the descent."""
    values, gradients = zip(*(risk.value_and_gradient(point) for point in theta), strict=True)
    values = np.array(values)
    norms = np.linalg.norm(np.array(gradients), axis=1)
    growth = np.diff(values)
    if growth.size and growth.max() > _DESCENT_SLACK * tolerance * np.abs(values).max():
        worst = int(np.argmax(growth))
        raise NotADescentError(
            f"risk grows by {growth[worst]:.3g} between t = {times[worst]:.6g} "
            f"and t = {times[worst + 1]:.6g}"
        )
    conserved = np.array([risk.conserved(point) for point in theta])
    start = risk.conserved(steps.thetas[0])
    drift = np.abs(conserved - start).max(axis=1, initial=0.0)
    converged = bool(norms[-1] <= stationarity * steps.largest_gradient)
    return GradientFlow(times, theta, values, norms, drift, converged, steps.evaluations)


def _checked_start(start: ArrayLike) -> np.ndarray:
    theta = np.asarray(start, dtype=float)
    if theta.ndim != 1 or not np.isfinite(theta).all():
        raise InputError("start: must be a vector of finite numbers")
    return theta


def _checked_times(times: ArrayLike) -> np.ndarray:
    grid = np.asarray(times, dtype=float)
    if grid.ndim != 1 or not grid.size or not np.isfinite(grid).all():
        raise InputError("times: must be a non-empty vector of finite numbers")
    if grid[0] < 0 or (np.diff(grid) <= 0).any():
        raise InputError("times: must increase, from 0 on")
    return grid
