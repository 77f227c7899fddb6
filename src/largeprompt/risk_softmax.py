"""Risk of softmax attention on finite prompts (docs/derivations.md, 3.3 and 3.4).

The closed form of the infinite prompt carries most of the risk. What a finite prompt adds is
averaged over directions of the query times tasks, with the length of the query integrated
beforehand; every sum over nodes is a matrix product.
"""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from largeprompt.gaussian_cubature import gaussian_rule, half_sphere_rule
from largeprompt.length_table import length_table
from largeprompt.risk_bilinear import BilinearRisk
from largeprompt.risk_problem import Problem, square_root


@dataclass(frozen=True, eq=False)
class _Nodes:
    """Directions x (query, d) and tasks w (task, ...) with the products that the sums need."""

    x: np.ndarray  # (query, d)
    squares: np.ndarray  # (query, d d), x x^T
    query_weights: np.ndarray  # (query, 1)
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
    """R(U, v) = E (prediction - y_q)^2 for softmax attention on prompts of finite length.

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
        forms = self._forms(theta)
        (of_square, of_variance, of_product), slopes = self._averages(forms, order=1)
        nodes, m, n, y = self._nodes, forms.means, forms.output_variance, self._nodes.targets
        x = nodes.query_weights * nodes.x
        by_mean = (of_square * m + of_product * y) @ x  # (task, d)
        by_target = (of_product * m) @ x
        variance = of_variance @ nodes.query_weights  # (task, 1)
        added = np.sum(by_mean * forms.slopes + by_target * nodes.w, axis=1) + (variance * n)[:, 0]
        by_rho = (slopes[0] * m + 2 * slopes[2] * y) * m + slopes[1] * n
        second = (by_rho @ (nodes.query_weights * nodes.squares)).reshape(forms.rho.shape[0], -1)
        tasks = nodes.task_weights[:, None]
        first, second = 2 * tasks * by_mean, tasks * second
        gradient_v = np.einsum("tia,ta->i", forms.scores, first)
        gradient_v += 2 * (tasks * variance)[:, 0] @ forms.outputs
        second = second.reshape(-1, self.problem.d, self.problem.d)
        gradient_U = forms.outputs.T @ first + 2 * np.einsum("tia,tax->ix", forms.scores, second)
        total = float(nodes.task_weights @ added)
        return value + total, gradient + _join(gradient_U, gradient_v)

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

    def _averages(self, forms: _Forms, order: int) -> np.ndarray:
        """(order + 1, 3, task, query): averages over the length, and their rho-derivatives."""
        table = length_table(int(self.problem.L), self.problem.d, float(forms.rho.max()))
        return table(forms.rho, order)

    def _curvature_sums(self, forms: _Forms) -> dict[str, np.ndarray]:
        """Moments of the directions, per task, against the second derivatives of the integrand."""
        weights = self._nodes.task_weights[:, None]
        values, slopes, curvatures = self._averages(forms, order=2) * weights
        d, nodes, m, n = self.problem.d, self._nodes, forms.means, forms.output_variance
        y, x = nodes.targets, nodes.query_weights * nodes.x
        squares = nodes.query_weights * nodes.squares
        cubes = np.einsum("qa,qb->qab", x, nodes.squares).reshape(len(x), -1)
        fourths = np.einsum("qa,qb->qab", squares, nodes.squares).reshape(len(x), -1)
        by_rho = (slopes[0] * m + 2 * slopes[2] * y) * m + slopes[1] * n
        by_rho_twice = (curvatures[0] * m + 2 * curvatures[2] * y) * m + curvatures[1] * n
        by_rho_and_mean = 2 * (slopes[0] * m + slopes[2] * y)
        return {
            "mean": 2 * (values[0] * m + values[2] * y) @ x,
            "variance": (values[1] @ nodes.query_weights)[:, 0],
            "mean_mean": (2 * values[0] @ squares).reshape(-1, d, d),
            "rho": (by_rho @ squares).reshape(-1, d, d),
            "rho_variance": (slopes[1] @ squares).reshape(-1, d, d),
            "rho_mean": (by_rho_and_mean @ cubes).reshape(-1, d, d, d),
            "rho_rho": (by_rho_twice @ fourths).reshape(-1, d, d, d, d),
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
    weights = directions.weights[:, None]
    return _Nodes(x, squares, weights, w, w @ x.T, Gamma, tasks.weights)


def _join(gradient_U: np.ndarray, gradient_v: np.ndarray) -> np.ndarray:
    return np.concatenate([np.pad(gradient_U, ((0, 0), (0, 1))).ravel(), gradient_v])


def _assemble(Gamma: np.ndarray, forms: _Forms, sums: dict[str, np.ndarray]) -> np.ndarray:
    """Second derivatives in (U by rows, v) from the sums over directions (equation 3.8)."""
    D, d = forms.scores.shape[1:]
    G, nu = forms.scores, forms.outputs
    twice = np.einsum("tia,tabx->tibx", G, sums["rho_mean"])  # one index carried to outputs
    of_pair = 2 * np.einsum("tjb,tibx->tijx", G, twice)
    flat = G.transpose(0, 2, 1)
    fourth = sums["rho_rho"].transpose(0, 2, 4, 1, 3)  # (task, x, y, a, b)
    fourth = 4 * np.einsum("tjkxy->jxky", _sandwich(flat, fourth))
    third = 2 * np.einsum("tia,tayx,tk->ixky", G, sums["rho_mean"], nu, optimize=True)
    UU = fourth + third + third.transpose(2, 3, 0, 1)
    UU += 2 * np.tensordot(Gamma, sums["rho"], (0, 0)).transpose(0, 2, 1, 3)
    UU += np.einsum("tj,tk,txy->jxky", nu, nu, sums["mean_mean"], optimize=True)
    carried = G @ sums["mean_mean"]  # (task, D, d)
    vU = of_pair.sum(axis=0) + np.einsum("tix,tj->ijx", carried, nu)
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


def _sandwich(factors: np.ndarray, moments: np.ndarray) -> np.ndarray:
    """sum_ab factors_aj moments_xyab factors_bk, per task: (task, j, k, x, y)."""
    tasks, d, D = factors.shape
    right = moments.reshape(tasks, -1, d) @ factors  # (task, x y a, k)
    right = right.reshape(tasks, d * d, d, D).transpose(0, 2, 1, 3).reshape(tasks, d, -1)
    both = factors.transpose(0, 2, 1) @ right  # (task, j, x y k)
    return both.reshape(tasks, D, d, d, D).transpose(0, 1, 4, 2, 3)
