"""Section 2 of docs/derivations.md: rates in L, what they leave of a bound, and tilted moments.

Powers of L are read off at prompts so long (ln L up to 10^6) that powers of ln L no longer count.
"""

import math
from itertools import product

import numpy as np
import pytest
from derivations.brute_force import GAMMA, S, U, V, normal_grid, root
from scipy.special import gammaln, log_ndtr, logsumexp

from largeprompt.concentration import output_error
from largeprompt.feasible_bounds import PAPER, largest_c2
from largeprompt.rate_forms import class_exponent
from largeprompt.rates import local_exponent, one_over_L_constant, rate_exponent, tilt
from largeprompt.score_moments import score_moments
from largeprompt.three_atoms import log_mgf, three_atom_error
from largeprompt.tilted_moments import tilted_moment

ONE = np.eye(2)


def scaled(lam):
    """U scaled to the tilt `lam`."""
    return U * math.sqrt(lam / tilt(GAMMA, U, S))


def limit_of_L_times_the_error(U):
    """The right side of (2.9)."""
    M = root(S) @ U.T @ GAMMA @ U @ root(S)
    B = V @ GAMMA @ U @ root(S)
    inverse = np.linalg.inv(ONE - 2 * M)
    traces = np.trace(V @ GAMMA @ V.T) + np.trace(B @ inverse @ B.T)
    return np.linalg.det(ONE - 2 * M) ** -0.5 * traces


@pytest.mark.equation("2.9")
def test_L_times_the_error_tends_to_an_exponential_average():
    U = scaled(0.08)
    xi, mass = normal_grid(2, 0.25, 12)
    z = xi @ np.linalg.cholesky(S).T
    s_squared = np.sum((z @ U.T) @ GAMMA * (z @ U.T), -1)
    image = np.sum((z @ (V @ GAMMA @ U).T) ** 2, -1)
    truth = mass @ (np.exp(s_squared) * (np.trace(V @ GAMMA @ V.T) + image))
    limit = limit_of_L_times_the_error(U)
    assert limit == pytest.approx(truth, rel=1e-11)
    assert one_over_L_constant(GAMMA, U, V, S) == pytest.approx(truth, rel=1e-11)
    # the next term of (1.11) has a finite average at 6 lambda < 1: the remainder is of order 1/L
    L = np.array([10**5, 10**6])
    remainder = L * output_error(GAMMA, U, V, S, L) - limit
    assert abs(remainder[1] / limit) < 1e-5
    assert remainder[0] / remainder[1] == pytest.approx(10, rel=1e-3)


@pytest.mark.equation("2.9")
def test_L_times_the_error_is_unbounded_from_tilt_one_half_on():
    assert one_over_L_constant(GAMMA, scaled(0.499), V, S) == pytest.approx(
        limit_of_L_times_the_error(scaled(0.499)), rel=1e-9
    )
    L = np.array([10**6, 10**12])
    for lam in (0.5, 0.6):
        assert one_over_L_constant(GAMMA, scaled(lam), V, S) == math.inf
        # at 1/2 like the integral of xi^2 up to xi = sqrt(2 ln L): (ln L)^(3/2)
        first, last = L * output_error(GAMMA, scaled(lam), V, S, L)
        assert last > 2 * first


def r(c):
    squared = c**2
    rare = (1 - squared) ** 2 / (4 * squared)
    return np.where(squared <= 1 / 3, 1 - 2 * squared, np.where(c < 1, rare, 0))


def log_two_contributions(c, log_L):
    """ln of L E min(1, Y^2 / L^2), Y = e^{sg - s^2/2}, at s = c sqrt(2 ln L) < sqrt(2 ln L)."""
    s = c * np.sqrt(2 * log_L)
    threshold = (log_L + s**2 / 2) / s  # of g: beyond it one token has all weight
    alike = s**2 - log_L + log_ndtr(threshold - 2 * s)
    return np.logaddexp(alike, log_L + log_ndtr(-threshold))


def theta(lam):
    return (math.sqrt(1 + 4 / lam) - 1) / 2 if lam >= 0.5 else 1.0


