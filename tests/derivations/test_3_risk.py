"""Section 3: risks of in-context linear regression.

The other side of every formula is a quadrature over the prompts themselves, or over the Gaussian
vectors it averages; nothing is sampled. The formulas stand here as in docs/derivations.md.
"""

import functools
import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import chi

from largeprompt.bayes_endpoint import best_constant
from largeprompt.heads import products, random_weights
from largeprompt.length_table import length_table
from largeprompt.quadratic_form import quadratic_form
from largeprompt.risk import (
    factorised_risk,
    merged_risk,
    population_risk,
    population_risk_gradient,
    reduced_optimum,
    reduced_risk,
)
from largeprompt.score_moments import ScoreMomentTable, score_moments
from largeprompt.seeding import stream

# Two dimensions; the query covariance C does not commute with Sigma.
SIGMA = np.array([[1.0, 0.3], [0.3, 0.6]])
C = np.array([[0.7, -0.2], [-0.2, 0.5]])
ROOT = np.linalg.cholesky(C)
S2, TAU, L = 0.3, 0.4, 2

# Averages over N(0, 1) of polynomials of degree up to 5, and of smooth functions to 1e-13.
POLYNOMIAL = np.array([-math.sqrt(3), 0.0, math.sqrt(3)]), np.array([1, 4, 1]) / 6
_GRID = np.arange(-8.0, 8.01, 0.5)
SMOOTH = _GRID, 0.5 * np.exp(-(_GRID**2) / 2) / math.sqrt(2 * math.pi)

_WIDE = np.arange(-12.0, 12.01, 0.2)
FINE = _WIDE, 0.2 * np.exp(-(_WIDE**2) / 2) / math.sqrt(2 * math.pi)


def gaussian(count, rule=POLYNOMIAL):
    """Nodes (n, count) and weights (n,) of the average over N(0, I)."""
    nodes, weights = (np.meshgrid(*[part] * count, indexing="ij") for part in rule)
    return np.stack(nodes, axis=-1).reshape(-1, count), np.prod(weights, axis=0).ravel()


def token_covariance(w, Sigma=SIGMA, s2=S2):
    """Gamma_w of equation 3.1."""
    return np.block([[Sigma, (Sigma @ w)[:, None]], [w @ Sigma, w @ Sigma @ w + s2]])


def forms(U, v, w, x_q, Sigma=SIGMA, s2=S2):
    """s^2, m, n and y of equations 3.2 and 3.3, for U of d columns."""
    Gamma, a = token_covariance(w, Sigma, s2), U @ x_q
    return a @ Gamma @ a, v @ Gamma @ a, v @ Gamma @ v, w @ x_q


def parameters(d, *names):
    """U (D, d) and v (D,), with scores small enough for the grid of SMOOTH."""
    rng = stream(3, "parameters", d, *names)
    return 0.35 * rng.normal(size=(d + 1, d)), rng.normal(size=d + 1)


def with_idle_column(U):
    """U (D, D) as the package takes it."""
    return np.column_stack([U, np.zeros(len(U))])


@functools.cache
def prompts(tau=TAU):
    """Tokens (n, L, D), tasks, queries and weights of the average over all of them."""
    xi, weights = gaussian(10)
    w, x_q = math.sqrt(tau) * xi[:, :2], xi[:, 2:4] @ ROOT.T
    x = xi[:, 4:8].reshape(-1, L, 2) @ np.linalg.cholesky(SIGMA).T
    labels = np.einsum("nld,nd->nl", x, w) + math.sqrt(S2) * xi[:, 8:10]
    return np.concatenate([x, labels[..., None]], axis=-1), w, x_q, weights


def tasks():
    """Pairs of a task w and its weight, exact for polynomials of degree 5."""
    nodes, weights = gaussian(2)
    return zip(math.sqrt(TAU) * nodes, weights, strict=True)


@functools.cache
def normal_pairs(length):
    """Nodes and weights of the first normal variable of each token, then of the second."""
    signs = np.array([-1.0, 1.0]), np.array([0.5, 0.5])
    return *gaussian(length, SMOOTH), *gaussian(length, signs)


