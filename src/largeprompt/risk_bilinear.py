"""Risks of linear attention and of the infinite prompt: closed forms (docs/derivations.md, 3.2).

Their predictions are bilinear in (v, U), so the risk is a quadratic form in the products
v_i U_jx, with coefficients that are Gaussian moments of the token covariance Gamma_w.
"""

import numpy as np

from largeprompt.risk_problem import Problem


class BilinearRisk:
    """R(U, v) = E (prediction - y_q)^2 for linear attention at any L or infinite prompts (eq. 3.3).

    Parameters are one vector: U (D, D) by rows, then v (D), with D = d + 1.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        finite = 0.0 if problem.is_infinite else 1 / problem.L
        pairs = _covariance_products(problem)
        # equation (3.5): v_i v_k a_j a_l carries pairs[i, j, k, l]
        self._pairs = (1 + finite) * pairs + finite * pairs.transpose(0, 2, 1, 3)
        self._cross = _target_products(problem)
        self._constant = problem.noise_variance + problem.task_variance * np.trace(
            problem.query_covariance
        )

    def value_and_gradient(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Risk and its gradient, at parameters (D D + D,)."""
        U, v = self._split(theta)
        scores = self._score_form(v)  # (D, D)
        spread = U @ self.problem.query_covariance  # (D, d)
        linear = np.einsum("i,ijx->jx", v, self._cross)
        outputs = np.einsum("ijkl,jl->ik", self._pairs, spread @ U.T)
        gradient_U = 2 * (scores @ spread - linear)
        gradient_v = 2 * (outputs @ v - np.einsum("ijx,jx->i", self._cross, U))
        value = self._constant + v @ outputs @ v - 2 * np.sum(linear * U)
        return float(value), join(gradient_U, gradient_v)

    def hessian(self, theta: np.ndarray) -> np.ndarray:
        """Second derivatives (D D + D, D D + D)."""
        U, v = self._split(theta)
        D, d = U.shape
        C = self.problem.query_covariance
        spread = U @ C
        mixed = self._pairs + self._pairs.transpose(0, 3, 2, 1)
        mixed = 2 * np.einsum("ijkl,k,lx->ijx", mixed, v, spread) - 2 * self._cross
        hessian = np.zeros((D * D + D, D * D + D))
        rows = np.arange(D * D).reshape(D, D)[:, :d].ravel()
        hessian[np.ix_(rows, rows)] = 2 * np.kron(self._score_form(v), C)
        hessian[D * D :, rows] = mixed.reshape(D, D * d)
        hessian[rows, D * D :] = mixed.reshape(D, D * d).T
        hessian[D * D :, D * D :] = 2 * np.einsum("ijkl,jl->ik", self._pairs, spread @ U.T)
        return hessian

    def conserved(self, theta: np.ndarray) -> np.ndarray:
        """|U|^2 - |v|^2 over the acting columns of U: constant along the flow (equation 4.2)."""
        U, v = self._split(theta)
        return np.array([np.sum(U**2) - v @ v])

    def _score_form(self, v: np.ndarray) -> np.ndarray:
        return np.einsum("i,k,ijkl->jl", v, v, self._pairs)

    def _split(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        D = self.problem.d + 1
        return theta[: D * D].reshape(D, D)[:, : D - 1], theta[D * D :]


def join(gradient_U: np.ndarray, gradient_v: np.ndarray) -> np.ndarray:
    """One vector from the gradients in U (D, d) and v (D,); the last column of U never acts."""
    D = len(gradient_v)
    joined = np.zeros(D * D + D)
    joined[: D * D].reshape(D, D)[:, :-1] = gradient_U
    joined[D * D :] = gradient_v
    return joined


def _covariance_products(problem: Problem) -> np.ndarray:
    """E Gamma_ij Gamma_kl over the task w, (D, D, D, D), equation (3.4)."""
    Sigma, noise, task = problem.Sigma, problem.noise_variance, problem.task_variance
    d = problem.d
    signal = task * np.trace(Sigma)  # E w^T Sigma w
    label = signal + noise
    labels_squared = label**2 + 2 * task**2 * np.sum(Sigma**2)
    pairs = np.zeros((d + 1,) * 4)
    pairs[:d, :d, :d, :d] = np.multiply.outer(Sigma, Sigma)
    pairs[:d, :d, d, d] = pairs[d, d, :d, :d] = label * Sigma
    shared = task * Sigma @ Sigma  # E of the product of two entries of Sigma w
    pairs[:d, d, :d, d] = pairs[:d, d, d, :d] = shared
    pairs[d, :d, :d, d] = pairs[d, :d, d, :d] = shared
    pairs[d, d, d, d] = labels_squared
    return pairs


def _target_products(problem: Problem) -> np.ndarray:
    """E Gamma_ij x_q (w·x_q) over w and x_q, (D, D, d), equation (3.4)."""
    d = problem.d
    cross = np.zeros((d + 1, d + 1, d))
    cross[:d, d] = cross[d, :d] = problem.task_variance * (problem.Sigma @ problem.query_covariance)
    return cross
