"""Deterministic rules for averages over Gaussian vectors: directions times lengths.

Directions come in fully symmetric orbits (signs and permutations of one generator) whose weights
are positive and make the rule exact up to an odd degree (docs/derivations.md, 3.4).
"""

import functools
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog
from scipy.special import chdtri, roots_genlaguerre

_EXTRA_GENERATORS = 6  # more candidates than conditions, so that positive weights exist
_EXACT = 1e-11
_LENGTH_TAIL = 1e-13  # probability of lengths beyond the last node


@dataclass(frozen=True, eq=False)
class Rule:
    """Nodes (n, d) or (n,) and weights (n,) that sum to one."""

    nodes: np.ndarray
    weights: np.ndarray


@functools.cache
def sphere_rule(d: int, degree: int) -> Rule:
    """Unit vectors (n, d), uniform average exact for polynomials of odd `degree`."""
    order = (degree - 1) // 2
    generators = _generators(d, order)
    monomials = list(_partitions(order, d))
    conditions = [[_orbit_mean(g, m, d) for g in generators] for m in monomials]
    exact = [_sphere_mean(m, d) for m in monomials]
    sizes = [_orbit_size(g, d) for g in generators]
    solution = linprog(sizes, A_eq=conditions, b_eq=exact, method="highs-ds")
    if solution.status != 0:
        raise ArithmeticError(f"no positive rule of degree {degree} in dimension {d}")
    used = [i for i, weight in enumerate(solution.x) if weight > 0]
    # the linear programme stops short of round-off, its system of active orbits can be solved
    active = np.array(conditions)[:, used]
    totals = np.linalg.lstsq(active, np.array(exact))[0]
    if np.abs(active @ totals / exact - 1).max() > _EXACT:
        raise ArithmeticError(f"no exact rule of degree {degree} in dimension {d}")
    orbits = [_orbit(generators[i], d) for i in used]
    weights = [np.full(sizes[i], total / sizes[i]) for i, total in zip(used, totals, strict=True)]
    return Rule(np.concatenate(orbits), np.concatenate(weights))


def half_sphere_rule(d: int, degree: int) -> Rule:
    """One node of each antipodal pair of `sphere_rule`: enough for even integrands."""
    rule = sphere_rule(d, degree)
    leading = rule.nodes[np.arange(len(rule.nodes)), (rule.nodes != 0).argmax(axis=1)]
    keep = leading > 0
    return Rule(rule.nodes[keep], 2 * rule.weights[keep])


def gaussian_rule(d: int, degree: int) -> Rule:
    """Average over N(0, I_d), exact for polynomials of odd `degree`."""
    sphere = sphere_rule(d, degree)
    count = (degree + 3) // 4  # Gauss in |w|^2 / 2, exact up to power 2 count - 1
    half_squares, weights = roots_genlaguerre(count, d / 2 - 1)
    lengths = np.sqrt(2 * half_squares)
    nodes = (lengths[:, None, None] * sphere.nodes).reshape(-1, d)
    return Rule(nodes, np.outer(weights / weights.sum(), sphere.weights).ravel())


def length_rule(d: int, count: int) -> Rule:
    """Average over the length of N(0, I_d): `count` nodes of Gauss-Legendre, without the tail."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    nodes = np.sqrt(chdtri(d, _LENGTH_TAIL)) * (nodes + 1) / 2
    weights = weights * nodes ** (d - 1) * np.exp(-(nodes**2) / 2)  # the density of chi_d
    return Rule(nodes, weights / weights.sum())


def _partitions(total: int, parts: int, largest: int | None = None) -> Iterator[tuple[int, ...]]:
    """Decreasing positive integers, at most `parts` of them, that sum to `total`."""
    if total == 0:
        yield ()
    elif parts > 0:
        for first in range(min(total, largest or total), 0, -1):
            for rest in _partitions(total - first, parts - 1, first):
                yield (first, *rest)


def _generators(d: int, order: int) -> list[tuple[Fraction, ...]]:
    """Squared coordinates, decreasing, of the candidate orbits."""
    totals = range(1, order + _EXTRA_GENERATORS)
    squares = {
        tuple(Fraction(k, total) for k in partition)
        for total in totals
        for partition in _partitions(total, d)
    }
    return sorted(squares)


def _orbit_size(generator: tuple[Fraction, ...], d: int) -> int:
    repeats = [generator.count(value) for value in set(generator)]
    orders = math.factorial(d) // math.factorial(d - len(generator))
    return 2 ** len(generator) * orders // math.prod(map(math.factorial, repeats))


def _orbit_mean(generator: tuple[Fraction, ...], monomial: tuple[int, ...], d: int) -> float:
    """Mean over the orbit of the product of x_i^(2 k_i)."""
    padded = tuple(map(float, generator)) + (0.0,) * (d - len(generator))
    assignments = itertools.permutations(padded, len(monomial))
    products = [
        math.prod(value**k for value, k in zip(choice, monomial, strict=True))
        for choice in assignments
    ]
    return math.fsum(products) / len(products)


def _sphere_mean(monomial: tuple[int, ...], d: int) -> float:
    odd_products = math.prod(math.prod(range(1, 2 * k, 2)) for k in monomial)
    return odd_products / math.prod(d + 2 * i for i in range(sum(monomial)))


def _orbit(generator: tuple[Fraction, ...], d: int) -> np.ndarray:
    """All points that arise by signs and permutations, (size, d)."""
    padded = tuple(map(float, generator)) + (0.0,) * (d - len(generator))
    places = np.array(sorted(_distinct_permutations(padded)))
    signs = np.array(list(itertools.product((1.0, -1.0), repeat=len(generator))))
    points = np.repeat(np.sqrt(places), len(signs), axis=0)
    rows, columns = np.nonzero(points)
    points[rows, columns] *= np.tile(signs, (len(places), 1)).ravel()
    return points


def _distinct_permutations(values: tuple[float, ...]) -> Iterator[tuple[float, ...]]:
    if not values:
        yield ()
    for value in set(values):
        place = values.index(value)
        for rest in _distinct_permutations(values[:place] + values[place + 1 :]):
            yield (value, *rest)
