import math

import numpy as np
import pytest
from scipy.stats import chi2

from largeprompt.errors import InputError
from largeprompt.risk import (
    factorised_risk,
    merged_risk,
    population_risk,
    population_risk_gradient,
    reduced_optimum,
    reduced_risk,
    reduced_training,
)
from largeprompt.seeding import stream
from largeprompt.tasks import RegressionTask

AUTOREGRESSIVE = 0.5 ** np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
AS_CODED = RegressionTask.as_coded(AUTOREGRESSIVE[:2, :2], 0.1, 1.0).Sigma  # the query is N(0, I)
PROMPTS = 12_000


def random_covariance(rng, d):
    factor = rng.normal(size=(d, d + 2))
    return factor @ factor.T / (d + 2)


def random_setting(index):
    """Dimension, length, attention, covariances and parameters of one case."""
    rng = stream(11, "setting", index)
    d = 1 + index % 5
    L = int(rng.choice([1, 3, 20]))
    Sigma = random_covariance(rng, d)
    query = Sigma if index % 3 else random_covariance(rng, d)
    noise, task = rng.uniform(0, 0.5), rng.uniform(0.2, 1.0)
    U = rng.normal(size=(d + 1, d + 1)) * rng.uniform(0.2, 0.45) / np.sqrt(d)
    v = rng.normal(size=d + 1)
    return U, v, Sigma, noise, task, L, ("softmax", "linear")[index % 2], query


def sampled_losses(rng, U, v, Sigma, noise, task, L, attention, query, inputs=None):
    """Squared errors of PROMPTS sampled prompts."""
    d = len(Sigma)
    w = np.sqrt(task) * rng.normal(size=(PROMPTS, d))
    x = rng.normal(size=(PROMPTS, L, d)) if inputs is None else inputs(rng, (PROMPTS, L, d))
    x = x @ np.linalg.cholesky(Sigma).T
    y = np.einsum("pld,pd->pl", x, w) + np.sqrt(noise) * rng.normal(size=(PROMPTS, L))
    z = np.concatenate([x, y[..., None]], axis=-1)
    x_q = rng.normal(size=(PROMPTS, d)) @ np.linalg.cholesky(query).T
    target = np.sum(w * x_q, axis=1) + np.sqrt(noise) * rng.normal(size=PROMPTS)
    scores = np.einsum("pld,de,pe->pl", z, U[:, :d], x_q)
    if attention == "softmax":
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
    else:
        weights = scores / L
    return (np.einsum("pl,pld,d->p", weights, z, v) - target) ** 2


def z_score(losses, value):
    return (losses.mean() - value) / (losses.std() / np.sqrt(len(losses)))


def test_population_risk_agrees_with_sampled_prompts():
    """45 settings: a true formula fails with probability 0.3 % (4 errors) + 0.02 % (chi-square)."""
    scores = []
    for index in range(45):
        setting = random_setting(index)
        losses = sampled_losses(stream(11, "prompts", index), *setting)
        scores.append(z_score(losses, population_risk(*setting).value))
    assert np.abs(scores).max() < 4
    assert 1e-4 < chi2.sf(np.sum(np.square(scores)), len(scores)) < 1 - 1e-4


def test_comparison_with_sampled_prompts_notices_other_tokens():
    """Rademacher inputs have the same covariance: the Gaussian formula must be far off."""
    rng = stream(11, "control")
    U, v = np.diag([1.6, 1.6, 0.0]), np.array([0.0, 0.0, 1.0])
    setting = (U, v, np.eye(2), 0.1, 1.0, 25, "softmax", np.eye(2))
    value = population_risk(*setting).value
    gaussian = sampled_losses(rng, *setting)
    rademacher = sampled_losses(rng, *setting, inputs=lambda r, n: r.choice([-1.0, 1.0], size=n))
    assert abs(z_score(gaussian, value)) < 4
    assert abs(z_score(rademacher, value)) > 10


