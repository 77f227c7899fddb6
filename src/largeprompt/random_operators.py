"""Random attention problems of every kind that Lemma 2.1 admits (numpy)."""

from dataclasses import dataclass

import numpy as np

from largeprompt.covariances import square_root


@dataclass(frozen=True, eq=False)
class OperatorProblem:
    """Tokens N(mean, Gamma) in R^d, matrices U (d, d), V (m, d) and a query z (d,)."""

    mean: np.ndarray
    Gamma: np.ndarray
    U: np.ndarray
    V: np.ndarray
    z: np.ndarray

    @property
    def tilt(self) -> np.ndarray:
        """a = U z."""
        return self.U @ self.z

    @property
    def affine(self) -> np.ndarray:
        """V m + V Gamma U z, the operator by Lemma 2.1."""
        return self.V @ (self.mean + self.Gamma @ self.tilt)

    @property
    def uncentred(self) -> np.ndarray:
        """V (Gamma + m m^T) U z, what linear attention tends to; wrong for softmax if m != 0."""
        return self.V @ (self.Gamma + np.outer(self.mean, self.mean)) @ self.tilt


def random_problem(
    rng: np.random.Generator, dimension: int, rank: int, score_scale: float
) -> OperatorProblem:
    """A problem with Gamma of the given rank (<= d) and `|Gamma^(1/2) U z| = score_scale`."""
    d = dimension
    factor = rng.standard_normal((d, rank)) / np.sqrt(rank)
    Gamma = factor @ factor.T
    U, z = rng.standard_normal((d, d)), rng.standard_normal(d)
    V = rng.standard_normal((int(rng.integers(1, d + 1)), d))
    scale = np.linalg.norm(square_root(Gamma) @ U @ z)
    return OperatorProblem(rng.standard_normal(d), Gamma, U * (score_scale / scale), V, z)
