"""Section 2 of docs/derivations.md: errors of output and gradients at a query and averaged over it.

Truth is a trapezoidal sum over three tokens in two dimensions, or over the query. The three tokens
are their mean, which only shifts the output, and two contrasts: four normal coordinates.
"""

import math
from functools import cache

import numpy as np
import pytest
from derivations.brute_force import GAMMA, S, U, V, normal_grid, root, softmax
from scipy.optimize import minimize_scalar

from largeprompt.concentration import (
    gradient_u_error,
    gradient_u_error_at,
    gradient_v_error,
    gradient_v_error_at,
    output_error,
    output_error_at,
    sharp_bound,
)
from largeprompt.query_average import QueryAverage
from largeprompt.rates import tilt
from largeprompt.score_moments import gradient_moments, score_moments

tr = np.trace
L = 3
Z = np.array([0.9, 0.5])
ALONG = np.array([1.0, 0.3])  # queries z = xi (1, 0.3), so that s = |xi| times a constant
A = U @ Z
SCALE = math.sqrt(A @ GAMMA @ A)  # s, 0.8 here
DIRECTION = GAMMA @ A / SCALE  # e
R = GAMMA - np.outer(DIRECTION, DIRECTION)
CONTRASTS = np.array([[1, -1, 0], [1, 1, -2]]).T / np.sqrt([2, 6])  # (token, contrast)


def square(matrix):
    return np.sum(matrix**2)


@cache
def brute_force():
    """E |V x_bar - V Gamma a|^2, E |x_bar - Gamma a|^2 and E |V (C - Gamma)|^2 at the query.

    No singularity is nearer than pi / (sqrt(2) s): a step of 1/2 leaves errors near 1e-13.
    """
    y, mass = normal_grid(4, 0.5, 7.5)
    half = y[:, 0] >= 0  # exchanging two tokens changes the sign of their contrast
    mass = np.where(y[half, 0] > 0, 2, 1) * mass[half]
    contrasts = y[half].reshape(-1, 2, 2) @ np.linalg.cholesky(GAMMA).T
    tokens = np.swapaxes(contrasts, 1, 2) @ CONTRASTS.T  # (point, coordinate, token)
    p = softmax(A @ tokens)
    x_bar = np.einsum("ndl,nl->nd", tokens, p)
    C = (tokens * p[:, None, :]) @ np.swapaxes(tokens, 1, 2) - x_bar[:, :, None] * x_bar[:, None, :]
    second = np.einsum("n,ni,nj->ij", mass, x_bar - GAMMA @ A, x_bar - GAMMA @ A) + GAMMA / L
    gradient = np.einsum("n,nij,nkj->ik", mass, C - GAMMA, C - GAMMA, optimize=True)
    return tr(V @ second @ V.T), tr(second), tr(V @ gradient @ V.T)


@pytest.mark.equation("2.1")
def test_given_the_scores_the_output_is_gaussian():
    g = np.random.default_rng(1).standard_normal(4)
    p = softmax(SCALE * g)
    # conditioning of the joint normal law of scores and x_bar by Schur's complement
    covariance = np.kron(np.eye(4), GAMMA)
    score = np.kron(np.eye(4), A / SCALE)
    x_bar = np.kron(p, np.eye(2))
    gain = x_bar @ covariance @ score.T @ np.linalg.inv(score @ covariance @ score.T)
    remaining = x_bar @ covariance @ x_bar.T - gain @ score @ covariance @ x_bar.T
    g_bar, P_2 = p @ g, np.sum(p**2)
    assert gain @ g == pytest.approx(g_bar * DIRECTION, rel=1e-12)
    assert remaining == pytest.approx(P_2 * R, rel=1e-12)


@pytest.mark.equation("2.2")
def test_error_of_the_output_is_that_of_all_prompts():
    truth, _, _ = brute_force()
    moments = score_moments(SCALE, L)
    q, kappa = moments.q, moments.kappa
    formula = q * tr(V @ GAMMA @ V.T) + kappa * square(V @ GAMMA @ A)
    assert formula == pytest.approx(truth, rel=1e-11)
    assert output_error_at(GAMMA, U, V, Z, L) == pytest.approx(truth, rel=1e-11)
    at_zero = output_error_at(GAMMA, U, V, 0 * Z, L)
    assert at_zero == pytest.approx(tr(V @ GAMMA @ V.T) / L, rel=1e-12)