C = np.linspace(0.0005, 2, 4000)
TILTS = [0.3, 0.5, 0.75, 1.0, 2.0, 10.0]


@pytest.mark.equation("2.10")
def test_participation_of_rare_queries_is_a_power_of_the_length():
    c, log_L = np.array([0.2, 0.5, 0.57, 0.6, 0.8, 0.95]), 1e6
    # the square root of ln L of a normal tail is left: 7 / 10^6
    assert -log_two_contributions(c, log_L) / log_L == pytest.approx(r(c), abs=2e-5)
    log_L = math.log(1e50)
    q = score_moments(c * math.sqrt(2 * log_L), 10**50).q
    assert np.abs(np.log(q) - log_two_contributions(c, log_L)).max() < math.log(4)


@pytest.mark.equation("2.10")
@pytest.mark.parametrize("lam", TILTS)
def test_rate_is_the_exponent_of_the_average_over_the_query(lam):
    log_L = 1e6
    inside = C < 1
    log_q = np.where(inside, log_two_contributions(np.where(inside, C, 0.5), log_L), 0)
    log_average = logsumexp(log_q - C**2 * log_L / lam)
    # grid and normal tails leave a few times ln(ln L) / ln L
    assert -log_average / log_L == pytest.approx(theta(lam), abs=5e-5)
    assert rate_exponent(lam) == pytest.approx(theta(lam), rel=1e-14)
    total = r(C) + C**2 / lam
    assert total.min() == pytest.approx(theta(lam), abs=1e-5)
    if lam > 0.5:
        assert C[total.argmin()] ** 2 == pytest.approx((1 + 4 / lam) ** -0.5, abs=1e-3)


@pytest.mark.equation("2.10")
@pytest.mark.parametrize(("lam", "k"), [(0.75, 1), (1.0, 2)])
def test_exact_errors_approach_their_rate_at_the_pace_stated(lam, k):
    one = np.eye(k)
    L = np.array([1e48, 1e50])
    slope = local_exponent(L, output_error(one, math.sqrt(lam) * one, one, one, L))[0]
    assert slope == pytest.approx(theta(lam) - k / (2 * math.log(1e49)), abs=2e-3)


@pytest.mark.equation("2.15")
@pytest.mark.parametrize("norm", [0.3, 0.7, 1.0, 1.5, 3.0])
def test_largest_c2_is_decided_by_the_smallest_sigma(norm):
    formula = min(1, theta(norm**2))
    sigma = np.geomspace(1, 30, 40)
    exponents = np.array([(r(C) + C**2 / (s * norm) ** 2).min() for s in sigma])
    assert (sigma**2 * exponents).min() == pytest.approx(formula, abs=1e-5)


@pytest.mark.equation("2.15")
def test_exact_errors_admit_c2_up_to_the_largest_one():
    norm, sigma = 1.0, np.array([1.0, 1.3])
    L, one = np.array([1e48, 1e50]), np.eye(1)
    error = np.array([output_error(s**2 * one, norm * one, one, one, L) for s in sigma])
    # the power of L is that of the error, whose square root of ln L the ln L of the bound covers
    found = largest_c2(error, sigma, L, PAPER["output"]) - 0.5 / math.log(1e49)
    assert found == pytest.approx(min(1, theta(norm**2)), abs=2e-3)


def atom(sigma, log_L):
    """A of (2.16)."""
    return sigma * math.sqrt(2 * log_L)


@pytest.mark.equation("2.16")
@pytest.mark.parametrize("L", [2.0, 3.0, 10.0, 1e6, 1e40])
def test_three_atoms_are_sub_gaussian_with_nothing_to_spare(L):
    sigma = 1.7
    a = np.linspace(0.05, 3 * math.sqrt(2 * math.log(L)), 4001) / sigma

    def log_mean(A):
        """ln E e^{aX} under (1 - 1/L) delta_0 + (delta_A + delta_-A) / (2L)."""
        return np.log((1 - 1 / L) + (np.exp(a * A) + np.exp(-a * A)) / (2 * L))

    A = atom(sigma, math.log(L))
    assert log_mean(A) == pytest.approx(log_mgf(sigma * a, L), abs=1e-12)
    assert (log_mean(A) <= sigma**2 * a**2 / 2).all()
    if L >= 1e6:
        assert (log_mean(1.05 * A) > sigma**2 * a**2 / 2).any()
    assert (1 - 1 / L) ** L >= 1 / 4


