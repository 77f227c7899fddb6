"""Standard errors, extrapolation and slopes against repeated simulation."""

import numpy as np
import pytest

from largeprompt.errors import InputError
from largeprompt.estimates import Estimate, log_slope, richardson_limit

LENGTHS = np.array([4, 8, 16, 32])


def dependent_errors(rng, prompts, floor=0.0, power=1.0):
    """Errors floor + prompt factor x (1 + noise) / L^power; lengths of a prompt are dependent."""
    factor = rng.gamma(2.0, 0.5, prompts)
    noise = rng.gamma(4.0, 0.25, (len(LENGTHS), prompts))
    return floor + factor * noise / LENGTHS[:, None] ** power


def test_standard_error_of_a_mean():
    estimate = Estimate.of(np.array([1.0, 2.0, 3.0, 4.0]))
    assert estimate.value == 2.5
    assert estimate.stderr == pytest.approx(np.sqrt(5 / 3 / 4))


def test_one_value_has_no_standard_error():
    with pytest.raises(InputError, match="at least 2"):
        Estimate.of(np.array([1.0]))


@pytest.mark.parametrize("floor", [0.0, 0.2])
def test_extrapolation_finds_the_floor_and_its_error(floor):
    """400 repetitions: mean within 5 of its standard errors, spread within 20 percent."""
    rng = np.random.default_rng(1)
    runs = [richardson_limit(LENGTHS, dependent_errors(rng, 300, floor)) for _ in range(400)]
    values, stderrs = np.array([(r.value, r.stderr) for r in runs]).T
    assert abs(values.mean() - floor) < 5 * values.std() / 20
    assert stderrs.mean() == pytest.approx(values.std(), rel=0.2)


@pytest.mark.parametrize("power", [0.3, 1.0])
def test_slope_and_its_standard_error_allow_for_shared_prompts(power):
    """400 repetitions: bias below 5 standard errors plus the O(1/prompts) bias of a logarithm."""
    rng = np.random.default_rng(2)
    runs = [log_slope(LENGTHS, dependent_errors(rng, 300, power=power)) for _ in range(400)]
    values, stderrs = np.array([(r.value, r.stderr) for r in runs]).T
    assert abs(values.mean() + power) < 5 * values.std() / 20 + 0.005
    assert stderrs.mean() == pytest.approx(values.std(), rel=0.2)


def test_naive_slope_error_would_be_wrong_for_shared_prompts():
    """Control: errors that are one factor a prompt, exactly: the slope has no error at all."""
    factor = np.random.default_rng(3).gamma(2.0, 0.5, 50)
    slope = log_slope(LENGTHS, factor / LENGTHS[:, None])
    assert slope.value == pytest.approx(-1)
    assert slope.stderr < 1e-12
