"""Section 1 of docs/derivations.md: moments of the weights p = softmax(s g), by sums over all g.

Truth is a trapezoidal sum over the scores of three tokens. In each score the integrands are
analytic for |Im g_i| < pi / s, so that for s <= 1 a step of 0.4 leaves errors near 1e-15.
Nothing is sampled.
"""

import math

import numpy as np
import pytest
from derivations.brute_force import normal_grid, softmax

from largeprompt.score_moments import gradient_moments, score_moments
from largeprompt.score_quadrature import ScoreQuadrature

L = 3
SCALES = [0.3, 1.0]
GRID = 0.4 * np.arange(-21, 22)
DENSITY = 0.4 * np.exp(-(GRID**2) / 2) / math.sqrt(2 * math.pi)
SCORES, MASS = normal_grid(L, 0.4, 8.4)
FINE_GRID = 0.2 * np.arange(-42, 43)
FINE_DENSITY = 0.2 * np.exp(-(FINE_GRID**2) / 2) / math.sqrt(2 * math.pi)


def P(k, p):
    return (p**k).sum(-1)


def E(values):
    """The mean over the scores of L tokens."""
    return MASS @ values


@pytest.mark.equation("1.1")
@pytest.mark.equation("1.2")
@pytest.mark.parametrize("s", SCALES)
def test_two_scalars_give_the_moments_of_the_weighted_score(s):
    p = softmax(s * SCORES)
    mean = (p * SCORES).sum(-1)
    q, c_3, q_22 = E(P(2, p)), E(P(3, p)), E(P(2, p) ** 2)
    m1, m2 = E(mean), E(mean**2)
    kappa = q - 6 * (c_3 - q_22)
    h = 1 - 2 * q + kappa
    assert m1 == pytest.approx(s * (1 - q), rel=1e-12)
    assert m2 == pytest.approx(s**2 * h + q, rel=1e-12)
    moments = score_moments(s, L)
    for name, value in {"q": q, "h": h, "kappa": kappa, "m1": m1, "m2": m2}.items():
        assert getattr(moments, name) == pytest.approx(value, rel=1e-12), name
    powers = ScoreQuadrature(s, np.array([L]), degree=4)
    assert powers.expectation((3, (1.0,)))[0] == pytest.approx(c_3, rel=1e-12)
    assert powers.expectation((2, (1.0,)), (2, (1.0,)))[0] == pytest.approx(q_22, rel=1e-12)


def derivatives(f, u):
    """Gradient by complex steps, which cancel no digits."""
    step = 1e-30
    return np.stack([np.imag(f(u + 1j * step * e)) / step for e in np.eye(u.shape[-1])], -1)


@pytest.mark.equation("1.3")
@pytest.mark.parametrize(("j", "k"), [(2, 2), (2, 3), (3, 4)])
def test_derivatives_of_the_power_sums(j, k):
    u = np.random.default_rng(1).standard_normal((20, 5))
    p = softmax(u)

    def gradient(k, p):
        return k * (p**k - p * P(k, p)[..., None])

    assert derivatives(lambda u: P(k, softmax(u)), u) == pytest.approx(gradient(k, p), rel=1e-12)
    seconds = derivatives(lambda u: gradient(k, softmax(u)).swapaxes(0, 1), u)
    laplacian = np.einsum("ini->n", seconds)
    formula = k * ((k - 1) * P(k, p) - 2 * k * P(k + 1, p) + (k + 1) * P(2, p) * P(k, p))
    assert laplacian == pytest.approx(formula, rel=1e-12)
    product = (gradient(j, p) * gradient(k, p)).sum(-1)
    bracket = P(j + k, p) - P(j + 1, p) * P(k, p) - P(j, p) * P(k + 1, p)
    assert product == pytest.approx(j * k * (bracket + P(2, p) * P(j, p) * P(k, p)), rel=1e-11)


@pytest.mark.equation("1.4")
@pytest.mark.parametrize("s", SCALES)
def test_slopes_of_the_moments_in_the_squared_scale(s):
    p = softmax(s * SCORES)
    q, c_3, c_4 = (E(P(k, p)) for k in (2, 3, 4))
    q_22, q_23, q_222 = E(P(2, p) ** 2), E(P(2, p) * P(3, p)), E(P(2, p) ** 3)
    dq_dv = q - 4 * c_3 + 3 * q_22
    dh_dv = -q - 14 * c_3 + 9 * q_22 + 78 * c_4 - 132 * q_23 + 60 * q_222

    step = 1e-30
    moved = softmax((s + 1j * step) * SCORES)
    q_moved, m2_moved = E(P(2, moved)), E((moved * SCORES).sum(-1) ** 2)
    h_moved = (m2_moved - q_moved) / (s + 1j * step) ** 2  # by m2 = s^2 h + q
    moments = score_moments(s, L)
    assert 2 * s * dq_dv == pytest.approx(q_moved.imag / step, rel=1e-11)
    assert 2 * s * dh_dv == pytest.approx(h_moved.imag / step, rel=1e-11)
    assert moments.dq == pytest.approx(2 * s * dq_dv, rel=1e-11)
    assert moments.dh == pytest.approx(2 * s * dh_dv, rel=1e-11)