@pytest.mark.equation("2.3")
def test_error_of_the_output_stays_below_its_bound():
    """In one dimension with Gamma = V = 1, so that s = a: two contrasts of three tokens."""
    y, mass = normal_grid(2, 0.15, 8.4)
    tokens = y @ CONTRASTS.T

    def error_and_q(a):
        p = softmax(a * tokens)
        return mass @ (np.sum(p * tokens, -1) - a) ** 2 + 1 / L, mass @ np.sum(p**2, -1)

    a = np.array([0.01, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0, 3.0])
    error, q = np.array([error_and_q(x) for x in a]).T
    assert (error < q * (1 + a**2)).all()
    assert (error > q * (1 + 0.5 * a**2))[:3].all()  # so no smaller factor does
    assert (error > q * (0.5 + a**2))[:3].all()

    xi, masses = normal_grid(1, 0.2, 9)
    z = xi * ALONG
    s = np.sqrt(np.sum((z @ U.T) @ GAMMA * (z @ U.T), -1))
    image = np.sum((z @ (V @ GAMMA @ U).T) ** 2, -1)
    bound = masses @ (score_moments(s, 50).q * (tr(V @ GAMMA @ V.T) + image))
    problem = (GAMMA, U, V, np.outer(ALONG, ALONG), 50)
    assert sharp_bound(*problem) == pytest.approx(bound, rel=1e-10)
    assert output_error(*problem) < bound


SINGULAR = np.array([[0.6, -0.4], [0.3, -0.2]])  # a U that leaves one eigenvalue 0
FORMS = (np.array([[1.0, 0.3], [0.3, 2.0]]), np.array([[0.5, -0.6], [-0.6, 1.0]]), np.eye(2))
DEGREES = [0, 1, 2, 3]


def law_of_the_scale(U):
    """The eigenvalues of M = S^(1/2) U^T Gamma U S^(1/2) and T (eq. 2.4)."""
    eigenvalues, directions = np.linalg.eigh(root(S) @ U.T @ GAMMA @ U @ root(S))
    return np.maximum(eigenvalues, 0), root(S) @ directions


@cache
def query_grid():
    """Queries z ~ N(0, S) by another root of S than T."""
    xi, mass = normal_grid(2, 0.25, 12)
    return xi @ np.linalg.cholesky(S).T, mass


def squared_scale(U, z):
    a = z @ U.T
    return np.sum(a @ GAMMA * a, -1)


def P(z, forms):
    return math.prod((np.sum(z @ form * z, -1) for form in forms), start=np.ones(len(z)))


@pytest.mark.equation("2.4")
@pytest.mark.parametrize("U", [U, SINGULAR])
def test_squared_scale_is_a_sum_of_independent_squares(U):
    lam, T = law_of_the_scale(U)
    assert T @ T.T == pytest.approx(S, rel=1e-12)
    xi = np.random.default_rng(2).standard_normal((20, 2))
    assert squared_scale(U, xi @ T.T) == pytest.approx(xi**2 @ lam, rel=1e-12)
    assert tilt(GAMMA, U, S) == pytest.approx(lam.max(), rel=1e-12)


def wick(C, forms):
    """E of a product of up to three quadratic forms of N(0, C)."""
    chains = [form @ C for form in forms]
    traces = [tr(chain) for chain in chains]
    if len(forms) < 2:
        return math.prod(traces)
    pairs = sum(
        tr(chains[i] @ chains[j])
        * math.prod(traces[k] for k in range(len(forms)) if k not in (i, j))
        for i in range(len(forms))
        for j in range(i)
    )
    triple = 8 * tr(chains[0] @ chains[1] @ chains[2]) if len(forms) == 3 else 0
    return math.prod(traces) + 2 * pairs + triple


