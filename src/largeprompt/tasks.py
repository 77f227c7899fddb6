"""The task of in-context linear regression: laws of inputs, label noise and weights (numpy)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from largeprompt.covariances import checked_covariance, square_root
from largeprompt.errors import InputError


@dataclass(frozen=True, eq=False)
class RegressionTask:
    """Laws of the context inputs, the query input, the label noise and the weights.

    Sigma, query_covariance: (d, d), positive semi-definite. Raises InputError for matrices that
    are not covariances of one size, a negative noise or a task variance that is not positive.
    """

    Sigma: np.ndarray
    query_covariance: np.ndarray
    noise_variance: float
    task_variance: float

    def __post_init__(self) -> None:
        Sigma = checked_covariance("Sigma", self.Sigma)
        query_covariance = checked_covariance("query_covariance", self.query_covariance)
        if Sigma.shape != query_covariance.shape:
            raise InputError(
                f"query_covariance has shape {query_covariance.shape}: "
                f"must have the shape {Sigma.shape} of Sigma"
            )
        if not 0 <= self.noise_variance < np.inf:
            raise InputError(f"noise_variance = {self.noise_variance}: must be at least 0, finite")
        if not 0 < self.task_variance < np.inf:
            raise InputError(f"task_variance = {self.task_variance}: must be positive and finite")
        object.__setattr__(self, "Sigma", Sigma)
        object.__setattr__(self, "query_covariance", query_covariance)

    @classmethod
    def as_stated(
        cls, Sigma: np.ndarray, noise_variance: float, task_variance: float
    ) -> "RegressionTask":
        """The paper's text: context and query inputs share the law N(0, Sigma)."""
        return cls(Sigma, Sigma, noise_variance, task_variance)

    @classmethod
    def as_coded(
        cls, Sigma: np.ndarray, noise_variance: float, task_variance: float
    ) -> "RegressionTask":
        """The authors' data code: the root of Sigma acts twice on the context, never on the query.

        The context covariance is `C Sigma C^T`, C the lower Cholesky factor of Sigma; the query is
        N(0, I). Raises InputError for a singular Sigma, which has no unique factor.
        """
        Sigma = checked_covariance("Sigma", Sigma)
        try:
            factor = np.linalg.cholesky(Sigma)
        except np.linalg.LinAlgError:
            raise InputError("Sigma is singular: the as-coded data need it invertible") from None
        context = factor @ Sigma @ factor.T
        return cls((context + context.T) / 2, np.eye(len(Sigma)), noise_variance, task_variance)

    @property
    def dimension(self) -> int:
        """Dimension d of the inputs; tokens have d + 1 coordinates."""
        return len(self.Sigma)

    @cached_property
    def context_root(self) -> np.ndarray:
        """Symmetric square root (d, d) of Sigma."""
        return square_root(self.Sigma)

    @cached_property
    def query_root(self) -> np.ndarray:
        """Symmetric square root (d, d) of the query covariance."""
        return square_root(self.query_covariance)