def softmax_prediction(Gamma, a, v, length):
    """First two moments of v^T sum p_i z_i over tokens z_i ~ N(0, Gamma).

    The scores and outputs of a token are functions of two normal variables, of which the second
    enters the output alone and so at most squared.
    """
    root = np.linalg.cholesky(Gamma).T
    _, coordinates = np.linalg.qr(np.column_stack([root @ a, root @ v]))
    g, weights, signs, sign_weights = normal_pairs(length)
    p = np.exp(coordinates[0, 0] * g)
    p /= p.sum(axis=1, keepdims=True)
    given = np.sum(p * g, axis=1)[:, None] * coordinates[0, 1] + coordinates[1, 1] * p @ signs.T
    return weights @ given @ sign_weights, weights @ given**2 @ sign_weights


@pytest.mark.equation("3.1")
def test_tokens_of_a_task_have_the_covariance_gamma():
    w, (xi, weights) = np.array([0.7, -1.2]), gaussian(3)
    x = xi[:, :2] @ np.linalg.cholesky(SIGMA).T
    z = np.column_stack([x, x @ w + math.sqrt(S2) * xi[:, 2]])
    np.testing.assert_allclose(z.T @ (weights[:, None] * z), token_covariance(w), atol=1e-14)


def softmax_integrand(h, q, m, n, y):
    """What equation 3.2 averages."""
    return h * m**2 + q * n - 2 * (1 - q) * m * y + y**2


@pytest.mark.equation("3.2")
@pytest.mark.parametrize("length", [1, 2, 3])
def test_softmax_loss_of_a_task_and_query_has_two_moments_of_the_weights(length):
    U, v = parameters(2)
    for w, x_q in stream(3, "pairs").normal(size=(2, 2, 2)):
        first, second = softmax_prediction(token_covariance(w), U @ x_q, v, length)
        s_squared, m, n, y = forms(U, v, w, x_q)
        moments = score_moments(math.sqrt(s_squared), length)
        found = softmax_integrand(moments.h, moments.q, m, n, y)
        assert second - 2 * first * y + y**2 == pytest.approx(found, rel=1e-10)


ONE = {"Sigma": np.array([[0.8]]), "s2": 0.3}
ONE_PARAMETERS = np.array([[0.45], [0.3]]), np.array([0.4, 0.9])
ONE_QUERY = 0.6
ONE_PROBLEM = ONE["Sigma"], ONE["s2"], TAU, L, "softmax", [[ONE_QUERY]]


@functools.cache
def one_dimensional_pairs():
    """Tasks (n, 1), queries (n, 1) and weights of the average over both, for d = 1.

    As functions of s^2, q and h have asymptotic series at 0 but no power series: the grid of the
    query is finer for that. The integrand is even in it.
    """
    x = np.arange(0.125, 8, 0.25)
    densities = SMOOTH[1], 0.5 * np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    w, x_q = (part.reshape(-1, 1) for part in np.meshgrid(SMOOTH[0], x, indexing="ij"))
    return math.sqrt(TAU) * w, math.sqrt(ONE_QUERY) * x_q, np.outer(*densities).ravel()


def one_dimensional_forms():
    """s^2, m, n, y of the pairs (n,) and their weights."""
    *pairs, weights = one_dimensional_pairs()
    rows = [forms(*ONE_PARAMETERS, *pair, **ONE) for pair in zip(*pairs, strict=True)]
    return *np.array(rows).T, weights


def table(s_squared, length=L):
    """q and h at s^2."""
    s = np.sqrt(s_squared)
    return ScoreMomentTable(length, s.max()).derivatives(s, order=0)[0]


@functools.cache
def one_dimensional_risk():
    """Risk of softmax attention for d = 1, from the prompts themselves."""
    (U, v), total = ONE_PARAMETERS, ONE["s2"]
    for w, x_q, weight in zip(*one_dimensional_pairs(), strict=True):
        first, second = softmax_prediction(token_covariance(w, **ONE), U @ x_q, v, L)
        y = w @ x_q
        total += weight * (second - 2 * first * y + y**2)
    return total


