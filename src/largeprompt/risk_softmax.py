"""Risk of softmax attention on finite prompts (docs/derivations.md, 3.3 and 3.4).

The closed form of the infinite prompt carries most of the risk. What a finite prompt adds is
averaged over directions of the query times tasks, with the length of the query integrated
beforehand; every sum over nodes is a matrix product.
"""

import itertools
import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from largeprompt.covariances import square_root
from largeprompt.gaussian_cubature import gaussian_rule, half_sphere_rule
from largeprompt.length_table import LengthTable, length_table
from largeprompt.risk_bilinear import BilinearRisk, join
from largeprompt.risk_problem import Problem


class _Power(NamedTuple):
    """The symmetric tensor power x ⊗ ... ⊗ x of the directions by its distinct entries."""

    entries: np.ndarray  # (distinct, query), times the weight of the direction
    places: np.ndarray  # (d, ..., d), where each entry of the tensor is among the distinct ones


@dataclass(frozen=True, eq=False)
class _Nodes:
    """Directions x (query, d) and tasks w (task, ...) with the products that the sums need."""

    x: np.ndarray  # (query, d)
    squares: np.ndarray  # (query, d d), x x^T
    powers: tuple[_Power, ...]  # of degree 0 to 4
    w: np.ndarray  # (task, d)
    targets: np.ndarray  # (task, query), w·x
    Gamma: np.ndarray  # (task, D, D)
    task_weights: np.ndarray  # (task,)


class _Forms(NamedTuple):
    """The forms of one (U, v) at all nodes."""

    scores: np.ndarray  # Gamma U, (task, D, d)
    outputs: np.ndarray  # Gamma v, (task, D)
    output_variance: np.ndarray  # n = v^T Gamma v, (task, 1)
    slopes: np.ndarray  # U^T Gamma v, (task, d)
    means: np.ndarray  # m = v^T Gamma U x, (task, query)
    rho: np.ndarray  # x^T U^T Gamma U x, (task, query)


