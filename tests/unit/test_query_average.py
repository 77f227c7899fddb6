"""Query averages against closed forms: E e^{-a s^2} P(z) of a Gaussian query."""

import numpy as np
import pytest

from largeprompt.query_average import QueryAverage

SPECTRA = {
    "one": [1.0],
    "small": [1e-4],
    "large": [40.0],
    "equal": [0.7] * 5,
    "small equal": [0.01] * 20,
    "spread": [2.0, 0.5, 0.01],
    "nearly singular": [1.0, 1e-9],
    "singular": [1.5, 0.3, 0.0, 0.0],
    "twenty": list(np.geomspace(1e-3, 2, 20)),
    "sixty equal": [1.0] * 60,
}


def gaussian_moment(C, *forms):
    """E of a product of up to three quadratic forms of N(0, C), by explicit traces."""
    chains = [form @ C for form in forms]
    t = [np.trace(chain) for chain in chains]
    if len(forms) < 2:
        return np.prod(t)
    A, B = chains[:2]
    if len(forms) == 2:
        return t[0] * t[1] + 2 * np.trace(A @ B)
    D = chains[2]
    pairs = t[0] * np.trace(B @ D) + t[1] * np.trace(A @ D) + t[2] * np.trace(A @ B)
    return np.prod(t) + 2 * pairs + 8 * np.trace(A @ B @ D)


def random_problem(spectrum):
    """A query law, and Gamma and U such that s^2 has the given spectrum in a random basis."""
    rng = np.random.default_rng(3)
    d = len(spectrum)
    basis = np.linalg.qr(rng.standard_normal((d, d)))[0]
    root = basis * rng.uniform(0.5, 2, d)
    S = root @ root.T
    inverse = np.linalg.inv(root)
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    form = inverse.T @ turn @ np.diag(spectrum) @ turn.T @ inverse  # s^2 = z^T form z
    forms = [(x + x.T) / 2 for x in rng.standard_normal((3, d, d)) + 2 * np.eye(d)]
    return form, S, forms


@pytest.mark.parametrize("spectrum", SPECTRA.values(), ids=SPECTRA)
@pytest.mark.parametrize("degree", [0, 1, 2, 3])
def test_averages_agree_with_gaussian_integrals(spectrum, degree):
    form, S, forms = random_problem(spectrum)
    forms = forms[:degree] if len(spectrum) < 60 or degree < 3 else forms[:1]
    query = QueryAverage(form, np.eye(len(S)), S, longest=1e12)
    assert query.mean(*forms) == pytest.approx(gaussian_moment(S, *forms), rel=1e-12)
    weights = query.weights(*forms)
    for a in (0.2, 5.0):
        tilted = np.linalg.inv(np.linalg.inv(S) + 2 * a * form)
        mass = np.sqrt(np.linalg.det(tilted) / np.linalg.det(S))
        exact = gaussian_moment(S, *forms) - mass * gaussian_moment(tilted, *forms)
        found = weights @ -np.expm1(-a * query.scales**2)
        scale = gaussian_moment(S, *[np.eye(len(S))] * len(forms))
        assert found == pytest.approx(exact, rel=1e-11, abs=1e-12 * scale)


@pytest.mark.parametrize("spectrum", SPECTRA.values(), ids=SPECTRA)
def test_rare_large_scales_have_the_right_weight(spectrum):
    form, S, _ = random_problem(spectrum)
    query = QueryAverage(form, np.eye(len(S)), S, longest=1e12)
    a = 0.15 / max(spectrum)
    exact = np.prod(1 - 2 * a * np.array(spectrum)) ** -0.5 - 1
    assert query.weights() @ np.expm1(a * query.scales**2) == pytest.approx(exact, rel=1e-10)


def test_without_scores_there_are_no_points():
    query = QueryAverage(np.eye(2), np.zeros((2, 2)), np.eye(2), longest=10)
    assert query.scales.size == 0
    assert query.weights(np.eye(2)).size == 0
    assert query.mean(np.eye(2)) == pytest.approx(2)