@pytest.mark.equation("3.2")
def test_softmax_risk_averages_the_loss_over_tasks_and_queries():
    s_squared, m, n, y, weights = one_dimensional_forms()
    q, h = table(s_squared)
    formula = ONE["s2"] + weights @ softmax_integrand(h, q, m, n, y)
    U, v = ONE_PARAMETERS
    code = population_risk(with_idle_column(U), v, *ONE_PROBLEM).value
    # the grid of the tokens is coarse for the rare largest scores
    assert one_dimensional_risk() == pytest.approx(formula, rel=1e-8)
    assert one_dimensional_risk() == pytest.approx(code, rel=1e-8)


def linear_integrand(length, s_squared, m, n, y):
    """What equation 3.3 averages."""
    return (1 + 1 / length) * m**2 + s_squared * n / length - 2 * m * y + y**2


def average_over_tasks_and_queries(integrand, U, v):
    """E integrand(s^2, m, n, y), exact for polynomials of degree 5 in the task and the query."""
    nodes, weights = gaussian(2)
    return sum(
        task_weight * weight * integrand(*forms(U, v, w, x_q))
        for w, task_weight in tasks()
        for x_q, weight in zip(nodes @ ROOT.T, weights, strict=True)
    )


def linear_risk(U, v):
    """Risk of linear attention, from the prompts themselves."""
    z, w, x_q, weights = prompts()
    prediction = np.mean((z @ v) * np.einsum("nlj,nj->nl", z, x_q @ U.T), axis=1)
    return weights @ (prediction - np.sum(w * x_q, axis=1)) ** 2 + S2


@pytest.mark.equation("3.3")
def test_linear_risk_averages_a_polynomial_in_the_forms():
    U, v = parameters(2)
    code = functools.partial(population_risk, with_idle_column(U), v, SIGMA, S2, TAU)
    for length in (L, math.inf):
        integrand = functools.partial(linear_integrand, length)
        formula = S2 + average_over_tasks_and_queries(integrand, U, v)
        assert code(length, "linear", C).value == pytest.approx(formula, rel=1e-12)
        if length == L:
            assert linear_risk(U, v) == pytest.approx(formula, rel=1e-12)
    assert code(math.inf, "softmax", C).value == code(math.inf, "linear", C).value


@pytest.mark.equation("3.3")
def test_empirical_covariance_has_the_wishart_moment():
    Gamma = token_covariance(np.array([0.7, -1.2]))[1:, 1:]
    N = np.array([[0.3, -0.8], [-0.8, 1.1]])
    xi, weights = gaussian(4)
    z = xi.reshape(-1, L, 2) @ np.linalg.cholesky(Gamma).T
    S = np.einsum("nli,nlj->nij", z, z) / L
    expected = (1 + 1 / L) * Gamma @ N @ Gamma + np.trace(N @ Gamma) * Gamma / L
    np.testing.assert_allclose(np.tensordot(weights, S @ N @ S, 1), expected, rtol=1e-12)


def covariance_products():
    """E Gamma_ij Gamma_kl of equation 3.4, zero where not displayed."""
    label = TAU * np.trace(SIGMA) + S2
    pairs, x = np.zeros((3, 3, 3, 3)), slice(2)
    pairs[x, x, x, x] = np.einsum("ij,kl->ijkl", SIGMA, SIGMA)
    pairs[x, x, 2, 2] = pairs[2, 2, x, x] = label * SIGMA
    for first in ((x, 2), (2, x)):
        for second in ((x, 2), (2, x)):
            pairs[first + second] = TAU * SIGMA @ SIGMA
    pairs[2, 2, 2, 2] = label**2 + 2 * TAU**2 * np.trace(SIGMA @ SIGMA)
    return pairs


def target_products():
    """E Gamma_ij (x_q)_k y of equation 3.4."""
    cross = np.zeros((3, 3, 2))
    cross[:2, 2] = cross[2, :2] = TAU * SIGMA @ C
    return cross


@pytest.mark.equation("3.4")
def test_coefficients_of_the_bilinear_risks_are_averages_over_tasks():
    nodes, weights = gaussian(2)
    x_q = nodes @ ROOT.T
    pairs, cross = 0, 0
    for w, weight in tasks():
        Gamma = token_covariance(w)
        pairs = pairs + weight * np.multiply.outer(Gamma, Gamma)
        cross = cross + weight * np.multiply.outer(Gamma, (weights * (x_q @ w)) @ x_q)
    np.testing.assert_allclose(pairs, covariance_products(), atol=1e-14)
    np.testing.assert_allclose(cross, target_products(), atol=1e-14)


