"""The token law that a config entry describes."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from largeprompt.covariances import covariance_matrix
from largeprompt.measures import TokenLaw
from largeprompt.standard_laws import standard_law


def token_law(name: str, dimension: int, covariance: Mapping[str, Any]) -> TokenLaw:
    """The standard law `name`, mapped to the covariance of a config entry ({kind, rho})."""
    Gamma = covariance_matrix(dimension=dimension, **covariance)
    return standard_law(name, dimension).linear_image(np.linalg.cholesky(Gamma))
