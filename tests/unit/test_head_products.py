"""The products of a head at infinite prompts: their parts, their freedom, their distances."""

import math

import numpy as np
import pytest

from largeprompt.errors import InputError
from largeprompt.head_products import balanced, idle_share, linear_part, product_distance
from largeprompt.risk import population_risk, reduced_optimum
from largeprompt.seeding import stream


def random_pair(*names):
    rng = stream(12, *names)
    return rng.normal(size=(4, 4)), rng.normal(size=4)


def prediction(U, v, Sigma, noise, w, x):
    Gamma = np.block([[Sigma, (Sigma @ w)[:, None]], [w @ Sigma, w @ Sigma @ w + noise]])
    return v @ Gamma @ U @ np.append(x, 0.0)


def random_covariance():
    factor = stream(12, "covariance").normal(size=(3, 5))
    return factor @ factor.T / 5


def test_prediction_is_the_sum_of_its_three_parts():
    U, v = random_pair("parts")
    Sigma, noise = random_covariance(), 0.3
    rng = stream(12, "tasks")
    for _ in range(5):
        w, x = rng.normal(size=3), rng.normal(size=3)
        constant = v[:3] @ Sigma @ U[:3, :3] @ x
        quadratic = v[3] * (w @ Sigma @ w + noise) * (U[3, :3] @ x)
        parts = constant + w @ Sigma @ linear_part(U, v) @ x + quadratic
        assert prediction(U, v, Sigma, noise, w, x) == pytest.approx(parts, rel=1e-12)


def test_linear_part_is_odd_in_the_task():
    """The other parts are even in w, so that half the difference of +w and -w is the linear one."""
    U, v = random_pair("odd")
    Sigma = random_covariance()
    w, x = stream(12, "odd task").normal(size=(2, 3))
    odd = prediction(U, v, Sigma, 0.3, w, x) - prediction(U, v, Sigma, 0.3, -w, x)
    assert w @ Sigma @ linear_part(U, v) @ x == pytest.approx(odd / 2, rel=1e-12)


@pytest.mark.parametrize("attention", ["linear", "softmax"])
def test_optimum_of_an_infinite_prompt_has_distance_and_idle_share_zero(attention):
    Sigma = random_covariance()
    best = reduced_optimum(Sigma, 0.2, math.inf, attention)
    U, v = np.zeros((4, 4)), np.zeros(4)
    U[:3, :3], v[3] = best.A, best.b
    assert product_distance(U, v, np.linalg.inv(Sigma)) < 1e-12
    assert idle_share(U, v) == 0


@pytest.mark.parametrize("c", [3.0, -0.2])
def test_scale_freedom_changes_no_product_and_no_balanced_form(c):
    U, v = random_pair("freedom")
    other = U.copy()
    other[:, -1] = 7.0  # the last column never acts
    np.testing.assert_allclose(linear_part(c * other, v / c), linear_part(U, v), rtol=1e-12)
    for found, expected in zip(balanced(c * other, v / c), balanced(U, v), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert idle_share(c * other, v / c) == pytest.approx(idle_share(U, v), rel=1e-12)


def test_balanced_pair_has_one_norm_a_sign_and_the_risk_of_the_pair():
    U, v = random_pair("balanced")
    v[3] = -abs(v[3])
    scaled_U, scaled_v = balanced(U, v)
    assert np.linalg.norm(scaled_U) == pytest.approx(np.linalg.norm(scaled_v), rel=1e-12)
    assert scaled_v[3] > 0
    assert not scaled_U[:, 3].any()
    setting = (random_covariance(), 0.2, 0.5)
    for L in (5, math.inf):
        expected = population_risk(U, v, *setting, L, "linear").value
        assert population_risk(scaled_U, scaled_v, *setting, L, "linear").value == pytest.approx(
            expected, rel=1e-10
        )


def test_softmax_on_finite_prompts_has_the_sign_but_not_the_scale():
    U, v = random_pair("softmax")
    U, setting = U / 4, (random_covariance(), 0.2, 0.5, 5, "softmax")
    risk = population_risk(U, v, *setting).value
    assert population_risk(-U, -v, *setting).value == pytest.approx(risk, rel=1e-12)
    assert population_risk(2 * U, v / 2, *setting).value != pytest.approx(risk, rel=0.01)
    assert population_risk(-U, v, *setting).value != pytest.approx(risk, rel=0.01)


def test_exact_values():
    U = np.array([[2.0, 0.0, 9.0], [0.0, 1.0, 9.0], [0.0, 2.0, 9.0]])
    v = np.array([0.0, 1.0, 2.0])
    np.testing.assert_array_equal(linear_part(U, v), [[4.0, 0.0], [0.0, 4.0]])
    assert product_distance(U, v, 2 * np.eye(2)) == 1.0
    # of |U|^2 = 9 the block holds 5, of |v|^2 = 5 the entry b holds 4
    assert idle_share(U, v) == pytest.approx(1 - (5 / 9 + 4 / 5) / 2)


def test_leading_axes_are_kept():
    pairs = [random_pair("axes", k) for k in range(6)]
    U, v = (np.stack(part).reshape(2, 3, *part[0].shape) for part in zip(*pairs, strict=True))
    assert product_distance(U, v, np.eye(3))[1, 0] == product_distance(*pairs[3], np.eye(3))
    assert idle_share(U, v)[0, 2] == pytest.approx(idle_share(*pairs[2]), rel=1e-14)
    np.testing.assert_allclose(balanced(U, v)[0][1, 2], balanced(*pairs[5])[0], rtol=1e-14)


def test_pairs_and_targets_that_cannot_be_used_are_refused():
    U, v = random_pair("refused")
    for target in (np.eye(2), np.zeros((3, 3))):
        with pytest.raises(InputError, match="target: must be a non-zero matrix"):
            product_distance(U, v, target)
    with pytest.raises(InputError, match="one is zero"):
        balanced(U, 0 * v)