@pytest.mark.equation("3.4", "3.5")
def test_linear_risk_is_a_quadratic_form_in_the_products():
    U, v = parameters(2)
    pairs = covariance_products()
    products_at_L = (1 + 1 / L) * pairs + (1 / L) * np.einsum("ikjl->ijkl", pairs)
    formula = S2 + TAU * np.trace(C)
    formula += np.einsum("i,jl,k,ijkl->", v, U @ C @ U.T, v, products_at_L)
    formula -= 2 * np.einsum("i,jk,ijk->", v, U, target_products())
    theta = np.append(with_idle_column(U), v)
    code = merged_risk(SIGMA, S2, TAU, L, "linear", C).value_and_gradient(theta)[0]
    assert linear_risk(U, v) == pytest.approx(formula, rel=1e-12)
    assert code == pytest.approx(formula, rel=1e-12)


@pytest.mark.equation("3.5")
def test_product_of_entries_of_the_empirical_covariance_gains_one_exchange():
    rng = stream(3, "exchange")
    z, *_, weights = prompts()
    for v, a in rng.normal(size=(3, 2, 3)):
        square = weights @ np.mean((z @ v) * (z @ a), axis=1) ** 2
        pairs = covariance_products()
        kept = np.einsum("ijkl,i,j,k,l->", pairs, v, a, v, a)
        exchanged = np.einsum("ikjl,i,j,k,l->", pairs, v, a, v, a)
        assert square == pytest.approx((1 + 1 / L) * kept + (1 / L) * exchanged, rel=1e-12)


def finite_prompt_integrand(h, q, m, n, y):
    """What equation 3.6 averages."""
    return (h - 1) * m**2 + q * n + 2 * q * m * y


@pytest.mark.equation("3.6")
def test_finite_prompt_adds_a_term_of_order_q_to_the_infinite_one():
    s_squared, m, n, y, weights = one_dimensional_forms()
    infinite = ONE["s2"] + weights @ (m - y) ** 2
    q, h = table(s_squared)
    added = weights @ finite_prompt_integrand(h, q, m, n, y)
    assert one_dimensional_risk() - infinite == pytest.approx(added, rel=1e-8)
    U, v = with_idle_column(ONE_PARAMETERS[0]), ONE_PARAMETERS[1]
    Sigma, s2, tau, _, attention, query = ONE_PROBLEM
    code = population_risk(U, v, *ONE_PROBLEM).value
    code -= population_risk(U, v, Sigma, s2, tau, math.inf, attention, query).value
    assert code == pytest.approx(added, rel=1e-8)


def length_averages(d, length, rho):
    """H, Q_0 and Q_2 of equation 3.7, each of the shape of rho."""
    points, weights = np.polynomial.legendre.leggauss(80)
    r = 5 * (points + 1)
    weights = 5 * weights * chi(d).pdf(r)
    q, h = table(np.multiply.outer(rho, r**2), length)
    return (h - 1) @ (weights * r**2), q @ weights, q @ (weights * r**2)


@pytest.mark.equation("3.7")
@pytest.mark.parametrize("length", [2, 10])
def test_length_of_the_query_is_integrated_before_its_direction(length):
    U, v = parameters(2)
    nodes, weights = gaussian(2, FINE)
    x_q = nodes @ ROOT.T
    angle = np.arange(64) * 2 * math.pi / 64
    u = np.column_stack([np.cos(angle), np.sin(angle)]) @ ROOT.T
    for w in ([0.0, 0.0], [0.6, -0.9]):
        Gamma, w = token_covariance(np.array(w)), np.array(w)
        n, M = v @ Gamma @ v, U.T @ Gamma @ U
        m, y, s_squared = x_q @ U.T @ Gamma @ v, x_q @ w, np.sum((x_q @ M) * x_q, axis=1)
        q, h = table(s_squared, length)
        expected = weights @ finite_prompt_integrand(h, q, m, n, y)
        m_u, y_u, rho = u @ U.T @ Gamma @ v, u @ w, np.sum((u @ M) * u, axis=1)
        H, Q_0, Q_2 = length_averages(2, length, rho)
        found = np.mean(H * m_u**2 + Q_0 * n + 2 * Q_2 * m_u * y_u)
        assert found == pytest.approx(expected, rel=1e-8)


