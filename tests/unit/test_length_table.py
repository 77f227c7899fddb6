"""Averages over the length of the query, and the compiled sums, against plain numpy."""

import numpy as np
import pytest

from largeprompt.length_table import LengthTable
from largeprompt.score_moments import score_moments
from largeprompt.seeding import stream


@pytest.fixture(scope="module", params=[3, 1000])
def table(request):
    return LengthTable(request.param, 2, 2.0), request.param


def plain_averages(rho, L):
    """E r^2 (h - 1), E q, E r^2 q in two dimensions, by the trapezoid rule in ln r."""
    log_r = np.linspace(-12, 2.2, 150)
    r = np.exp(log_r)
    density = r**2 * np.exp(-(r**2) / 2) * (log_r[1] - log_r[0])
    moments = score_moments(np.sqrt(rho)[:, None] * r, L)
    functions = r**2 * (moments.h - 1), moments.q, r**2 * moments.q
    return np.array([function @ density for function in functions])


def test_tabulated_values_are_averages_over_the_length(table):
    lookup, L = table
    rho = np.array([0.0, 1e-3, 0.0377, 0.5, 1.234, 2.0])
    found = lookup.derivatives(rho)[0]
    np.testing.assert_allclose(found, plain_averages(rho, L), rtol=1e-8, atol=1e-11)


def test_tabulated_slopes_and_curvatures_are_derivatives(table):
    lookup, _ = table
    rho, step = np.linspace(0.2, 1.9, 20), 1e-3
    found = lookup.derivatives(rho)
    for order, tolerance in ((1, 1e-5), (2, 1e-4)):
        above, below = (lookup.derivatives(rho + sign * step)[order - 1] for sign in (1, -1))
        np.testing.assert_allclose(found[order], (above - below) / (2 * step), rtol=tolerance)


def test_compiled_moments_are_the_sums_over_queries(table):
    lookup, _ = table
    rng = stream(3, "moments")
    rho, m, y = rng.uniform(0, 2, (5, 17)), rng.normal(size=(5, 17)), rng.normal(size=(5, 17))
    n = rng.uniform(size=(5, 1))
    one, u, squares = powers = tuple(rng.normal(size=(rows, 17)) for rows in (1, 2, 3))
    (H, Q_0, Q_2), slopes, _ = lookup.derivatives(rho)
    expected = (
        (H * m + Q_2 * y) @ u.T,
        (Q_2 * m) @ u.T,
        Q_0 @ one.T,
        (slopes[0] * m**2 + slopes[1] * n + 2 * slopes[2] * m * y) @ squares.T,
    )
    found = lookup.gradient_moments(rho, m, n, y, powers)
    for part, sums in zip(found, expected, strict=True):
        np.testing.assert_allclose(part, sums, atol=1e-13)
