import math

import numpy as np
import pytest

from largeprompt.errors import InputError
from largeprompt.transfer import required_length

LENGTHS = [10, 100, 1000, 10_000]


@pytest.mark.parametrize("exponent", [0.5, 1.0])
def test_required_length_of_a_power_law_is_its_inverse(exponent):
    excess = 3.0 * np.array(LENGTHS, dtype=float) ** -exponent
    for eps in (0.2, 0.05):
        expected = (3.0 / eps) ** (1 / exponent)
        assert required_length(LENGTHS, excess, eps) == pytest.approx(expected)


def test_an_excess_that_comes_back_counts_until_it_has_gone_for_good():
    assert required_length(LENGTHS, [1.0, 0.01, 1.0, 0.01], 0.1) == pytest.approx(10**3.5)


def test_excess_that_is_never_small_needs_an_infinite_prompt():
    assert math.isinf(required_length(LENGTHS, [0.1, 0.1, 0.1, 0.1], 0.01))


def test_excess_that_is_always_small_needs_the_shortest_prompt():
    assert required_length(LENGTHS, [0.1, 0.01, 0.0, -1e-17], 0.2) == 10


def test_excess_that_vanishes_is_reached_before_the_next_length():
    assert 100 < required_length(LENGTHS, [1.0, 1.0, 0.0, 0.0], 0.5) < 1000


@pytest.mark.parametrize(
    ("lengths", "excess", "eps", "message"),
    [([10, 10], [1, 1], 0.1, "lengths"), ([10], [1, 1], 0.1, "lengths"), ([10], [1], 0.0, "eps")],
)
def test_unusable_arguments_are_named(lengths, excess, eps, message):
    with pytest.raises(InputError, match=message):
        required_length(lengths, excess, eps)