def test_infinite_prompt_risk_averages_the_linear_limit():
    """Four standard errors: a true formula fails with probability 6e-5."""
    U, v, Sigma, noise, task, _, _, query = random_setting(3)
    rng, n, d = stream(11, "infinite"), 200_000, len(Sigma)
    w = np.sqrt(task) * rng.normal(size=(n, d))
    x_q = rng.normal(size=(n, d)) @ np.linalg.cholesky(query).T
    a = x_q @ U[:, :d].T
    along = a[:, :d] + a[:, d:] * w  # <z, a> = x·along + noise a_y
    outputs = v[:d] + v[d] * w
    prediction = np.sum(outputs * (along @ Sigma), axis=1) + v[d] * noise * a[:, d]
    losses = (prediction - np.sum(w * x_q, axis=1)) ** 2 + noise
    for attention in ("softmax", "linear"):
        value = population_risk(U, v, Sigma, noise, task, math.inf, attention, query).value
        assert abs(z_score(losses, value)) < 4


@pytest.mark.parametrize("attention", ["softmax", "linear"])
def test_infinite_prompt_is_the_limit_of_long_prompts(attention):
    U, v, Sigma, noise, task, _, _, query = random_setting(7)
    U = U / 2  # scores too small for the slow rate of heavy tails
    limit = population_risk(U, v, Sigma, noise, task, math.inf, attention, query).value
    gaps = [
        population_risk(U, v, Sigma, noise, task, L, attention, query).value - limit
        for L in (10**4, 10**6)
    ]
    assert gaps[0] > 0
    assert 0 < gaps[1] < gaps[0] / 50


@pytest.mark.parametrize("index", [4, 9, 14])
def test_reported_error_has_the_size_of_the_distance_to_a_finer_rule(index):
    from largeprompt.risk_problem import problem
    from largeprompt.risk_softmax import SoftmaxRisk

    U, v, Sigma, noise, task, _, _, query = random_setting(index)
    estimate = population_risk(U, v, Sigma, noise, task, 10, "softmax", query)
    finer = SoftmaxRisk(problem(Sigma, noise, task, 10, "softmax", query), 13, 9)
    theta = np.concatenate([U.ravel(), v])
    assert abs(finer.value_and_gradient(theta)[0] - estimate.value) < 5 * estimate.error
    assert estimate.error < 1e-2 * estimate.value


def numerical_derivative(function, theta, step=1e-5):
    shifts = step * np.eye(len(theta))
    return np.array([(function(theta + e) - function(theta - e)) / (2 * step) for e in shifts])


def risks():
    Sigma = AUTOREGRESSIVE[:3, :3]
    return {
        "infinite": (merged_risk(Sigma, 0.1, 0.3, math.inf), 20),
        "linear": (merged_risk(Sigma, 0.1, 0.3, 7, "linear", np.eye(3)), 20),
        "softmax": (merged_risk(Sigma, 0.1, 0.3, 7, "softmax", np.eye(3)), 20),
        "long softmax": (merged_risk(Sigma, 0.1, 0.3, 1000), 20),
        "factors": (factorised_risk(Sigma, 0.1, 0.3, 20), 52),
        "reduced": (reduced_training(Sigma, 0.1, 20), 10),
    }


@pytest.mark.parametrize(
    "name", ["infinite", "linear", "softmax", "long softmax", "factors", "reduced"]
)
def test_gradient_and_hessian_are_the_derivatives_of_the_risk(name):
    risk, size = risks()[name]
    theta = 0.6 * stream(11, "derivative", name).normal(size=size)
    _, gradient = risk.value_and_gradient(theta)
    values = numerical_derivative(lambda t: risk.value_and_gradient(t)[0], theta)
    slopes = numerical_derivative(lambda t: risk.value_and_gradient(t)[1], theta)
    np.testing.assert_allclose(gradient, values, atol=1e-8 * np.abs(gradient).max())
    np.testing.assert_allclose(risk.hessian(theta), slopes, atol=1e-7 * np.abs(slopes).max())


def test_population_gradient_is_the_derivative_of_the_population_risk():
    U, v, *rest = random_setting(2)
    result = population_risk_gradient(U, v, *rest)

    def value(theta):
        return population_risk(theta[:-4].reshape(4, 4), theta[-4:], *rest).value

    expected = numerical_derivative(value, np.concatenate([U.ravel(), v]))
    found = np.concatenate([result.gradient_U.ravel(), result.gradient_v])
    np.testing.assert_allclose(found, expected, atol=1e-8 * np.abs(expected).max())
    np.testing.assert_array_equal(result.gradient_U[:, -1], 0.0)