@pytest.mark.equation("2.16")
def test_coefficients_of_the_moment_generating_function_are_gaussian_ones_or_less():
    k = np.arange(1, 200)
    B = np.sqrt(2 * np.geomspace(math.log(2), 300, 2000))[:, None]
    middle = k * (np.log(2 * k) - 1)
    odd_factorial = gammaln(2 * k + 1) - k * math.log(2) - gammaln(k + 1)
    left = -(B**2) / 2 + 2 * k * np.log(B)
    assert (left <= middle + 1e-12).all()
    assert left.max(0)[:150] == pytest.approx(middle[:150], abs=1e-3)
    assert (middle < odd_factorial).all()
    assert (odd_factorial - middle < 0.5 * math.log(2)).all()  # so half of the right side is less


def three_atom_error_by_prompts(sigma, norm, L):
    """E |T[mu_hat_L](z) - T[mu_L](z)|^2 for V = 1 over all 3^L prompts and a grid of queries."""
    A = atom(sigma, math.log(L))
    xi, mass = normal_grid(1, 0.1, 9)
    a = norm * xi[:, 0]
    atoms = np.array([0, A, -A])
    masses = np.array([1 - 1 / L, 0.5 / L, 0.5 / L])
    tilted = np.exp(np.outer(a, atoms)) * masses
    limit = tilted @ atoms / tilted.sum(-1)
    error = 0.0
    for prompt in product(range(3), repeat=L):
        tokens = atoms[list(prompt)]
        weights = np.exp(np.outer(a, tokens))
        output = weights @ tokens / weights.sum(-1)
        error += np.prod(masses[list(prompt)]) * (mass @ (output - limit) ** 2)
    return error


@pytest.mark.equation("2.16")
@pytest.mark.equation("2.17")
@pytest.mark.parametrize("L", [2, 3, 5])
def test_error_of_three_atoms_is_that_of_all_prompts(L):
    sigma, norm = 1.4, 0.6
    error = sigma**2 * three_atom_error((sigma * norm) ** 2, L)
    assert error == pytest.approx(three_atom_error_by_prompts(sigma, norm, L), rel=1e-10)


def log_probability(log_L, sigma, norm, share=1.0):
    """ln P(|Uz| > share * A / (2 sigma^2) + (ln 2) / A)."""
    A = atom(sigma, log_L)
    return math.log(2) + log_ndtr(-(share * A / (2 * sigma**2) + math.log(2) / A) / norm)


@pytest.mark.equation("2.17")
@pytest.mark.parametrize("norm", [0.4, 0.7, 1.2])
def test_prompts_without_an_atom_bound_the_error_from_below(norm):
    """c = 1/16: with probability 1/4 or more the output is 0 where the limit exceeds A/2.

    It does from |Uz| A = ln(L - 1 + sqrt((L - 1)^2 + 3)) on, which is at most ln L + ln 2.
    """
    sigma = 1.4
    lam = (sigma * norm) ** 2
    for L in np.geomspace(2, 1e100, 25):
        log_L = math.log(L)
        log_rest = math.log(atom(sigma, log_L) ** 2 / 16)
        log_error = math.log(sigma**2 * three_atom_error(lam, L))
        assert log_error >= log_rest + log_probability(log_L, sigma, norm)
    assert log_error < log_rest + log_probability(log_L, sigma, norm, share=0.5)


@pytest.mark.equation("2.17")
@pytest.mark.parametrize("norm", [0.4, 0.7, 1.2])
def test_rate_of_three_atoms_bounds_c2_for_the_whole_class(norm):
    sigma = 1.4
    lam = (sigma * norm) ** 2
    # a normal tail leaves the square root of ln L, the (ln 2) / A a factor
    exponent = -log_probability(1e6, sigma, norm) / 1e6
    assert exponent == pytest.approx(1 / (4 * lam), abs=2e-5)
    assert class_exponent(lam) == pytest.approx(min(1, 1 / (4 * lam)), rel=1e-14)

    log_L = np.log([1e60, 1e120])
    error = np.array([sigma**2 * three_atom_error(lam, L) for L in (1e60, 1e120)])
    largest = 1 / (4 * norm**2)
    for c2, needed_c1_grows in ((0.9 * largest, False), (1.1 * largest, True)):
        log_c1 = np.log(error / (sigma**6 * log_L)) + c2 / sigma**2 * log_L
        assert (log_c1[1] > log_c1[0]) == needed_c1_grows