TAU_STEP = 0.2
TAU = TAU_STEP * np.arange(-300, 41)
ONE, SHIFT = np.polynomial.Polynomial([1.0]), 0.25
SQUARE, LINE = np.polynomial.Polynomial([0.5, 0.0, 1.0]), np.polynomial.Polynomial([0.0, 1.0])


def chi(s, a, f):
    eta = np.exp(TAU[:, None] + s * GRID)
    return (f(GRID - SHIFT) * eta**a * np.exp(-eta)) @ DENSITY


def distinct(s, *factors):
    """The right side of (1.6) with (1.5)."""
    k, r = sum(a for a, _ in factors), len(factors)
    choices = math.prod(L - i for i in range(r))
    Phi = chi(s, 0, ONE)
    integrand = math.prod((chi(s, a, f) for a, f in factors), start=Phi ** (L - r))
    return choices / math.gamma(k) * TAU_STEP * integrand.sum()


def columns(s, a, f):
    """p_i^a f(y_i), (score, token)."""
    return softmax(s * SCORES) ** a * f(SCORES - SHIFT)


@pytest.mark.equation("1.5")
@pytest.mark.equation("1.6")
@pytest.mark.parametrize("s", SCALES)
def test_sums_over_distinct_tokens_are_one_integral(s):
    first, second, third = (2, ONE), (1, SQUARE), (1, LINE)
    x, y, z = (columns(s, *factor) for factor in (first, second, third))
    off = ~np.eye(L, dtype=bool)
    assert distinct(s, first) == pytest.approx(E(x.sum(-1)), rel=1e-12)
    pairs = np.einsum("ni,nj,ij->n", x, y, off)
    assert distinct(s, first, second) == pytest.approx(E(pairs), rel=1e-12)
    triples = np.einsum("ni,nj,nk,ij,jk,ik->n", x, y, z, off, off, off, optimize=True)
    assert distinct(s, first, second, third) == pytest.approx(E(triples), rel=1e-12)


@pytest.mark.equation("1.7")
@pytest.mark.parametrize("s", SCALES)
def test_products_of_sums_are_sums_over_partitions(s):
    F, G, H = (2, ONE), (1, SQUARE), (1, LINE)

    def join(*factors):
        return sum(a for a, _ in factors), math.prod((f for _, f in factors), start=ONE)

    def product(*factors):
        return E(math.prod(columns(s, *factor).sum(-1) for factor in factors))

    two = distinct(s, F, G) + distinct(s, join(F, G))
    assert two == pytest.approx(product(F, G), rel=1e-12)
    pairs = [(join(F, G), H), (join(F, H), G), (join(G, H), F)]
    three = distinct(s, F, G, H) + sum(distinct(s, *pair) for pair in pairs)
    three += distinct(s, join(F, G, H))
    assert three == pytest.approx(product(F, G, H), rel=1e-12)

    quadrature = ScoreQuadrature(s, np.array([L]), degree=4)
    moved = [
        (a, f(np.polynomial.Polynomial([quadrature.shift - SHIFT, 1.0]))) for a, f in (F, G, H)
    ]
    found = quadrature.expectation(*((a, tuple(f.coef)) for a, f in moved))
    assert found[0] == pytest.approx(three, rel=1e-11)


@pytest.mark.equation("1.6")
@pytest.mark.equation("1.7")
@pytest.mark.parametrize("s", SCALES)
def test_participation_and_its_square_are_integrals(s):
    def integral(values):
        return TAU_STEP * values.sum()

    Phi, chi_2, chi_4 = chi(s, 0, ONE), chi(s, 2, ONE), chi(s, 4, ONE)
    p = softmax(s * SCORES)
    q = L * integral(chi_2 * Phi ** (L - 1))
    q_22 = L / 6 * integral(chi_4 * Phi ** (L - 1))
    q_22 += L * (L - 1) / 6 * integral(chi_2**2 * Phi ** (L - 2))
    assert q == pytest.approx(E(P(2, p)), rel=1e-12)
    assert q_22 == pytest.approx(E(P(2, p) ** 2), rel=1e-12)


THETA = np.linspace(0.01, math.pi / 2 - 0.001, 2000)


def aliasing(k, delta):
    """The bound (1.8) at every angle."""
    return 2 * np.cos(THETA) ** -k / (np.exp(2 * math.pi * THETA / delta) - 1)


def shifted_lattices(delta):
    """Lattices of step delta at 40 offsets, (offset, point): the worst shows the whole error."""
    return delta * (np.arange(-60, 20) + np.linspace(0, 1, 40, endpoint=False)[:, None])