@pytest.mark.parametrize("L", [1, 5, 200, math.inf])
@pytest.mark.parametrize("attention", ["softmax", "linear"])
def test_zero_blocks_of_theorem_5_1_have_zero_gradient(L, attention):
    rng, d = stream(11, "blocks"), 3
    U, v = np.zeros((4, 4)), np.zeros(4)
    U[:d, :d], v[d] = rng.normal(size=(d, d)), 1.3
    result = population_risk_gradient(U, v, AUTOREGRESSIVE[:d, :d], 0.2, 1.0, L, attention)
    assert np.abs(result.gradient_U[d]).max() < 1e-12
    assert np.abs(result.gradient_v[:d]).max() < 1e-12
    assert np.abs(result.gradient_v[d]) > 0.1


@pytest.mark.parametrize(
    ("L", "attention"),
    [(1, "softmax"), (7, "softmax"), (300, "softmax"), (7, "linear"), (math.inf, "softmax")],
)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_reduced_risk_is_half_the_population_risk_on_its_family(d, L, attention):
    rng = stream(11, "family", d)
    Sigma, A, b = random_covariance(rng, d), 0.5 * rng.normal(size=(d, d)), 1.3
    U, v = np.zeros((d + 1, d + 1)), np.zeros(d + 1)
    U[:d, :d], v[d] = A, b
    whole = population_risk(U, v, Sigma, 0.2, 1.0, L, attention)
    half = reduced_risk(A, b, Sigma, 0.2, L, attention)
    assert whole.value / 2 == pytest.approx(half, abs=whole.error + 1e-9)
    trained, _ = reduced_training(Sigma, 0.2, L, attention).value_and_gradient(
        np.append(A.ravel(), b)
    )
    assert trained == pytest.approx(half, rel=1e-5)


def family(A, b):
    """U (D, D) and v (D,) of the family of Theorem 5.1."""
    U, v = np.zeros((len(A) + 1, len(A) + 1)), np.zeros(len(A) + 1)
    U[:-1, :-1], v[-1] = A, b
    return U, v


@pytest.mark.parametrize(
    ("L", "attention"), [(3, "softmax"), (40, "softmax"), (3, "linear"), (math.inf, "softmax")]
)
def test_reduced_risk_takes_any_query_covariance(L, attention):
    rng = stream(11, "query")
    Sigma, query = random_covariance(rng, 3), random_covariance(rng, 3)  # they do not commute
    A, b = 0.5 * rng.normal(size=(3, 3)), 1.3
    whole = population_risk(*family(A, b), Sigma, 0.2, 1.0, L, attention, query)
    half = reduced_risk(A, b, Sigma, 0.2, L, attention, query)
    assert whole.value / 2 == pytest.approx(half, abs=whole.error + 1e-9)
    assert reduced_risk(A, b, Sigma, 0.2, L, attention) != pytest.approx(half, rel=1e-2)


@pytest.mark.parametrize("attention", ["softmax", "linear"])
def test_as_coded_optimum_agrees_with_sampled_prompts_and_is_stationary(attention):
    """Four standard errors: a true formula fails with probability 6e-5."""
    query, noise, L = np.eye(2), 0.1, 3
    best = reduced_optimum(AS_CODED, noise, L, attention, query)
    U, v = family(best.A, best.b)
    setting = (U, v, AS_CODED, noise, 1.0, L, attention, query)
    losses = np.concatenate([sampled_losses(stream(11, "coded", i), *setting) for i in range(10)])
    assert abs(z_score(losses, 2 * best.risk)) < 4
    result = population_risk_gradient(*setting)
    assert abs(result.value - 2 * best.risk) < result.error + 1e-12
    assert np.abs(result.gradient_U).max() < 1e-5 + result.error
    assert np.abs(result.gradient_v).max() < 1e-5 + result.error


@pytest.mark.parametrize("L", [3, 100])
def test_as_coded_softmax_optimum_is_below_its_neighbours(L):
    best = reduced_optimum(AS_CODED, 0.1, L, "softmax", np.eye(2))
    rng = stream(11, "coded neighbours", L)
    for _ in range(20):
        A = best.A + 0.01 * rng.normal(size=(2, 2))
        b = best.b + 0.01 * rng.normal()
        assert reduced_risk(A, b, AS_CODED, 0.1, L, "softmax", np.eye(2)) > best.risk


