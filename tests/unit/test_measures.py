"""Token laws against samples, quadrature and autograd; a law that lies must be noticed.

Statistical tests use fixed seeds; each compares at most 100 numbers with a threshold of six
standard errors, so a correct law fails one with probability below 1e-6.
"""

import math

import mpmath
import numpy as np
import pytest
import torch

from largeprompt.errors import InputError
from largeprompt.measures import (
    Gaussian,
    GaussianMixture,
    LinearImage,
    ProductRademacher,
    UniformCube,
)
from largeprompt.seeding import stream

STANDARD_ERRORS = 6


def _normal(*shape, name="normal"):
    return torch.from_numpy(stream(327, "test_measures", name, *shape).standard_normal(shape))


def _covariance(d, rank, name="covariance"):
    factor = _normal(d, rank, name=name)
    return factor @ factor.mT / rank


def _mixture():
    means = [[1.0, 0.0, -0.5], [-0.5, 1.0, 0.0], [0.0, -1.0, 1.0]]
    covariances = [0.3 * np.eye(3), _covariance(3, 1).numpy(), _covariance(3, 4).numpy()]
    return GaussianMixture([0.5, 0.2, 0.3], means, covariances)


LAWS = {
    "gaussian": Gaussian([0.5, -1.0, 0.0], _covariance(3, 5)),
    "singular gaussian": Gaussian([0.0, 1.0, 2.0], _covariance(3, 1)),
    "rademacher": ProductRademacher(3),
    "cube": UniformCube(3, 1.7),
    "mixture": _mixture(),
    "image of rademacher": ProductRademacher(4).linear_image(_normal(3, 4, name="image")),
    "image of cube": UniformCube(2, 1.2).linear_image(_normal(3, 2, name="image")),
    "image of mixture": _mixture().linear_image(_normal(3, 3, name="image")),
}


@pytest.fixture(params=LAWS.values(), ids=LAWS.keys())
def law(request):
    return request.param


def _assert_mean(samples, expected):
    """Mean over the first axis equals `expected` within the stated number of standard errors."""
    error = samples.std(0) / math.sqrt(len(samples))
    gap = (samples.mean(0) - expected).abs()
    assert (gap <= STANDARD_ERRORS * error + 1e-12).all(), f"{gap} against {error}"


def test_moments_agree_with_samples(law):
    tokens = law.sample(stream(327, "moments"), 200_000)
    _assert_mean(tokens, law.mean)
    centred = tokens - law.mean
    _assert_mean(centred[:, :, None] * centred[:, None, :], law.covariance)


def test_tilted_moments_agree_with_reweighted_samples(law):
    a = torch.tensor([0.4, -0.3, 0.2], dtype=torch.float64)
    tokens = law.sample(stream(327, "tilted"), 200_000)
    weights = (tokens @ a - law.log_mgf(a)).exp()
    _assert_mean(weights, torch.tensor(1.0))
    _assert_mean(weights[:, None] * tokens, law.tilted_mean(a))
    centred = tokens - law.tilted_mean(a)
    products = weights[:, None, None] * centred[:, :, None] * centred[:, None, :]
    _assert_mean(products, law.tilted_covariance(a))


def test_a_mean_off_by_three_percent_of_a_deviation_is_noticed():
    law = LAWS["gaussian"]
    tokens = law.sample(stream(327, "moments"), 200_000)
    with pytest.raises(AssertionError):
        _assert_mean(tokens, law.mean + 0.03 * law.covariance.diagonal().sqrt())