def transform(t, lam, T, forms):
    """The right side of (2.5)."""
    D = np.diag(1 / (1 + 2 * t * lam))
    return np.prod((1 + 2 * t * lam) ** -0.5) * wick(T @ D @ T.T, forms)


@pytest.mark.equation("2.5")
@pytest.mark.parametrize("U", [U, SINGULAR])
@pytest.mark.parametrize("degree", DEGREES)
def test_laplace_transform_of_the_weighted_law(U, degree):
    lam, T = law_of_the_scale(U)
    z, mass = query_grid()
    v, forms = squared_scale(U, z), FORMS[:degree]
    for t in (0.0, 1.3, 0.4 - 0.7j, -0.2 / lam.max()):
        truth = mass @ (np.exp(-t * v) * P(z, forms))
        assert transform(t, lam, T, forms) == pytest.approx(truth, rel=1e-10)
    query = QueryAverage(GAMMA, U, S, longest=1e6)
    assert query.mean(*forms) == pytest.approx(transform(0, lam, T, forms), rel=1e-12)
    found = query.mean(*forms) + query.weights(*forms) @ np.expm1(-1.3 * query.scales**2)
    assert found == pytest.approx(transform(1.3, lam, T, forms), rel=1e-11)


def density(v, lam, T, forms):
    """rho_P(v) by polar coordinates of xi: v = r^2 form(angle)."""
    angle = 2 * math.pi * np.arange(400) / 400
    unit = np.stack([np.cos(angle), np.sin(angle)], -1)
    form = unit**2 @ lam
    values = P(np.sqrt(v / form)[:, None] * unit @ T.T, forms)
    return np.mean(np.exp(-v / (2 * form)) / (2 * form) * values)


def saddle(v, lam, T):
    """u_0: where the integrand without P is least on the real axis."""

    def logarithm(u):
        t = -1 / (2 * lam.max()) + u
        return t * v + math.log(transform(t, lam, T, ()))

    return minimize_scalar(logarithm, bounds=(0.1 / v, 10 / v), method="bounded").x


def contour(v, lam, T, forms, u_0):
    """Terms of a trapezoidal sum for (2.6) over w."""
    step = math.sqrt(1 + 42 / (u_0 * v)) / 100
    w = step * np.arange(-100, 101)
    t = -1 / (2 * lam.max()) + u_0 * (1 + 1j * w) ** 2
    dt = step * 2j * u_0 * (1 + 1j * w)
    # the factors one by one: the root of their product would leave the branch of (2.5)
    values = [np.exp(point * v) * transform(point, lam, T, forms) for point in t]
    return np.array(values) * dt / (2j * math.pi)


@pytest.mark.equation("2.6")
@pytest.mark.parametrize("degree", DEGREES)
def test_density_is_a_contour_integral_that_cancels_nothing(degree):
    (lam, T), forms = law_of_the_scale(U), FORMS[:degree]
    for v in (0.01, 1.0, 60 * lam.max()):
        truth = density(v, lam, T, forms)
        terms = contour(v, lam, T, forms, saddle(v, lam, T))
        assert np.sum(terms).real == pytest.approx(truth, rel=1e-11)
        assert np.sum(np.abs(terms)) < 10 * truth

    # densities of the package, up to the spacing of its points
    query = QueryAverage(GAMMA, U, S, longest=1e6)
    ratio = query.weights(*forms) / query.weights()
    for i in range(0, query.scales.size, 40):
        v = query.scales[i] ** 2
        truth = density(v, lam, T, forms) / density(v, lam, T, ())
        assert ratio[i] == pytest.approx(truth, rel=1e-9)


