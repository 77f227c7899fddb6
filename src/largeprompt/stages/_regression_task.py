"""The regression task that a rule's settings describe."""

from collections.abc import Mapping
from typing import Any

from largeprompt.covariances import covariance_matrix
from largeprompt.tasks import RegressionTask


def regression_task(settings: Mapping[str, Any], variant: str) -> RegressionTask:
    """Task of the variant `as-stated` or `as-coded` (brief of both: DEVIATIONS.md)."""
    chosen = settings["regression"]
    Sigma = covariance_matrix(dimension=chosen["dimension"], **settings["covariance"])
    build = {"as-stated": RegressionTask.as_stated, "as-coded": RegressionTask.as_coded}[variant]
    return build(Sigma, chosen["noise_variance"], chosen["task_variance"])
