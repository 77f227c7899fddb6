"""The token laws that the experiments compare, by name: each centred, of covariance I.

Gaussian tokens are the paper's; the others satisfy its concentration results but not Lemma 2.1.
A new law is one class in `measures` and one line here.
"""

import math

import numpy as np

from largeprompt.errors import InputError
from largeprompt.measures import (
    Gaussian,
    GaussianMixture,
    ProductRademacher,
    TokenLaw,
    UniformCube,
)

# Half the distance of the two mixture means; below 1 so that the total covariance can be I.
_MIXTURE_MEAN = 0.9


def _mixture(dimension: int) -> GaussianMixture:
    """Two equally likely components at +-m e_1, of covariance I - m^2 e_1 e_1^T."""
    mean = _MIXTURE_MEAN * np.eye(dimension)[0]
    covariance = np.eye(dimension) - np.outer(mean, mean)
    return GaussianMixture([0.5, 0.5], np.stack([mean, -mean]), np.stack([covariance] * 2))


_LAWS = {
    "gaussian": lambda d: Gaussian(np.zeros(d), np.eye(d)),
    "rademacher": ProductRademacher,
    "cube": lambda d: UniformCube(d, math.sqrt(3)),
    "mixture": _mixture,
}


def standard_law(name: str, dimension: int) -> TokenLaw:
    """The law `name` in R^dimension, of mean 0 and covariance I.

    Raises InputError if it is unknown, or not sub-Gaussian: its operator would be infinite.
    """
    if name not in _LAWS:
        raise InputError(f"law = {name!r}: must be one of {', '.join(_LAWS)}")
    law = _LAWS[name](dimension)
    if not math.isfinite(law.sub_gaussian):
        raise InputError(f"law = {name!r}: must be sub-Gaussian, with a finite sub_gaussian")
    return law