@pytest.mark.equation("2.7")
@pytest.mark.equation("2.8")
@pytest.mark.parametrize("degree", DEGREES)
def test_averages_over_the_query_are_sums_over_the_scale(degree):
    (lam, T), forms = law_of_the_scale(U), FORMS[:degree]
    z, mass = query_grid()
    truth = mass @ (P(z, forms) / (1 + squared_scale(U, z)))
    mean, c, step = mass @ P(z, forms), 1.7, 0.125
    x = step * np.arange(-120, 81)
    s, slope = c * np.log1p(np.exp(x)), c / (1 + np.exp(-x))
    rho = np.array([density(v, lam, T, forms) for v in s**2])
    weights = step * rho * 2 * s * slope
    f, f_0 = 1 / (1 + s**2), 1.0
    assert weights @ f == pytest.approx(truth, rel=1e-10)
    assert f_0 * mean + weights @ (f - f_0) == pytest.approx(truth, rel=1e-10)
    # the left tail is shorter by the factor s^2 = 0.28 of its end, or more
    tail = slice(0, 112)
    assert abs(weights[tail] @ (f - f_0)[tail]) < 0.28 * (weights[tail] @ f[tail])


@pytest.mark.equation("2.8")
@pytest.mark.parametrize("U", [U, SINGULAR])
@pytest.mark.parametrize("degree", DEGREES)
def test_value_without_scores_and_weighted_differences_make_an_average(U, degree):
    z, mass = query_grid()
    forms = FORMS[:degree]
    truth = mass @ (P(z, forms) / (1 + squared_scale(U, z)))
    query = QueryAverage(GAMMA, U, S, longest=1e6)
    s = query.scales
    f, f_0 = 1 / (1 + s**2), 1.0
    found = f_0 * query.mean(*forms) + query.weights(*forms) @ (f - f_0)
    assert found == pytest.approx(truth, rel=1e-10)
    without_scores = QueryAverage(GAMMA, 0 * U, S, longest=1e6)
    assert without_scores.weights(*forms).sum() == 0
    assert without_scores.mean(*forms) == pytest.approx(mass @ P(z, forms), rel=1e-10)


@pytest.mark.equation("2.8")
def test_averaged_errors_are_sums_over_the_query():
    xi, mass = normal_grid(1, 0.2, 9)
    problem = (GAMMA, U, V, np.outer(ALONG, ALONG), 50)
    for average, at in ((output_error, output_error_at), (gradient_v_error, gradient_v_error_at)):
        truth = mass @ at(GAMMA, U, V, xi * ALONG, 50)
        assert average(*problem) == pytest.approx(truth, rel=1e-10)


def derivative(f, matrix):
    """Of every entry of f by every entry of the matrix, (f, *matrix), by complex steps."""
    step = 1e-30
    units = np.eye(matrix.size).reshape(-1, *matrix.shape)
    columns = [np.imag(f(matrix + 1j * step * unit)) / step for unit in units]
    return np.stack(columns, -1).reshape(-1, *matrix.shape)


@pytest.fixture
def prompt():
    """Five tokens and what the weights make of them: p, x_bar, C."""
    tokens = np.random.default_rng(3).standard_normal((5, 2)) @ np.linalg.cholesky(GAMMA).T
    p = softmax(tokens @ A)
    x_bar = p @ tokens
    return tokens, p, x_bar, (tokens.T * p) @ tokens - np.outer(x_bar, x_bar)


@pytest.mark.equation("2.11")
def test_error_of_the_gradient_in_V_is_that_of_all_prompts(prompt):
    tokens, _, x_bar, _ = prompt
    m = len(V)
    finite = derivative(lambda V: V @ (softmax(tokens @ U @ Z) @ tokens), V)
    limit = derivative(lambda V: V @ GAMMA @ U @ Z, V)
    assert square(finite - limit) == pytest.approx(m * square(x_bar - GAMMA @ A), rel=1e-12)

    truth = m * brute_force()[1]
    moments = score_moments(SCALE, L)
    formula = m * (moments.q * tr(GAMMA) + moments.kappa * square(GAMMA @ A))
    assert formula == pytest.approx(truth, rel=1e-11)
    assert gradient_v_error_at(GAMMA, U, V, Z, L) == pytest.approx(truth, rel=1e-11)


