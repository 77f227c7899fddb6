"""The laws that experiments compare are standardised, and two of them are no Gaussians."""

import math
from types import SimpleNamespace

import pytest
import torch

from largeprompt import standard_laws
from largeprompt.errors import InputError
from largeprompt.standard_laws import standard_law

NAMES = ["gaussian", "rademacher", "cube", "mixture"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dimension", [1, 3])
def test_law_has_mean_zero_and_covariance_identity(name, dimension):
    law = standard_law(name, dimension)
    assert torch.allclose(law.mean, torch.zeros(dimension).double(), atol=1e-12)
    assert torch.allclose(law.covariance, torch.eye(dimension).double(), atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_only_the_gaussian_has_a_linear_tilted_mean(name):
    a = torch.tensor([1.0, -0.5, 0.25], dtype=torch.float64)
    off = float((standard_law(name, 3).tilted_mean(a) - a).abs().max())
    assert (off < 1e-12) == (name == "gaussian")


def test_unknown_law_is_refused_with_the_known_ones():
    with pytest.raises(InputError, match="must be one of gaussian, rademacher, cube, mixture"):
        standard_law("cauchy", 2)


def test_law_that_is_not_sub_gaussian_is_refused(monkeypatch):
    laplace = SimpleNamespace(sub_gaussian=math.inf)
    monkeypatch.setitem(standard_laws._LAWS, "laplace", lambda dimension: laplace)
    with pytest.raises(InputError, match="law = 'laplace': must be sub-Gaussian"):
        standard_law("laplace", 2)