@pytest.mark.equation("3.7")
@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("length", [2, 100])
def test_table_of_the_length_averages_holds_the_integrals(d, length):
    rho = np.linspace(0, 2, 41)
    code = length_table(length, d, 2.0).derivatives(rho)[0]
    np.testing.assert_allclose(code, length_averages(d, length, rho), rtol=1e-7)


def numerical_derivative(function, point, step=1e-3):
    """Central differences, (*shape of the function, *shape of the point): exact for quadratics."""
    columns = []
    for index in np.ndindex(point.shape):
        shift = np.zeros(point.shape)
        shift[index] = step
        columns.append((function(point + shift) - function(point - shift)) / (2 * step))
    moved = np.moveaxis(np.array(columns), 0, -1)
    return moved.reshape(moved.shape[:-1] + point.shape)


@pytest.mark.equation("3.8")
def test_forms_have_the_displayed_derivatives():
    U, v = parameters(2)
    u, Gamma = np.array([0.8, -0.5]), token_covariance(np.array([0.7, -1.2]))

    def rho(U):
        return u @ U.T @ Gamma @ U @ u

    def m(U, v):
        return v @ Gamma @ U @ u

    def n(v):
        return v @ Gamma @ v

    def slope(function):
        return functools.partial(numerical_derivative, function)

    G, nu = Gamma @ U, Gamma @ v
    of_m_in_v = numerical_derivative(lambda U: slope(lambda v: m(U, v))(v), U)
    for found, displayed in (
        (slope(rho)(U), 2 * np.outer(G @ u, u)),
        (slope(slope(rho))(U), 2 * np.einsum("ij,x,y->ixjy", Gamma, u, u)),
        (slope(lambda U: m(U, v))(U), np.outer(nu, u)),
        (slope(lambda v: m(U, v))(v), G @ u),
        (of_m_in_v, np.einsum("ij,x->ijx", Gamma, u)),
        (slope(n)(v), 2 * nu),
        (slope(slope(n))(v), 2 * Gamma),
    ):
        np.testing.assert_allclose(found, displayed, atol=1e-8)


@pytest.mark.equation("3.8")
def test_gradient_of_the_softmax_risk_follows_by_the_chain_rule():
    U, v = ONE_PARAMETERS
    Sigma, s2, tau, length, attention, query = ONE_PROBLEM
    nodes, weights = gaussian(1, SMOOTH)
    u = np.array([math.sqrt(ONE_QUERY)])  # the other direction gives the same
    of_U, of_v = np.zeros(U.shape), np.zeros(v.shape)
    for w, weight in zip(math.sqrt(tau) * nodes, weights, strict=True):
        Gamma = token_covariance(w, **ONE)
        G, nu = Gamma @ U, Gamma @ v
        m, n, y, rho = nu @ U @ u, v @ nu, w @ u, u @ U.T @ G @ u
        (H, Q_0, Q_2), (dH, dQ_0, dQ_2), _ = length_table(length, 1, 4.0).derivatives(rho)
        by_rho, by_m = dH * m**2 + dQ_0 * n + 2 * dQ_2 * m * y, 2 * (H * m + Q_2 * y)
        of_U += weight * (by_rho * 2 * np.outer(G @ u, u) + by_m * np.outer(nu, u))
        of_v += weight * (by_m * G @ u + Q_0 * 2 * nu)
    arguments = with_idle_column(U), v, Sigma, s2, tau
    finite = population_risk_gradient(*arguments, length, attention, query)
    infinite = population_risk_gradient(*arguments, math.inf, attention, query)
    np.testing.assert_allclose((finite.gradient_U - infinite.gradient_U)[:, :1], of_U, rtol=1e-6)
    np.testing.assert_allclose(finite.gradient_v - infinite.gradient_v, of_v, rtol=1e-6)