def test_common_eigenbasis_resolves_eigenvalues_that_coincide():
    """Sigma = I leaves the basis to the query covariance; rotating it must rotate A."""
    rotation = np.linalg.qr(stream(11, "rotation").normal(size=(3, 3)))[0]
    spectrum = np.diag([0.2, 1.0, 3.0])
    plain = reduced_optimum(np.eye(3), 0.1, 8, "softmax", spectrum)
    turned = reduced_optimum(np.eye(3), 0.1, 8, "softmax", rotation @ spectrum @ rotation.T)
    np.testing.assert_allclose(turned.A, rotation @ plain.A @ rotation.T, atol=1e-7)
    assert turned.risk == pytest.approx(plain.risk, rel=1e-10)
    assert np.ptp(np.diag(plain.A)) > 0.05


@pytest.mark.parametrize("L", [4, math.inf])
def test_linear_optimum_does_not_depend_on_the_query_covariance(L):
    query = random_covariance(stream(11, "other query"), 5)  # need not commute with Sigma
    usual = reduced_optimum(AUTOREGRESSIVE, 0.1, L, "linear")
    other = reduced_optimum(AUTOREGRESSIVE, 0.1, L, "linear", query)
    np.testing.assert_array_equal(other.A, usual.A)
    assert other.b == usual.b
    product = usual.b * usual.A
    expected = (0.1 + np.trace(query) - np.trace(AUTOREGRESSIVE @ product @ query)) / 2
    assert other.risk == pytest.approx(expected, rel=1e-12)


def test_reduced_risk_of_one_dimension_matches_a_plain_integral():
    """d = 1, Sigma = 1: the risk is an integral over one normal variable."""
    from largeprompt.score_moments import score_moments

    a, b, noise, L = 0.6, 0.9, 0.3, 12
    x = np.arange(0.0, 9.0, 0.1)  # the trapezoid rule converges exponentially
    weights = np.where(x > 0, 2.0, 1.0) * np.exp(-(x**2) / 2)
    moments = score_moments(a * x, L)
    squares = b**2 * (moments.h * (a * x) ** 2 + moments.q * (1 + noise))
    mean = weights @ (squares - 2 * b * (1 - moments.q) * a * x**2 + x**2) / weights.sum()
    found = reduced_risk([[a]], b, [[1.0]], noise, L)
    assert found == pytest.approx((mean + noise) / 2, rel=1e-10)


def test_reduced_risk_scales_as_the_label_noise():
    """w ~ N(0, t I) with noise t s2 is t times w ~ N(0, I) with noise s2."""
    U, v = np.diag([0.5, 0.4, 0.3, 0.0]), np.array([0.0, 0.0, 0.0, 1.1])
    Sigma = AUTOREGRESSIVE[:3, :3]
    whole = population_risk(U, v, Sigma, 0.2 * 0.3, 0.2, 9).value
    half = reduced_risk(U[:3, :3], 1.1, Sigma, 0.3, 9)
    assert whole == pytest.approx(0.2 * 2 * half, rel=1e-5)


@pytest.mark.parametrize("L", [3, 40])
def test_linear_optimum_is_the_known_preconditioner(L):
    Sigma, noise = AUTOREGRESSIVE, 0.1
    best = reduced_optimum(Sigma, noise, L, "linear")
    product = np.linalg.inv((1 + 1 / L) * Sigma + (np.trace(Sigma) + noise) / L * np.eye(5))
    np.testing.assert_allclose(best.b * best.A, product, atol=1e-12)
    expected = (noise + np.trace(Sigma) - np.trace(Sigma @ product @ Sigma)) / 2
    assert best.risk == pytest.approx(expected, rel=1e-12)
    _, gradient = reduced_training(Sigma, noise, L, "linear").value_and_gradient(
        np.append(best.A.ravel(), best.b)
    )
    assert np.abs(gradient).max() < 1e-12


@pytest.mark.parametrize("L", [10, 1000])
@pytest.mark.parametrize("Sigma", [np.eye(5), AUTOREGRESSIVE], ids=["isotropic", "autoregressive"])
def test_softmax_optimum_is_below_its_neighbours(Sigma, L):
    best = reduced_optimum(Sigma, 0.1, L)
    rng = stream(11, "neighbours", L)
    for _ in range(20):
        A = best.A + 0.02 * rng.normal(size=(5, 5))
        assert reduced_risk(A, best.b + 0.02 * rng.normal(), Sigma, 0.1, L) > best.risk
    linear = reduced_optimum(Sigma, 0.1, L, "linear")
    assert linear.risk < best.risk < (np.trace(Sigma) + 0.1) / 2