@pytest.mark.equation("2.12")
def test_weighted_covariance_splits_into_scores_and_the_rest(prompt):
    tokens, p, _, C = prompt
    e, g = DIRECTION, tokens @ A / SCALE
    zeta = tokens - np.outer(g, e)
    g_bar = p @ g
    v_g, b = p @ (g - g_bar) ** 2, (p * (g - g_bar)) @ zeta
    B = np.diag(p) - np.outer(p, p)
    right = (v_g - 1) * np.outer(e, e) + np.outer(e, b) + np.outer(b, e) + (zeta.T @ B @ zeta - R)
    assert C - GAMMA == pytest.approx(right, abs=1e-14)
    P_2, P_3 = np.sum(p**2), np.sum(p**3)
    assert tr(B) == pytest.approx(1 - P_2, rel=1e-12)
    assert tr(B @ B) == pytest.approx(P_2 - 2 * P_3 + P_2**2, rel=1e-12)


@pytest.mark.equation("2.13")
def test_error_of_the_gradient_in_U_is_that_of_all_prompts(prompt):
    tokens, _, _, C = prompt
    finite = derivative(lambda U: V @ (softmax(tokens @ U @ Z) @ tokens), U)
    limit = derivative(lambda U: V @ GAMMA @ U @ Z, U)
    assert finite == pytest.approx(np.einsum("ij,k->ijk", V @ C, Z), rel=1e-11)
    assert limit == pytest.approx(np.einsum("ij,k->ijk", V @ GAMMA, Z), rel=1e-11)

    truth = square(Z) * brute_force()[2]
    e, Ve, VR = DIRECTION, V @ DIRECTION, V @ R
    moments = gradient_moments(SCALE, L)
    A1, beta, A2, q_22, tau = (getattr(moments, x) for x in ("A1", "beta", "A2", "q22", "tau"))
    formula = square(Z) * (
        A1 * square(Ve) * square(e)
        + beta * (square(Ve) * tr(R) + tr(V @ R @ V.T) * square(e) + 2 * Ve @ VR @ e)
        - 2 * A2 * Ve @ VR @ e
        + q_22 * square(VR)
        + tau * (square(VR) + tr(R) * tr(V @ R @ V.T))
    )
    assert formula == pytest.approx(truth, rel=1e-10)
    assert gradient_u_error_at(GAMMA, U, V, Z, L) == pytest.approx(truth, rel=1e-10)


def factors_without_R(s, L):
    """(q_22 + tau, tau) and the factors of the e terms of (2.14)."""
    m = gradient_moments(s, L)
    A1, beta, A2, q_22, tau = m.A1, m.beta, m.A2, m.q22, m.tau
    mixed = 2 * ((beta - tau) - (A2 + q_22))
    return (q_22 + tau, tau), (beta - tau, mixed, A1 - 4 * beta + 2 * A2 + q_22 + 2 * tau)


def error_without_R(z, L):
    """(2.14) at one query."""
    (seen, rest), (single, mixed, both) = factors_without_R(math.sqrt(squared_scale(U, z)), L)
    e = GAMMA @ U @ z / math.sqrt(squared_scale(U, z))
    Ve = V @ e
    return square(z) * (
        seen * square(V @ GAMMA)
        + rest * tr(GAMMA) * tr(V @ GAMMA @ V.T)
        + single * (tr(GAMMA) * square(Ve) + tr(V @ GAMMA @ V.T) * square(e))
        + mixed * Ve @ V @ GAMMA @ e
        + both * square(Ve) * square(e)
    )


@pytest.mark.equation("2.14")
def test_error_of_the_gradient_in_U_needs_no_residual_covariance():
    assert error_without_R(Z, L) == pytest.approx(square(Z) * brute_force()[2], rel=1e-10)

    xi, mass = normal_grid(1, 0.25, 9)
    pairs = zip(xi[:, 0], mass, strict=True)  # z and -z are alike
    truth = 2 * sum(w * error_without_R(x * ALONG, 50) for x, w in pairs if x > 0)
    found = gradient_u_error(GAMMA, U, V, np.outer(ALONG, ALONG), 50)
    assert found == pytest.approx(truth, rel=1e-9)

    near, far = (factors_without_R(s, 9)[1] for s in (0.02, 0.04))
    orders = np.log2(np.array(far) / np.array(near))
    assert orders == pytest.approx([2, 2, 4], abs=0.05)