@pytest.mark.equation("1.8")
@pytest.mark.parametrize("k", [2, 4, 6])
def test_aliasing_stays_below_its_bound_and_near_it(k):
    def bound(delta):
        return np.min(aliasing(k, delta))

    # s = 0, ten tokens: the integral of e^{k tau} exp(-10 e^tau) is Gamma(k) / 10^k
    for delta in (0.8, 1.0, 1.3):
        tau = shifted_lattices(delta)
        sums = delta * np.sum(np.exp(k * (tau + math.log(10)) - 10 * np.exp(tau)), -1)
        error = np.max(np.abs(sums / math.gamma(k) - 1))
        assert error <= bound(delta) <= 20 * error
    # the document rounds up: 2e-18, 2e-16, 7e-15
    digit, unit = {2: (2, 1e-18), 4: (2, 1e-16), 6: (7, 1e-15)}[k]
    assert math.ceil(bound(0.2) / unit) == digit


@pytest.mark.equation("1.8")
@pytest.mark.parametrize(("s", "n"), [(0.5, 3), (1.5, 3), (1.5, 1000)])
@pytest.mark.parametrize("blocks", [(2,), (4,), (2, 2)])
def test_aliasing_bound_is_uniform_in_scale_and_length(s, n, blocks):
    delta, fine = 1.3, 0.1  # at the fine step the bound is below 1e-30 for every k here

    def integral(tau, step):
        eta = np.exp(tau[..., None] + s * FINE_GRID)
        Phi = np.exp(-eta) @ FINE_DENSITY
        factors = ((eta**a * np.exp(-eta)) @ FINE_DENSITY for a in blocks)
        return step * math.prod(factors, start=Phi ** (n - len(blocks))).sum(-1)

    exact = integral(fine * np.arange(-300, 60), fine)
    error = np.max(np.abs(integral(shifted_lattices(delta), delta) / exact - 1))
    assert 1e-12 < error <= np.min(aliasing(sum(blocks), delta))


@pytest.mark.equation("1.9")
@pytest.mark.parametrize("s", SCALES)
def test_moments_of_the_weighted_covariance(s):
    p = softmax(s * SCORES)
    centred = SCORES - (p * SCORES).sum(-1, keepdims=True)
    v_g = (p * centred**2).sum(-1)
    y = SCORES - 0.7
    in_sums = (p * (y**2 - 1)).sum(-1) - (p * y).sum(-1) ** 2
    assert np.max(np.abs(v_g - 1 - in_sums)) < 1e-12
    found = gradient_moments(s, L)
    assert found.A1 == pytest.approx(E((v_g - 1) ** 2), rel=1e-11)
    assert found.beta == pytest.approx(E((p**2 * centred**2).sum(-1)), rel=1e-11)
    assert found.A2 == pytest.approx(E((v_g - 1) * P(2, p)), rel=1e-11)
    assert found.q22 == pytest.approx(E(P(2, p) ** 2), rel=1e-11)
    assert found.tau == pytest.approx(E(P(2, p) - 2 * P(3, p) + P(2, p) ** 2), rel=1e-11)


@pytest.mark.equation("1.9")
def test_moments_of_the_weighted_covariance_under_equal_weights():
    found = gradient_moments(0, L)
    assert found.A1 == pytest.approx((2 * L - 1) / L**2, rel=1e-12)
    assert found.beta == pytest.approx((L - 1) / L**2, rel=1e-12)
    assert found.tau == pytest.approx((L - 1) / L**2, rel=1e-12)
    assert found.A2 == pytest.approx(-1 / L**2, rel=1e-12)


def order(remainder, points):
    """The exponent n of remainder ~ points^n, between two points."""
    first, last = remainder
    return math.log(first / last) / math.log(points[0] / points[1])


@pytest.mark.equation("1.10")
@pytest.mark.parametrize("L", [3, 40])
def test_expansion_in_small_scales_is_right_up_to_the_sixth_power(L):
    s = np.array([0.04, 0.08])
    q = 1 / L + (L - 1) / L**2 * s**2 + (L - 1) * (L - 6) / (2 * L**3) * s**4
    h = (1 - 1 / L) * (1 - (L + 6) / L**2 * s**2 - (L**2 + 24 * L - 120) / (2 * L**3) * s**4)
    moments = score_moments(s, L)
    # the next terms have the power six; at these scales those after them move the order by 0.1
    assert order(moments.q - q, s) == pytest.approx(6, abs=0.3)
    assert order(moments.h - h, s) == pytest.approx(6, abs=0.3)


@pytest.mark.equation("1.11")
@pytest.mark.parametrize("s", [0.4, 0.9])
def test_expansion_in_long_prompts_leaves_the_third_power(s):
    L = np.array([2000.0, 8000.0])
    x = math.exp(s**2)
    q = x / L * (1 - (x - 1) * (2 * x - 1) / L)
    h = 1 - x / L - x * (x - 1) * (4 * x + 1) / L**2
    kappa = x / L - x * (x - 1) * (8 * x - 1) / L**2
    moments = score_moments(s, L)
    for found, formula in ((moments.q, q), (moments.h, h), (moments.kappa, kappa)):
        assert order(found - formula, L) == pytest.approx(-3, abs=0.2)
