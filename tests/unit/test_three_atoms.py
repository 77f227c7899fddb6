"""The three-atom law: error by simulation, sub-Gaussianity, conditions of Prop 3.1."""

import math

import numpy as np
import pytest

from largeprompt.errors import InputError
from largeprompt.rate_forms import class_exponent
from largeprompt.seeding import stream
from largeprompt.three_atoms import log_mgf, three_atom_error, three_atom_fourth_moment


@pytest.mark.parametrize(("tilt", "L"), [(0.7, 2), (2.0, 5), (1.0, 40)])
def test_error_is_that_of_simulated_prompts(tilt, L):
    """5 standard errors: passed by chance with probability 6e-7 each."""
    rng, atom, size = stream(1, "atoms", L), math.sqrt(2 * math.log(L)), 200_000
    tokens = rng.choice([-atom, 0, atom], p=[0.5 / L, 1 - 1 / L, 0.5 / L], size=(size, L))
    a = math.sqrt(tilt) * rng.standard_normal(size)
    weights = np.exp(tokens * a[:, None])
    finite = (weights * tokens).sum(1) / weights.sum(1)
    masses = np.exp(np.outer(a, [-atom, 0, atom])) * [0.5 / L, 1 - 1 / L, 0.5 / L]
    limit = masses @ [-atom, 0, atom] / masses.sum(1)
    squares = (finite - limit) ** 2
    error = three_atom_error(tilt, L)
    assert abs(squares.mean() - error) < 5 * squares.std() / math.sqrt(size)
    fourth = limit**4
    gap = fourth.mean() - three_atom_fourth_moment(tilt, L)
    assert abs(gap) < 5 * fourth.std() / math.sqrt(size)


@pytest.mark.parametrize("L", [2, 3, 10, 1e6, 1e40])
def test_law_is_sub_gaussian_with_nothing_to_spare(L):
    a = np.linspace(1e-3, 4 * math.sqrt(2 * math.log(L)), 20_001)
    ratio = log_mgf(a, L) / (a**2 / 2)
    assert ratio.max() <= 1
    if L > 1e5:
        assert ratio.max() > 0.9  # a larger atom would break it


@pytest.mark.parametrize("tilt", [0.5, 1.0, 2.0])
def test_local_exponent_tends_to_the_class_exponent(tilt):
    """Up to the square root of ln L that the error carries."""
    lower, upper = (three_atom_error(tilt, L) for L in (1e40, 1e42))
    slope = -math.log(upper / lower) / math.log(100)
    correction = 0.5 / math.log(1e41)
    assert slope == pytest.approx(class_exponent(tilt) - correction, abs=2e-3)


def test_fourth_moment_of_the_limit_is_bounded_in_L():
    moments = [three_atom_fourth_moment(1.0, L) for L in np.geomspace(2, 1e40, 60)]
    assert max(moments) < 10
    assert moments[-1] < max(moments)


@pytest.mark.parametrize(
    ("tilt", "L", "name"), [(0.0, 5, "tilt"), (1.0, 1, "L"), (-1.0, 5, "tilt")]
)
def test_bad_arguments_are_named(tilt, L, name):
    with pytest.raises(InputError, match=name):
        three_atom_error(tilt, L)
