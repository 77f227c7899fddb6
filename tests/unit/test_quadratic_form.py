import numpy as np
import pytest

from largeprompt.quadratic_form import largest_scale, quadratic_form
from largeprompt.seeding import stream

SPECTRA = [
    [1.3],
    [1.0, 0.0, 0.0],
    [1.0, 1e-3, 1e-6],
    [0.3] * 5,
    [1.0, 0.5, 0.2, 0.1, 0.03],
    [2.0] * 20,
    list(np.linspace(0.2, 3, 20)),
]


@pytest.mark.parametrize("eigenvalues", SPECTRA)
def test_exponential_moments_are_exact_for_every_spectrum(eigenvalues):
    """E exp(-c s^2) = prod (1 + 2 c lambda)^(-1/2); each xi_i^2 brings one more factor."""
    eigenvalues = np.array(eigenvalues)
    form, c = quadratic_form(eigenvalues), 0.7
    values = np.exp(-c * form.s_squared)
    factors = 1 / (1 + 2 * c * eigenvalues)
    mean = np.prod(np.sqrt(factors))
    fourths = mean * np.outer(factors, factors) * (1 + 2 * np.eye(len(eigenvalues)))
    assert form.mean(values) == pytest.approx(mean, rel=2e-12)
    np.testing.assert_allclose(form.mean_of_squares(values), mean * factors, rtol=2e-12)
    np.testing.assert_allclose(form.mean_of_fourths(values), fourths, rtol=2e-12)


@pytest.mark.parametrize("eigenvalues", SPECTRA)
def test_low_moments_and_range_are_those_of_the_form(eigenvalues):
    eigenvalues = np.array(eigenvalues)
    form = quadratic_form(eigenvalues)
    ones = np.ones_like(form.s_squared)
    assert form.mean(ones) == pytest.approx(1.0, rel=1e-11)
    assert form.mean(form.s_squared) == pytest.approx(eigenvalues.sum(), rel=1e-11)
    np.testing.assert_allclose(form.mean_of_squares(ones), 1.0, rtol=1e-11)
    assert np.sqrt(form.s_squared.max()) == pytest.approx(largest_scale(eigenvalues))


def test_saturating_function_agrees_with_samples():
    """Five standard errors: a true value fails with probability 6e-7 per entry."""
    eigenvalues = np.array([1.0, 0.5, 0.02])
    xi = stream(3, "form").normal(size=(400_000, 3))
    s_squared = xi**2 @ eigenvalues
    samples = np.tanh(s_squared)[:, None] * xi**2
    form = quadratic_form(eigenvalues)
    found = form.mean_of_squares(np.tanh(form.s_squared))
    errors = samples.std(axis=0) / np.sqrt(len(samples))
    assert (np.abs(samples.mean(axis=0) - found) < 5 * errors).all()
