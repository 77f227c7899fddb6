import numpy as np
import pytest

from largeprompt.errors import InputError
from largeprompt.risk import reduced_optimum, reduced_risk
from largeprompt.scalar_tokens import scalar_excess, scalar_law, scalar_optimum, weight_moments
from largeprompt.seeding import stream

NOISE = 0.1


def draws(rng, law, shape):
    if law == "cube":
        return rng.uniform(-np.sqrt(3), np.sqrt(3), shape)
    if law == "mixture":
        return rng.choice([-0.8, 0.8], shape) + 0.6 * rng.normal(size=shape)
    return rng.normal(size=shape)


@pytest.mark.parametrize("law", ["gaussian", "cube", "mixture"])
def test_laws_have_mean_zero_and_variance_one(law):
    chosen = scalar_law(law)
    powers = [chosen.weights @ chosen.nodes**k for k in range(3)]
    np.testing.assert_allclose(powers, [1, 0, 1], atol=1e-12)


@pytest.mark.parametrize(("law", "L"), [("gaussian", 3), ("cube", 5), ("mixture", 40), ("cube", 1)])
def test_weight_moments_agree_with_sampled_prompts(law, L):
    """12 comparisons at 4 standard errors: true formulas fail with probability 8e-4."""
    slope, rng = 1.3, stream(21, law, L)
    x = draws(rng, law, (100_000, L))
    p = np.exp(slope * x)
    p /= p.sum(axis=1, keepdims=True)
    mean = (p * x).sum(axis=1)
    sampled = np.stack([mean, mean**2, (p**2).sum(axis=1)])
    error = sampled.std(axis=1) / np.sqrt(x.shape[0])
    found = weight_moments(scalar_law(law), slope, L)
    assert (np.abs(sampled.mean(axis=1) - found) < 4 * error + 1e-12).all()


@pytest.mark.parametrize("L", [4, 1000])
def test_gaussian_risk_is_the_reduced_risk_of_one_dimension(L):
    found = scalar_excess(scalar_law("gaussian"), 0.7, 1.2, NOISE, L)
    expected = reduced_risk([[0.7]], 1.2, [[1.0]], NOISE, L) - NOISE / 2
    assert found == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("L", [10, 10**6])
def test_gaussian_optimum_is_the_reduced_optimum_of_one_dimension(L):
    found = scalar_optimum(scalar_law("gaussian"), NOISE, L)
    expected = reduced_optimum([[1.0]], NOISE, L)
    assert found.excess == pytest.approx(expected.risk - NOISE / 2, rel=1e-6)
    assert found.b == pytest.approx(expected.b, rel=1e-3)


def test_cube_optimum_is_below_its_neighbours_and_agrees_with_its_excess():
    law = scalar_law("cube")
    best = scalar_optimum(law, NOISE, 100)
    assert scalar_excess(law, best.a, best.b, NOISE, 100) == pytest.approx(best.excess, rel=1e-9)
    for change_a in (0.97, 1.0, 1.03):
        for change_b in (0.97, 1.03):
            excess = scalar_excess(law, best.a * change_a, best.b * change_b, NOISE, 100)
            assert excess > best.excess


@pytest.mark.parametrize(
    ("law", "exponent"), [("gaussian", 1), ("cube", 2 / 3), ("mixture", 2 / 3)]
)
def test_best_excess_decays_slower_unless_tokens_are_gaussian(law, exponent):
    excess = [scalar_optimum(scalar_law(law), NOISE, L).excess for L in (1e7, 1e8)]
    assert np.log10(excess[0] / excess[1]) == pytest.approx(exponent, abs=2e-3)


def test_an_unknown_law_is_named():
    with pytest.raises(InputError, match="law = 'cauchy'"):
        scalar_law("cauchy")
