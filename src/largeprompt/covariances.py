"""Covariance matrices of the inputs, their checks and their square roots (numpy)."""

import numpy as np

from largeprompt.errors import InputError

KINDS = ("isotropic", "autoregressive")
_TOLERANCE = 1e-10


def covariance_matrix(kind: str, dimension: int, rho: float | None = None) -> np.ndarray:
    """Covariance (d, d) of the inputs: the identity, or `Sigma_ij = rho^|i-j|` (paper, section 6).

    Raises InputError for an unknown kind, a dimension below 1, a missing, surplus or
    out-of-range rho.
    """
    if kind not in KINDS:
        raise InputError(f"covariance kind = {kind!r}: must be one of {', '.join(KINDS)}")
    if dimension < 1:
        raise InputError(f"dimension = {dimension}: must be at least 1")
    if kind == "isotropic":
        if rho is not None:
            raise InputError(f"rho = {rho}: the isotropic covariance takes no rho")
        return np.eye(dimension)
    if rho is None or not -1 < rho < 1:
        raise InputError(f"rho = {rho}: the autoregressive covariance needs -1 < rho < 1")
    index = np.arange(dimension)
    return float(rho) ** np.abs(index[:, None] - index)


def checked_covariance(name: str, matrix: np.ndarray) -> np.ndarray:
    """`matrix` as a float64 array (d, d); InputError unless symmetric positive semi-definite."""
    matrix = np.asarray(matrix, dtype=float)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"{name} has shape {matrix.shape}: must be a square matrix")
    if not np.isfinite(matrix).all():
        raise InputError(f"{name} holds an infinite value or not a number: must be finite")
    scale = np.abs(matrix).max()
    if np.abs(matrix - matrix.T).max() > _TOLERANCE * scale:
        raise InputError(f"{name} is not symmetric: a covariance must be")
    smallest = np.linalg.eigvalsh(matrix)[0]
    if smallest < -_TOLERANCE * scale:
        raise InputError(f"{name} has the eigenvalue {smallest:.3g}: none may be negative")
    return matrix


def square_root(matrix: np.ndarray) -> np.ndarray:
    """Symmetric square root (d, d) of a covariance; it may be singular."""
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