@pytest.mark.equation("3.9")
def test_head_of_four_factors_acts_through_two_products():
    d, rng = 3, stream(3, "head")
    D = d + 1
    weights = random_weights(rng, d)
    Q, K, V, O = (weights[name] for name in ("Q", "K", "V", "O"))  # noqa: E741
    tokens, z_q = rng.normal(size=(6, D)), np.append(rng.normal(size=d), 0.0)
    scores = np.array([(K @ z) @ (Q @ z_q) for z in tokens]) / math.sqrt(D)
    p = np.exp(scores) / np.exp(scores).sum()
    prediction = (O @ sum(p_i * V @ z for p_i, z in zip(p, tokens, strict=True))).item()
    U, v = K.T @ Q / math.sqrt(D), (V.T @ O.T)[:, 0]
    p = np.exp(tokens @ U @ z_q)
    assert v @ (p @ tokens) / p.sum() == pytest.approx(prediction, rel=1e-12)
    risk = factorised_risk(np.eye(d), 0.1, 1.0, math.inf)
    np.testing.assert_allclose(risk.merge(risk.pack(Q, K, V, O)), np.append(U, v), rtol=1e-13)
    np.testing.assert_allclose(products(weights)[0], U, rtol=1e-13)
    np.testing.assert_allclose(products(weights)[1], v, rtol=1e-13)


A, B_SCALE = np.array([[0.5, 0.2], [-0.1, 0.7]]), 1.1


def family_integrand(h, q, x):
    """What equation 3.10 averages, for queries x (n, d)."""
    A_x = x @ A.T
    square, product = np.sum((A_x @ SIGMA) ** 2, axis=1), np.sum(x * (A_x @ SIGMA), axis=1)
    b, variance = B_SCALE, np.trace(SIGMA) + S2
    return b**2 * (h * square + q * variance) - 2 * b * (1 - q) * product + np.sum(x**2, axis=1)


@pytest.mark.equation("3.10")
@pytest.mark.parametrize("length", [1, 2])
def test_loss_of_a_query_on_the_family_of_theorem_5_1_averages_over_tasks(length):
    U, v = np.vstack([A, np.zeros(2)]), np.array([0.0, 0.0, B_SCALE])
    nodes, weights = gaussian(2)
    for x in np.array([[0.7, -0.4], [1.5, 0.9], [-0.2, 1.1]]):
        loss = 0.0
        for w, weight in zip(nodes, weights, strict=True):
            first, second = softmax_prediction(token_covariance(w), U @ x, v, length)
            loss += weight * (second - 2 * first * (w @ x) + (w @ x) ** 2)
        moments = score_moments(math.sqrt(x @ A.T @ SIGMA @ A @ x), length)
        assert family_integrand(moments.h, moments.q, x[None])[0] == pytest.approx(loss, rel=1e-9)


@pytest.mark.equation("3.10")
@pytest.mark.parametrize("length", [2, 50])
def test_reduced_risk_averages_the_loss_over_queries(length):
    nodes, weights = gaussian(2, FINE)
    x = nodes @ ROOT.T
    q, h = table(np.sum((x @ A.T @ SIGMA @ A) * x, axis=1), length)
    formula = S2 / 2 + weights @ family_integrand(h, q, x) / 2
    code = reduced_risk(A, B_SCALE, SIGMA, S2, length, "softmax", C)
    assert code == pytest.approx(formula, rel=1e-8)


def contour_integral(transform, count=32):
    """(1/2 pi i) of the integral of e^zeta transform(zeta) around the negative axis.

    Along the parabola of Weideman and Trefethen (2007), for which the error is near 2.85^-count.
    """
    step, scale = 3 / count, math.pi * count / 12
    t = step * (np.arange(count) + 0.5)
    zeta = scale * (1 + 1j * t) ** 2
    # d zeta / (2 pi i); the lower half of the contour is conjugate
    slope = scale * (1 + 1j * t) / math.pi
    return 2 * step * np.real(np.sum(np.exp(zeta) * transform(zeta) * slope, axis=-1))