TILTING = scaled(0.25)
ORDERS = [(0, 0), (2, 0), (0, 2), (2, 2), (4, 2), (4, 4)]


def norms(x, power):
    return np.sum(x**2, -1) ** (power / 2)


def token_and_query_moment(p, q, divided):
    """E e^{<z', Uz>} |z'|^p |z|^q, z' ~ N(0, Gamma), the weights divided by their mean or not.

    The weights leave the normal law of (z', z) a smallest precision of 1/2: reach 12 is 8.5.
    """
    xi, mass = normal_grid(2, 0.6, 12)
    z, token = xi @ np.linalg.cholesky(S).T, xi @ np.linalg.cholesky(GAMMA).T
    weights = np.exp(z @ TILTING.T @ token.T) * mass
    moment = weights @ norms(token, p)
    if divided:
        moment /= weights.sum(-1)
    return mass @ (norms(z, q) * moment)


def moment_of_normals(p, q, S):
    """(2.18), exact by Gauss and Hermite's rule: a polynomial in (xi, zeta)."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(6)
    points = np.array(list(product(nodes, repeat=4)))
    mass = np.prod(list(product(weights / weights.sum(), repeat=4)), -1)
    z = points[:, :2] @ root(S)
    zeta = points[:, 2:]
    return mass @ (norms(z @ (GAMMA @ TILTING).T + zeta @ root(GAMMA), p) * norms(z, q))


@pytest.mark.equation("2.18")
@pytest.mark.parametrize(("p", "q"), ORDERS)
def test_tilted_tokens_have_the_moments_of_shifted_normal_ones(p, q):
    truth = token_and_query_moment(p, q, divided=True)
    assert moment_of_normals(p, q, S) == pytest.approx(truth, rel=1e-10)
    assert tilted_moment(GAMMA, TILTING, S, p, q) == pytest.approx(truth, rel=1e-10)


@pytest.mark.equation("2.19")
@pytest.mark.parametrize(("p", "q"), ORDERS)
def test_weights_not_divided_by_their_mean_widen_the_query(p, q):
    truth = token_and_query_moment(p, q, divided=False)
    M = root(S) @ TILTING.T @ GAMMA @ TILTING @ root(S)
    wider = root(S) @ np.linalg.inv(ONE - M) @ root(S)
    formula = np.linalg.det(ONE - M) ** -0.5 * moment_of_normals(p, q, wider)
    assert formula == pytest.approx(truth, rel=1e-10)
    assert tilted_moment(GAMMA, TILTING, S, p, q, "unnormalised") == pytest.approx(truth, rel=1e-10)


@pytest.mark.equation("2.19")
def test_weights_not_divided_by_their_mean_have_no_moment_from_tilt_one_on():
    def moment_of_queries_up_to(reach, lam):
        """E e^{s^2 / 2} over |z| <= reach for s^2 = lam z^2, z ~ N(0, 1)."""
        z = np.linspace(-reach, reach, 20_001)
        return np.trapezoid(np.exp((lam - 1) * z**2 / 2), z) / math.sqrt(2 * math.pi)

    def moment(lam):
        return tilted_moment([[1.0]], [[math.sqrt(lam)]], [[1.0]], 0, 0, "unnormalised")

    assert moment_of_queries_up_to(40, 0.9) == pytest.approx(moment(0.9), rel=1e-6)
    assert moment_of_queries_up_to(40, 1) > 1.99 * moment_of_queries_up_to(20, 1)
    assert moment(1) == math.inf
    for p, q in ORDERS:
        assert tilted_moment(GAMMA, scaled(1.001), S, p, q, "unnormalised") == math.inf
