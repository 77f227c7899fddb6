"""Risks in other parameters: the factorised model (Q, K, V, O) and the subspace of Theorem 5.1."""

from typing import Protocol

import numpy as np


class Risk(Protocol):
    """What gradient flow needs to know about a risk; parameters are one vector."""

    def value_and_gradient(self, theta: np.ndarray) -> tuple[float, np.ndarray]: ...

    def hessian(self, theta: np.ndarray) -> np.ndarray: ...

    def conserved(self, theta: np.ndarray) -> np.ndarray:
        """Quantities that the exact flow keeps constant, as one vector."""
        ...


class FactorisedRisk:
    """The risk of one head: U = K^T Q / sqrt(D), v = V^T O^T, with D = d + 1 (equation 3.9).

    Parameters are one vector: Q, K, V (D, D) by rows, then O (D,). `merged` is a risk in (U, v).
    """

    def __init__(self, merged: Risk, d: int) -> None:
        self.merged = merged
        self.D = d + 1

    def pack(self, Q: np.ndarray, K: np.ndarray, V: np.ndarray, O: np.ndarray) -> np.ndarray:  # noqa: E741
        """The parameter vector (3 D D + D,)."""
        return np.concatenate([np.ravel(part) for part in (Q, K, V, O)])

    def unpack(self, theta: np.ndarray) -> tuple[np.ndarray, ...]:
        """Q, K, V (D, D) and O (D,) of a parameter vector."""
        square = self.D**2
        matrices = theta[: 3 * square].reshape(3, self.D, self.D)
        return *matrices, theta[3 * square :]

    def merge(self, theta: np.ndarray) -> np.ndarray:
        """The vector (U by rows, v) that the parameters realise."""
        Q, K, V, output = self.unpack(theta)
        return np.concatenate([(K.T @ Q / np.sqrt(self.D)).ravel(), output @ V])

    def value_and_gradient(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Risk and gradient, at parameters (3 D D + D,)."""
        Q, K, V, output = self.unpack(theta)
        value, gradient = self.merged.value_and_gradient(self.merge(theta))
        of_U, of_v = self._split(gradient)
        of_U = of_U / np.sqrt(self.D)
        return value, self.pack(K @ of_U, Q @ of_U.T, np.outer(output, of_v), V @ of_v)

    def hessian(self, theta: np.ndarray) -> np.ndarray:
        """Second derivatives (3 D D + D, 3 D D + D)."""
        jacobian = self._jacobian(theta)
        _, gradient = self.merged.value_and_gradient(self.merge(theta))
        curvature = self._second_order(*self._split(gradient))
        return jacobian.T @ self.merged.hessian(self.merge(theta)) @ jacobian + curvature

    def conserved(self, theta: np.ndarray) -> np.ndarray:
        """K K^T - Q Q^T and V V^T - O^T O, constant at every L (equation 4.3)."""
        Q, K, V, output = self.unpack(theta)
        scores = K @ K.T - Q @ Q.T
        return np.concatenate([scores.ravel(), (V @ V.T - np.outer(output, output)).ravel()])

    def _split(self, merged: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return merged[: self.D**2].reshape(self.D, self.D), merged[self.D**2 :]

    def _jacobian(self, theta: np.ndarray) -> np.ndarray:
        """Derivatives of (U, v) in the factors, (D D + D, 3 D D + D)."""
        Q, K, V, output = self.unpack(theta)
        D, square, eye = self.D, self.D**2, np.eye(self.D)
        jacobian = np.zeros((square + D, 3 * square + D))
        of_Q = np.einsum("ki,jm->ijkm", K, eye) / np.sqrt(D)
        of_K = np.einsum("kj,im->ijkm", Q, eye) / np.sqrt(D)
        jacobian[:square, :square] = of_Q.reshape(square, square)
        jacobian[:square, square : 2 * square] = of_K.reshape(square, square)
        jacobian[square:, 2 * square : 3 * square] = np.kron(output, eye)
        jacobian[square:, 3 * square :] = V.T
        return jacobian

    def _second_order(self, of_U: np.ndarray, of_v: np.ndarray) -> np.ndarray:
        """Contribution of the second derivatives of (U, v), which pair Q with K and V with O."""
        D, square = self.D, self.D**2
        curvature = np.zeros((3 * square + D,) * 2)
        of_pairs = np.kron(np.eye(D), of_U / np.sqrt(D))  # rows K_ki, columns Q_kj
        curvature[square : 2 * square, :square] = of_pairs
        curvature[:square, square : 2 * square] = of_pairs.T
        of_outputs = np.kron(np.eye(D), of_v)  # rows O_k, columns V_ki
        curvature[3 * square :, 2 * square : 3 * square] = of_outputs
        curvature[2 * square : 3 * square, 3 * square :] = of_outputs.T
        return curvature


class RestrictedRisk:
    """`factor` times a risk in which all parameters but those at `indices` are zero."""

    def __init__(self, full: Risk, size: int, indices: np.ndarray, factor: float) -> None:
        self.full, self.size, self.indices, self.factor = full, size, indices, factor

    def value_and_gradient(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = self.full.value_and_gradient(self._embed(theta))
        return self.factor * value, self.factor * gradient[self.indices]

    def hessian(self, theta: np.ndarray) -> np.ndarray:
        hessian = self.full.hessian(self._embed(theta))
        return self.factor * hessian[np.ix_(self.indices, self.indices)]

    def conserved(self, theta: np.ndarray) -> np.ndarray:
        return self.full.conserved(self._embed(theta))

    def _embed(self, theta: np.ndarray) -> np.ndarray:
        full = np.zeros(self.size)
        full[self.indices] = theta
        return full
