import math

import numpy as np
import pytest

from largeprompt.gaussian_cubature import (
    gaussian_rule,
    half_sphere_rule,
    length_rule,
    sphere_rule,
)
from largeprompt.seeding import stream


@pytest.mark.parametrize(("d", "degree"), [(1, 41), (2, 19), (3, 13), (4, 11), (5, 9), (8, 7)])
def test_sphere_rule_is_exact_up_to_its_degree_in_every_direction(d, degree):
    """E (c·u)^k on the sphere is |c|^k Gamma(d/2) Gamma((k+1)/2) / (sqrt(pi) Gamma((d+k)/2))."""
    rule = sphere_rule(d, degree)
    c = stream(2, "direction", d).normal(size=d)
    np.testing.assert_allclose(np.linalg.norm(rule.nodes, axis=1), 1.0)
    assert rule.weights.min() > 0
    for k in range(0, degree + 1, 2):
        exact = np.linalg.norm(c) ** k * math.exp(
            math.lgamma(d / 2)
            + math.lgamma((k + 1) / 2)
            - math.lgamma(1 / 2)
            - math.lgamma((d + k) / 2)
        )
        assert rule.weights @ (rule.nodes @ c) ** k == pytest.approx(exact, rel=1e-12)
        odd = rule.weights @ (rule.nodes @ c) ** (k + 1)
        assert odd == pytest.approx(0.0, abs=1e-12 * exact * np.linalg.norm(c))


def test_sphere_rule_is_not_exact_beyond_its_degree():
    rule = sphere_rule(5, 7)
    axis, diagonal = np.eye(5)[0], np.full(5, 5**-0.5)
    means = [rule.weights @ (rule.nodes @ c) ** 8 for c in (axis, diagonal)]
    assert abs(means[0] - means[1]) > 1e-3


def test_half_sphere_rule_keeps_one_of_each_antipodal_pair():
    whole, half = sphere_rule(3, 9), half_sphere_rule(3, 9)
    assert 2 * len(half.weights) == len(whole.weights)
    c = np.array([0.3, -1.0, 0.5])
    expected = whole.weights @ np.cosh(whole.nodes @ c)
    assert half.weights @ np.cosh(half.nodes @ c) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(("d", "degree"), [(1, 41), (3, 13), (5, 7)])
def test_gaussian_rule_is_exact_for_moments_up_to_its_degree(d, degree):
    rule = gaussian_rule(d, degree)
    c = stream(2, "direction", d).normal(size=d)
    for k in range(0, degree + 1, 2):
        exact = math.prod(range(1, k, 2)) * np.linalg.norm(c) ** k
        assert rule.weights @ (rule.nodes @ c) ** k == pytest.approx(exact, rel=1e-11)


def test_length_rule_averages_the_length_of_a_gaussian_vector():
    rule = length_rule(5, 48)
    assert rule.weights @ rule.nodes**2 == pytest.approx(5, rel=1e-10)
    assert rule.weights @ np.exp(-(rule.nodes**2)) == pytest.approx(3**-2.5, rel=1e-10)


def test_dimension_without_a_positive_rule_is_reported():
    with pytest.raises(ArithmeticError, match="no positive rule of degree 5 in dimension 20"):
        sphere_rule(20, 5)