@pytest.mark.equation("3.11")
@pytest.mark.parametrize("f", [lambda v: 1 / (1 + v), lambda v: v * np.exp(-v / 2)])
@pytest.mark.parametrize("eigenvalues", [[1.0, 0.4], [0.5, 0.5], [1.3, 0.02]])
def test_laplace_inversion_gives_the_fourth_moments_with_a_function_of_s(eigenvalues, f):
    eigenvalues, step = np.array(eigenvalues), 0.1
    xi, weights = gaussian(2, FINE)
    squares = xi**2
    truth = squares.T @ (squares * (weights * f(squares @ eigenvalues))[:, None])

    x = np.arange(-40.0, 5.5, step)

    def moment(i, j):
        def transform(zeta):
            F = 1 / (1 + 2 * np.multiply.outer(np.exp(-x), zeta)[..., None] * eigenvalues)
            return F[..., i] * F[..., j] * np.prod(np.sqrt(F), axis=-1)

        return (1 + 2 * (i == j)) * step * f(np.exp(x)) @ contour_integral(transform)

    formula = np.array([[moment(i, j) for j in range(2)] for i in range(2)])
    form = quadratic_form(eigenvalues)
    np.testing.assert_allclose(formula, truth, rtol=1e-10)
    np.testing.assert_allclose(form.mean_of_fourths(f(form.s_squared)), truth, rtol=1e-10)


@pytest.mark.equation("3.12")
def test_best_linear_attention_is_a_regression_on_the_empirical_moments():
    z, w, x_q, weights = prompts(1.0)
    moments = np.mean(z[..., :2] * z[..., 2:], axis=1)
    features = np.einsum("ni,nj->nij", x_q, moments).reshape(-1, 4)
    y = np.sum(w * x_q, axis=1)
    squares, products_with_y = features.T * weights @ features, features.T * weights @ y

    spread, identity = (np.trace(SIGMA) + S2) / L, np.eye(2)
    B = np.array([[0.4, -0.7], [0.2, 1.3]])  # prediction x_q^T B^T (moments)
    slope = ((1 + 1 / L) * SIGMA @ SIGMA @ B + spread * SIGMA @ B - SIGMA) @ C
    truth = (squares @ B.T.ravel() - products_with_y).reshape(2, 2).T
    np.testing.assert_allclose(slope, truth, rtol=1e-11)

    optimum = np.linalg.inv((1 + 1 / L) * SIGMA + spread * identity)
    risk = S2 / 2 + np.trace(C) / 2 - np.trace(SIGMA @ optimum @ C) / 2
    truth = np.linalg.solve(squares, products_with_y)
    np.testing.assert_allclose(optimum, truth.reshape(2, 2).T, rtol=1e-11)
    assert risk == pytest.approx((S2 + weights @ y**2 - products_with_y @ truth) / 2, rel=1e-12)
    best = reduced_optimum(SIGMA, S2, L, "linear", C)
    np.testing.assert_allclose(best.b * best.A, optimum, rtol=1e-12)
    assert best.risk == pytest.approx(risk, rel=1e-12)


@pytest.mark.equation("3.13")
def test_softmax_excess_of_the_best_weights_tends_to_a_minimum_over_one_number():
    trace, d = np.trace(SIGMA), 2

    def displayed(b_squared):
        shrink = 1 - 2 / b_squared
        return shrink ** (-d / 2) * (b_squared * (trace + S2) + trace / shrink) / 2

    # L q and L (h - 1 + 2 q) tend to exp(s^2), and 3.10 has no other term where b Sigma A = I
    xi, weights = gaussian(2, FINE)
    x_squared = np.sum((xi @ SIGMA) * xi, axis=1)  # x = Sigma^(1/2) xi
    for b_squared in (4.0, 6.0, 10.0):
        growth = np.exp(np.sum(xi**2, axis=1) / b_squared)
        truth = weights @ (growth * (b_squared * (trace + S2) + x_squared)) / 2
        assert displayed(b_squared) == pytest.approx(truth, rel=1e-10)

    smallest = minimize_scalar(displayed, bounds=(2.001, 50.0), method="bounded").fun
    assert best_constant(d, trace, S2) == pytest.approx(smallest, rel=1e-9)
    lengths = [10**4, 10**6, 10**8]
    excess = [length * (reduced_optimum(SIGMA, S2, length).risk - S2 / 2) for length in lengths]
    gaps = 1 - np.array(excess) / smallest
    # the next order is a power of L, here near -0.7: e^(4 s^2) / L^2 is not integrable at this b
    assert (gaps[1:] < gaps[:-1] / 20).all()
    assert 0 < gaps[-1] < 1e-4