class SoftmaxRisk:
    """R(U, v) = E (prediction - y_q)^2 for softmax attention on finite prompts (eq. 3.2 as 3.6).

    Parameters are one vector: U (D, D) by rows, then v (D), with D = d + 1. Rules are exact up
    to the given odd degrees in the direction of the query and in the task.
    """

    def __init__(self, problem: Problem, query_degree: int, task_degree: int) -> None:
        self.problem = problem
        self._infinite = BilinearRisk(replace(problem, L=math.inf))
        self._nodes = _nodes(problem, query_degree, task_degree)

    def value_and_gradient(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Risk and its gradient, at parameters (D D + D,)."""
        value, gradient = self._infinite.value_and_gradient(theta)
        forms, nodes = self._forms(theta), self._nodes
        powers = tuple(power.entries for power in nodes.powers[:3])
        moments = self._table(forms).gradient_moments(
            *(forms.rho, forms.means, forms.output_variance, nodes.targets, powers)
        )
        by_mean, by_target, variance, second = map(self._over_tasks, moments, (1, 1, 0, 2))
        added = np.sum(by_mean * forms.slopes + by_target * nodes.w)
        added += variance @ forms.output_variance[:, 0]
        gradient_v = np.tensordot(by_mean, forms.scores, ((0, 1), (0, 2)))
        gradient_v += variance @ forms.outputs
        gradient_U = forms.outputs.T @ by_mean + (forms.scores @ second).sum(axis=0)
        return value + float(added), gradient + 2 * join(gradient_U, gradient_v)

    def hessian(self, theta: np.ndarray) -> np.ndarray:
        """Second derivatives (D D + D, D D + D)."""
        forms = self._forms(theta)
        sums = self._curvature_sums(forms)
        return self._infinite.hessian(theta) + _assemble(self._nodes.Gamma, forms, sums)

    def conserved(self, theta: np.ndarray) -> np.ndarray:
        """Nothing: at a finite prompt |U|^2 - |v|^2 changes along the flow (equation 4.2)."""
        return np.empty(0)

    def _forms(self, theta: np.ndarray) -> _Forms:
        d, nodes = self.problem.d, self._nodes
        D = d + 1
        U, v = theta[: D * D].reshape(D, D)[:, :d], theta[D * D :]
        scores, outputs = nodes.Gamma @ U, nodes.Gamma @ v
        squares = (U.T @ scores).reshape(-1, d * d)
        rho = np.maximum(squares @ nodes.squares.T, 0.0)  # round-off may leave -1e-17
        slopes = outputs @ U
        return _Forms(scores, outputs, (outputs @ v)[:, None], slopes, slopes @ nodes.x.T, rho)

    def _table(self, forms: _Forms) -> LengthTable:
        return length_table(int(self.problem.L), self.problem.d, float(forms.rho.max()))

    def _moments(self, factors: np.ndarray, degree: int) -> np.ndarray:
        """Sums of factors (task, query) times the power of x, per weighted task: (task, d, ...)."""
        return self._over_tasks(factors @ self._nodes.powers[degree].entries.T, degree)

    def _over_tasks(self, distinct: np.ndarray, degree: int) -> np.ndarray:
        """Symmetric tensors (task, d, ...) from their distinct entries, times weights of tasks."""
        weighted = self._nodes.task_weights[:, None] * distinct
        return weighted[:, self._nodes.powers[degree].places]

    def _curvature_sums(self, forms: _Forms) -> dict[str, np.ndarray]:
        """Moments of the directions, per task, against the second derivatives of the integrand."""
        values, slopes, curvatures = self._table(forms).derivatives(forms.rho)
        m, n, y = forms.means, forms.output_variance, self._nodes.targets
        by_rho = (slopes[0] * m + 2 * slopes[2] * y) * m + slopes[1] * n
        by_rho_twice = (curvatures[0] * m + 2 * curvatures[2] * y) * m + curvatures[1] * n
        return {
            "variance": self._moments(values[1], 0),
            "mean": 2 * self._moments(values[0] * m + values[2] * y, 1),
            "mean_mean": 2 * self._moments(values[0], 2),
            "rho": self._moments(by_rho, 2),
            "rho_variance": self._moments(slopes[1], 2),
            "rho_mean": 2 * self._moments(slopes[0] * m + slopes[2] * y, 3),
            "rho_rho": self._moments(by_rho_twice, 4),
        }


def _nodes(problem: Problem, query_degree: int, task_degree: int) -> _Nodes:
    directions = half_sphere_rule(problem.d, query_degree)
    tasks = gaussian_rule(problem.d, task_degree)
    x = directions.nodes @ square_root(problem.query_covariance)
    w = np.sqrt(problem.task_variance) * tasks.nodes
    D = problem.d + 1
    Gamma = np.empty((len(w), D, D))
    signal = w @ problem.Sigma  # (task, d)
    Gamma[:, :-1, :-1] = problem.Sigma
    Gamma[:, :-1, -1] = Gamma[:, -1, :-1] = signal
    Gamma[:, -1, -1] = np.sum(signal * w, axis=1) + problem.noise_variance
    squares = (x[:, :, None] * x[:, None, :]).reshape(len(x), -1)
    powers = tuple(_power(x, directions.weights, degree) for degree in range(5))
    return _Nodes(x, squares, powers, w, w @ x.T, Gamma, tasks.weights)


def _power(x: np.ndarray, weights: np.ndarray, degree: int) -> _Power:
    d = x.shape[1]
    distinct = list(itertools.combinations_with_replacement(range(d), degree))
    entries = [weights * math.prod(x.T[list(indices)]) for indices in distinct]
    place = {indices: i for i, indices in enumerate(distinct)}
    places = [place[tuple(sorted(i))] for i in itertools.product(range(d), repeat=degree)]
    return _Power(np.array(entries), np.reshape(places, (d,) * degree))


def _assemble(Gamma: np.ndarray, forms: _Forms, sums: dict[str, np.ndarray]) -> np.ndarray:
    """Second derivatives in (U by rows, v) from the sums over directions (equation 3.8)."""
    tasks, D, d = forms.scores.shape
    G, nu = forms.scores, forms.outputs
    # one index of the third moments taken to outputs, (task, D, d, d)
    cubes = (G @ sums["rho_mean"].reshape(tasks, d, -1)).reshape(tasks, D, d, d)
    of_pair = 2 * np.tensordot(cubes, G, ((0, 2), (0, 2))).transpose(0, 2, 1)
    third = 2 * np.tensordot(cubes, nu, (0, 0)).transpose(0, 2, 3, 1)
    fourth = sums["rho_rho"].reshape(tasks, -1, d) @ G.transpose(0, 2, 1)  # (task, a x y, k)
    fourth = np.tensordot(G, fourth.reshape(tasks, d, -1), ((0, 2), (0, 1)))  # (j, x y k)
    fourth = 4 * fourth.reshape(D, d, d, D).transpose(0, 1, 3, 2)
    UU = fourth + third + third.transpose(2, 3, 0, 1)
    UU += 2 * np.tensordot(Gamma, sums["rho"], (0, 0)).transpose(0, 2, 1, 3)
    pairs = (nu[:, :, None] * nu[:, None, :]).reshape(tasks, -1)
    mean_mean = pairs.T @ sums["mean_mean"].reshape(tasks, -1)
    UU += mean_mean.reshape(D, D, d, d).transpose(0, 2, 1, 3)
    carried = G @ sums["mean_mean"]  # (task, D, d)
    vU = of_pair + np.einsum("tix,tj->ijx", carried, nu)
    vU += np.tensordot(Gamma, sums["mean"], (0, 0))
    vU += 4 * np.einsum("ti,tjx->ijx", nu, G @ sums["rho_variance"])
    vv = np.tensordot(carried, G, ((0, 2), (0, 2)))
    vv += 2 * np.tensordot(sums["variance"], Gamma, (0, 0))
    hessian = np.zeros((D * D + D, D * D + D))
    rows = np.arange(D * D).reshape(D, D)[:, :d].ravel()
    hessian[np.ix_(rows, rows)] = UU.reshape(D * d, D * d)
    hessian[D * D :, rows] = vU.reshape(D, D * d)
    hessian[rows, D * D :] = vU.reshape(D, D * d).T
    hessian[D * D :, D * D :] = vv
    return hessian