@pytest.mark.parametrize("scale", [0.0, 1e-3, 0.3, 1.0, 10.0])
def test_tilted_moments_are_derivatives_of_log_mgf(law, scale):
    a = scale * _normal(3)
    gradient = torch.autograd.functional.jacobian(law.log_mgf, a)
    torch.testing.assert_close(law.tilted_mean(a), gradient, rtol=1e-11, atol=1e-13)
    hessian = torch.autograd.functional.jacobian(law.tilted_mean, a)
    torch.testing.assert_close(law.tilted_covariance(a), hessian, rtol=1e-9, atol=1e-12)
    twice = torch.autograd.functional.hessian(law.log_mgf, a)
    torch.testing.assert_close(law.tilted_covariance(a), twice, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("x", [1e-9, 1e-4, 0.1, 0.4999, 0.5001, 0.9999, 1.0001, 3.0, 20.0, 300.0])
def test_scalar_laws_keep_their_digits(x):
    """Against 60-digit arithmetic on the textbook formulas, both signs."""
    with mpmath.workdps(60):
        y = mpmath.mpf(x)
        cosh = mpmath.log(mpmath.cosh(y)), mpmath.tanh(y), 1 / mpmath.cosh(y) ** 2
        sinhc = (
            mpmath.log(mpmath.sinh(y) / y),
            mpmath.coth(y) - 1 / y,
            1 / y**2 - 1 / mpmath.sinh(y) ** 2,
        )
    for law, exact in [(ProductRademacher(1), cosh), (UniformCube(1, 1.0), sinhc)]:
        for sign in (1, -1):
            a = torch.tensor([sign * x], dtype=torch.float64)
            got = law.log_mgf(a), sign * law.tilted_mean(a)[0], law.tilted_covariance(a)[0, 0]
            expected = [float(v) for v in exact]
            assert [float(v) for v in got] == pytest.approx(expected, rel=2e-14, abs=0)


@pytest.mark.parametrize("size", [1e3, 1e6])
def test_large_tilts_give_finite_values_and_gradients(law, size):
    a = (size * _normal(5, 3)).requires_grad_()
    values = law.log_mgf(a), law.tilted_mean(a), law.tilted_covariance(a)
    for value in values:
        assert value.isfinite().all()
    for value in values[:2]:
        (gradient,) = torch.autograd.grad(value.sum(), a, retain_graph=True)
        assert gradient.isfinite().all()


def test_large_tilts_pick_the_extreme_token():
    a = torch.tensor([1e6, -1e6], dtype=torch.float64)
    corner = torch.tensor([1.0, -1.0], dtype=torch.float64)
    assert torch.equal(ProductRademacher(2).tilted_mean(a), corner)
    torch.testing.assert_close(UniformCube(2, 3.0).tilted_mean(a), 3 * corner, rtol=0, atol=2e-6)
    far = GaussianMixture([0.5, 0.5], [[1.0, -1.0], [-1.0, 1.0]], np.zeros((2, 2, 2)))
    assert torch.equal(far.tilted_mean(a), corner)


def test_sub_gaussian_inequality_holds(law):
    directions = torch.nn.functional.normalize(_normal(2_000, 3), dim=-1)
    for scale in [1e-2, 0.1, 0.5, 1.0, 2.0, 5.0, 30.0, 1e3]:
        a = scale * directions
        centred = law.log_mgf(a) - a @ law.mean
        bound = law.sub_gaussian**2 * scale**2 / 2
        assert (centred <= bound * (1 + 1e-9) + 1e-14).all()


@pytest.mark.parametrize(
    "name", ["gaussian", "singular gaussian", "rademacher", "cube", "image of rademacher"]
)
def test_sub_gaussian_parameter_is_optimal(name):
    """No parameter is below the largest standard deviation; these laws attain it."""
    law = LAWS[name]
    assert law.sub_gaussian == pytest.approx(_largest_deviation(law), rel=1e-12)


def _largest_deviation(law):
    return math.sqrt(np.linalg.eigvalsh(law.covariance.numpy())[-1])


def test_gaussian_attains_its_sub_gaussian_bound_at_every_scale():
    law = LAWS["gaussian"]
    top = torch.from_numpy(np.linalg.eigh(law.covariance.numpy())[1][:, -1])
    for scale in (0.1, 1.0, 10.0):
        centred = law.log_mgf(scale * top) - scale * top @ law.mean
        assert float(centred) == pytest.approx(law.sub_gaussian**2 * scale**2 / 2, rel=1e-12)


def test_mixture_bound_is_exact_for_two_equal_components():
    mean = np.array([0.8, -0.3, 0.5])
    law = GaussianMixture([0.5, 0.5], [mean, -mean], [LAWS["gaussian"].covariance] * 2)
    assert law.sub_gaussian == pytest.approx(_largest_deviation(law), rel=1e-12)


def test_variance_alone_is_no_bound_for_an_uneven_mixture():
    """Negative control: a rare far component makes the parameter exceed the deviation."""
    law = GaussianMixture([0.99, 0.01], [[0.0], [5.0]], np.full((2, 1, 1), 0.1))
    a = torch.tensor([1.0], dtype=torch.float64)
    centred = float(law.log_mgf(a) - a @ law.mean)
    assert centred > _largest_deviation(law) ** 2 / 2
    assert centred <= law.sub_gaussian**2 / 2


def test_mixture_moments_follow_the_law_of_total_covariance():
    law = _mixture()
    weights, means = law.weights.numpy(), law.means.numpy()
    mean = sum(w * m for w, m in zip(weights, means, strict=True))
    spread = sum(
        w * (c + np.outer(m - mean, m - mean))
        for w, m, c in zip(weights, means, law.covariances.numpy(), strict=True)
    )
    np.testing.assert_allclose(law.mean, mean, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(law.covariance, spread, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("name", ["gaussian", "mixture"])
def test_closed_form_image_equals_the_general_image(name):
    law, matrix = LAWS[name], _normal(2, 3, name="image")
    special, general = law.linear_image(matrix), LinearImage(law, matrix)
    a = _normal(7, 2)
    torch.testing.assert_close(special.log_mgf(a), general.log_mgf(a))
    torch.testing.assert_close(special.tilted_mean(a), general.tilted_mean(a))
    torch.testing.assert_close(special.tilted_covariance(a), general.tilted_covariance(a))
    assert special.sub_gaussian <= general.sub_gaussian * (1 + 1e-12)


def test_image_of_an_image_is_the_image_of_the_product():
    first, second = _normal(3, 4, name="first"), _normal(2, 3, name="second")
    law = ProductRademacher(4)
    twice, once = law.linear_image(first).linear_image(second), law.linear_image(second @ first)
    a = _normal(5, 2)
    torch.testing.assert_close(twice.tilted_covariance(a), once.tilted_covariance(a))
    assert twice.sub_gaussian == pytest.approx(once.sub_gaussian, rel=1e-12)


def test_image_that_kills_the_law_is_a_point_mass():
    """The product cancels to rounding, which must not be refused as an improper covariance."""
    direction, other = _normal(3, name="direction"), _normal(2, 3, name="other")
    matrix = other - (other @ direction / (direction @ direction))[:, None] * direction
    for law in (
        Gaussian(torch.zeros(3), torch.outer(direction, direction)),
        GaussianMixture([1.0], torch.zeros(1, 3), torch.outer(direction, direction)[None]),
    ):
        image = law.linear_image(matrix)
        assert image.sub_gaussian < 1e-14
        assert image.sample(stream(1), 100).abs().max() < 1e-14


def test_singular_gaussian_stays_on_its_support():
    direction = np.array([1.0, -2.0, 0.5])
    tokens = Gaussian(np.zeros(3), np.outer(direction, direction)).sample(stream(2), 1_000)
    off = tokens.numpy() - np.outer(tokens.numpy() @ direction, direction) / (direction @ direction)
    assert np.abs(off).max() < 1e-14


def test_samples_have_the_requested_shape_and_repeat(law):
    first, second = law.sample(stream(5), 4, 7), law.sample(stream(5), 4, 7)
    assert first.shape == (4, 7, law.dim)
    assert first.dtype == torch.float64
    assert torch.equal(first, second)
    assert law.sample(stream(5)).shape == (law.dim,)


def test_leading_axes_are_a_batch(law):
    a = _normal(2, 5, 3)
    assert law.log_mgf(a).shape == (2, 5)
    assert law.tilted_mean(a).shape == (2, 5, 3)
    assert law.tilted_covariance(a).shape == (2, 5, 3, 3)
    torch.testing.assert_close(law.tilted_covariance(a)[1, 2], law.tilted_covariance(a[1, 2]))
    torch.testing.assert_close(law.log_mgf(a)[1, 2], law.log_mgf(a[1, 2]))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Gaussian([0.0], [[1.0, 0.0]]), "covariance"),
        (lambda: Gaussian([0.0, 0.0], [[1.0, 0.5], [0.0, 1.0]]), "not symmetric"),
        (lambda: Gaussian([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]]), "eigenvalue -1"),
        (lambda: Gaussian([math.nan], [[1.0]]), "mean"),
        (lambda: Gaussian([[0.0]], [[1.0]]), "mean"),
        (lambda: Gaussian([], np.zeros((0, 0))), "mean"),
        (lambda: Gaussian([0.0], [[math.inf]]), "covariance"),
        (lambda: Gaussian("a", [[1.0]]), "mean"),
        (lambda: ProductRademacher(0), "dim"),
        (lambda: ProductRademacher(2.0), "dim"),
        (lambda: UniformCube(2, 0.0), "half_width"),
        (lambda: UniformCube(2, math.nan), "half_width"),
        (lambda: UniformCube(True, 1.0), "dim"),
        (lambda: GaussianMixture([0.5, 0.4], np.zeros((2, 1)), np.ones((2, 1, 1))), "weights"),
        (lambda: GaussianMixture([1.5, -0.5], np.zeros((2, 1)), np.ones((2, 1, 1))), "weights"),
        (lambda: GaussianMixture([1.0], np.zeros((2, 1)), np.ones((2, 1, 1))), "components"),
        (lambda: GaussianMixture([1.0], np.zeros((1, 1)), -np.ones((1, 1, 1))), "covariances"),
        (lambda: ProductRademacher(2).linear_image(np.eye(3)), "matrix"),
        (lambda: ProductRademacher(2).linear_image([[1.0, math.nan]]), "matrix"),
        (lambda: ProductRademacher(2).log_mgf(torch.zeros(3)), "a: has shape"),
    ],
)
def test_bad_input_is_named(build, message):
    with pytest.raises(InputError, match=message):
        build()


def test_rounding_in_a_covariance_is_forgiven():
    factor = _normal(6, 1, name="rounding").numpy()
    noisy = factor @ factor.T + 1e-15 * _normal(6, 6, name="noise").numpy()
    tokens = Gaussian(np.zeros(6), noisy).sample(stream(3), 10)
    assert tokens.isfinite().all()