def test_softmax_optimum_is_stationary_in_all_directions():
    best = reduced_optimum(AUTOREGRESSIVE[:2, :2], 0.1, 20)
    risk = reduced_training(AUTOREGRESSIVE[:2, :2], 0.1, 20)
    theta = np.append(best.A.ravel(), best.b)
    assert np.abs(risk.value_and_gradient(theta)[1]).max() < 1e-7
    assert np.linalg.eigvalsh(risk.hessian(theta)).min() > 0


def test_optimal_excess_of_softmax_decays_with_the_predicted_constant():
    """L times the excess tends to min over b^2 > 2 of the large-prompt constant (3.13)."""
    d, noise = 5, 0.1
    b2 = np.linspace(2.5, 20, 100_001)
    label = d + noise
    constant = (1 - 2 / b2) ** (-d / 2) * (b2 * label + d / (1 - 2 / b2)) / 2
    best = reduced_optimum(np.eye(d), noise, 10**8)
    assert 1e8 * (best.risk - noise / 2) == pytest.approx(constant.min(), rel=1e-4)


def test_reduced_optimum_works_in_twenty_dimensions():
    Sigma = 0.5 ** np.abs(np.subtract.outer(np.arange(20), np.arange(20)))
    best = reduced_optimum(Sigma, 0.1, 100)
    assert reduced_optimum(Sigma, 0.1, 100, "linear").risk < best.risk < 10.05
    np.testing.assert_allclose(best.A @ Sigma, Sigma @ best.A, atol=1e-9)


def test_infinite_prompt_optimum_is_the_end_point_of_theorem_5_1():
    best = reduced_optimum(AUTOREGRESSIVE, 0.0, math.inf)
    inverse = np.linalg.inv(AUTOREGRESSIVE)
    b = np.trace(inverse @ inverse) ** 0.25
    assert best.b == pytest.approx(b)
    np.testing.assert_allclose(best.A, inverse / b, atol=1e-12)
    assert best.risk == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"U": np.zeros((2, 3))}, "U: shape"),
        ({"v": np.zeros(2)}, "v: shape"),
        ({"v": [np.nan] * 3}, "v: holds NaN"),
        ({"Sigma": np.ones((2, 3))}, "Sigma has shape"),
        ({"Sigma": np.ones((0, 0))}, "Sigma: empty"),
        ({"Sigma": [[1.0, 0.5], [0.0, 1.0]]}, "Sigma is not symmetric"),
        ({"Sigma": np.diag([1.0, -0.1])}, "Sigma has the eigenvalue"),
        ({"query_covariance": np.eye(3)}, "query_covariance: shape"),
        ({"noise_variance": -0.1}, "noise_variance"),
        ({"task_variance": -1.0}, "task_variance"),
        ({"L": 0}, "L: 0"),
        ({"L": 2.5}, "L: 2.5"),
        ({"L": "ten"}, "L: 'ten'"),
        ({"attention": "cosine"}, "attention: 'cosine'"),
    ],
)
def test_unusable_arguments_are_named(change, message):
    arguments = {
        "U": np.zeros((3, 3)),
        "v": np.zeros(3),
        "Sigma": np.eye(2),
        "noise_variance": 0.1,
        "task_variance": 1.0,
        "L": 5,
    }
    with pytest.raises(InputError, match=message):
        population_risk(**{**arguments, **change})


def test_too_many_dimensions_and_zero_covariance_are_refused():
    with pytest.raises(InputError, match="dimension 9"):
        merged_risk(np.eye(9), 0.1, 1.0, 5)
    for Sigma, query in ((np.zeros((2, 2)), None), (np.diag([1, 0]), np.diag([0, 1]))):
        with pytest.raises(InputError, match="Sigma: zero"):
            reduced_optimum(Sigma, 0.1, 5, "softmax", query)
    with pytest.raises(InputError, match="query_covariance: does not commute"):
        reduced_optimum(AUTOREGRESSIVE[:2, :2], 0.1, 5, "softmax", np.diag([1.0, 2.0]))
    with pytest.raises(InputError, match="A: shape"):
        reduced_risk(np.eye(3), 1.0, np.eye(2), 0.1, 5)
