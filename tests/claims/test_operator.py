"""Claims on the operator: good tables confirm, corrupted ones do not, controls are minded."""

import numpy as np
import pandas as pd
import pytest

from largeprompt.bounds import envelope_shape
from largeprompt.claims import (
    assumption_3_3,
    lemma_2_1_gaussian_image,
    lemma_2_1_identity,
    lemma_2_1_other_laws,
    prop_3_1_constants,
    prop_3_1_exponent,
    prop_3_1_log_factor,
    prop_3_1_sub_gaussian,
    prop_3_1_three_atoms,
    prop_3_4_gradient_u,
    prop_3_4_gradient_v,
)
from largeprompt.claims.decision import Verdict
from largeprompt.concentration import gradient_u_error, gradient_v_error, output_error
from largeprompt.feasible_bounds import PAPER, bound_shape


def changed(table: pd.DataFrame, where: str, **values: object) -> pd.DataFrame:
    """A copy with other values in the rows that the query `where` selects."""
    table, chosen = table.copy(), table.query(where).index
    assert len(chosen)
    for column, value in values.items():
        table.loc[chosen, column] = value
    return table


def identity() -> pd.DataFrame:
    rows = []
    for route, d, rank, error in (
        ("quadrature", 2, 1, 0.0),
        ("sampling", 8, 8, 0.02),
        ("sampling", 8, 4, 0.02),
    ):
        rows.append((route, d, rank, "affine", 1e-14 + error, error, 1.0, 2.0 * (error > 0)))
        rows.append((route, d, rank, "uncentred", 0.5, error, 1.0, 50.0 * (error > 0)))
    return pd.DataFrame(rows, columns=lemma_2_1_identity.COLUMNS)


IDENTITY = {"relative": 1e-10, "z": 5.5, "precision": 0.1}


@pytest.mark.parametrize(
    ("where", "values", "verdict"),
    [
        ("index >= 0", {}, Verdict.REPRODUCED),
        ("route == 'quadrature' and formula == 'affine'", {"deviation": 1e-3}, "contradicted"),
        ("rank == 4 and formula == 'affine'", {"z_score": 9.0}, "contradicted"),
        ("rank == 4 and formula == 'affine'", {"error": 0.5}, "inconclusive"),
        ("formula == 'uncentred'", {"deviation": 0.0}, "inconclusive"),
        ("formula == 'uncentred'", {"z_score": 1.0}, "inconclusive"),
    ],
)
def test_identity(where, values, verdict):
    found = lemma_2_1_identity.decide([changed(identity(), where, **values)], IDENTITY).verdict
    assert found.startswith(verdict)


def image() -> pd.DataFrame:
    rows = [(law, "mean", 0.0, 0.0, 1.0) for law in ("gaussian", "cube")]
    rows += [("gaussian", "normality", 2.0, 2.0, 0.5), ("cube", "normality", 99.0, 2.0, 30.0)]
    return pd.DataFrame(rows, columns=lemma_2_1_gaussian_image.COLUMNS)


@pytest.mark.parametrize(
    ("where", "z_score", "verdict"),
    [
        ("law == 'gaussian' and quantity == 'mean'", 1.0, "reproduced"),
        ("law == 'gaussian' and quantity == 'mean'", -9.0, "contradicted"),
        ("law == 'gaussian' and quantity == 'normality'", 9.0, "contradicted"),
        ("law == 'cube' and quantity == 'normality'", 1.0, "inconclusive"),
    ],
)
def test_gaussian_image(where, z_score, verdict):
    table = changed(image(), where, z_score=z_score)
    decision = lemma_2_1_gaussian_image.decide([table], {"level": 0.001})
    assert decision.verdict.startswith(verdict)


def limits() -> pd.DataFrame:
    rows = []
    for law, gap in (("gaussian", 0.0), ("cube", 0.03)):
        rows += [(law, "own", "floor", 4096, 1e-4, 1e-4), (law, "own", "gap", 4096, 0.0, 0.0)]
        rows += [(law, "affine", "floor", 4096, gap, 1e-3), (law, "affine", "gap", 4096, gap, 1e-3)]
    return pd.DataFrame(rows, columns=lemma_2_1_other_laws.COLUMNS)


@pytest.mark.parametrize(
    ("where", "values", "verdict"),
    [
        ("index >= 0", {}, "reproduced"),
        (
            "law == 'cube' and limit == 'own' and quantity == 'floor'",
            {"value": 0.1},
            "contradicted",
        ),
        (
            "law == 'cube' and limit == 'affine' and quantity == 'gap'",
            {"value": 0.1},
            "contradicted",
        ),
        ("law == 'cube' and limit == 'affine'", {"value": 0.001}, "contradicted"),
        ("law == 'cube' and limit == 'own'", {"stderr": 0.1}, "inconclusive"),
        ("law == 'gaussian' and limit == 'affine'", {"value": 0.1}, "inconclusive"),
    ],
)
def test_other_laws(where, values, verdict):
    table = changed(limits(), where, **values)
    decision = lemma_2_1_other_laws.decide([table], {"z": 4, "precision": 0.01})
    assert decision.verdict.startswith(verdict)


def constants() -> pd.DataFrame:
    """c1 settled up to the largest c2 and growing beyond; sigma^4 fits, sigma^3 does not."""
    rows = []
    for (a, b), growth in {(6, 1): -2.0, (4, 0): 0.1, (3, 0): 1.0}.items():
        for part, last in ((0.9, 5.0), (1.5, 500.0)):
            for longest, c1 in ((1e8, 5.0), (1e12, last)):
                rows.append((1, 1.0, a, b, part, longest, c1, growth, 0.62, 0.5, 0.61))
    return pd.DataFrame(rows, columns=prop_3_1_constants.COLUMNS)


CONSTANTS = {"c2": 0.03, "below": 0.9, "above": 1.5, "relative": 1e-6}


@pytest.mark.parametrize(
    ("where", "values", "verdict"),
    [
        ("index >= 0", {}, "reproduced"),
        ("index >= 0", {"measured_c2": 0.5}, "inconclusive"),  # the naive value fits
        ("index >= 0", {"measured_c2": 0.7}, "not reproduced"),
        ("part == 0.9 and longest == 1e12", {"c1": 6.0}, "not reproduced"),
        ("part == 0.9 and sigma_power == 6", {"sigma_growth": 0.5}, "not reproduced"),
        ("part == 1.5", {"c1": 5.0}, "inconclusive"),
    ],
)
def test_constants(where, values, verdict):
    decision = prop_3_1_constants.decide([changed(constants(), where, **values)], CONSTANTS)
    assert decision.verdict.startswith(verdict)


@pytest.mark.parametrize(
    ("where", "values", "verdict"),
    [
        ("index >= 0", {}, "reproduced"),
        ("sigma_power == 4 and longest == 1e12", {"c1": 6.0}, "not reproduced"),
        ("sigma_power == 4", {"sigma_growth": 0.5}, "not reproduced"),
        ("sigma_power == 3", {"sigma_growth": 0.0}, "inconclusive"),
    ],
)
def test_log_factor(where, values, verdict):
    tolerance = {"part": 0.9, "relative": 1e-6, "sigma_growth": 0.25}
    decision = prop_3_1_log_factor.decide([changed(constants(), where, **values)], tolerance)
    assert decision.verdict.startswith(verdict)


def exponents() -> pd.DataFrame:
    rows = [("fitted", 1.0, 1e4, 0.64, 0.618), ("three-atoms", 1.0, 1e40, 0.245, 0.25)]
    rows += [("gaussian", 1.0, L, e, 0.618) for L, e in ((10, 0.8), (1e40, 0.613))]
    return pd.DataFrame(rows, columns=prop_3_1_exponent.COLUMNS)


@pytest.mark.parametrize(
    ("where", "exponent", "verdict"),
    [
        ("curve == 'gaussian' and L > 10", 0.613, "reproduced"),
        ("curve == 'gaussian' and L > 10", 0.7, "not reproduced"),
        ("curve == 'gaussian' and L > 10", 0.5, "inconclusive"),  # the naive value fits
    ],
)
def test_exponent(where, exponent, verdict):
    table = changed(exponents(), where, exponent=exponent)
    decision = prop_3_1_exponent.decide([table], {"exponent": 0.02})
    assert decision.verdict.startswith(verdict)


@pytest.mark.parametrize(
    ("where", "exponent", "verdict"),
    [
        ("curve == 'three-atoms'", 0.245, "reproduced"),
        ("curve == 'three-atoms'", 0.4, "not reproduced"),
        ("curve == 'gaussian' and L > 10", 0.25, "inconclusive"),
    ],
)
def test_three_atoms(where, exponent, verdict):
    table = changed(exponents(), where, exponent=exponent)
    decision = prop_3_1_three_atoms.decide([table], {"exponent": 0.02})
    assert decision.verdict.startswith(verdict)


def spread() -> pd.DataFrame:
    rows = []
    for law, heavy, quantity, error in (
        ("cube", False, "error", 0.1),
        ("cube", False, "spread", 0.1),
        ("student", True, "spread", 30.0),
    ):
        for L, short in ((1, False), (4, True), (64, False)):
            rows.append((law, heavy, 1.0, quantity, L, error, 0.01, short, float(L > 1)))
    return pd.DataFrame(rows, columns=prop_3_1_sub_gaussian.COLUMNS)


@pytest.mark.parametrize(
    ("where", "error", "verdict"),
    [
        ("law == 'cube' and L == 64", 0.1, "reproduced"),
        ("law == 'cube' and L == 64", 2.0, "contradicted"),
        ("law == 'cube' and L == 4", 2.0, "reproduced"),  # it set c1, it does not test
        ("law == 'student'", 0.1, "inconclusive"),
    ],
)
def test_sub_gaussian(where, error, verdict):
    table = changed(spread(), where, error=error)
    decision = prop_3_1_sub_gaussian.decide([table], {"z": 4})
    assert decision.verdict.startswith(verdict)


def moments() -> pd.DataFrame:
    rows = []
    for sigma, tilt in ((1.0, 0.25), (3.0, 2.25)):
        value = 4 * np.log(sigma)
        rows.append(("normalised", sigma, tilt, 4, 0, np.exp(value), value, value, 0.0))
        infinite = tilt >= 1
        log = np.inf if infinite else 0.5
        rows.append(
            ("unnormalised", sigma, tilt, 4, 0, np.exp(log), log, 0.5, 9.0 if infinite else 0.0)
        )
    return pd.DataFrame(rows, columns=assumption_3_3.COLUMNS)


@pytest.mark.parametrize(
    ("where", "values", "verdict"),
    [
        ("index >= 0", {}, "reproduced"),
        ("reading == 'normalised' and sigma == 3", {"moment": np.inf}, "contradicted"),
        ("reading == 'normalised' and sigma == 3", {"log_growth": 0.1}, "contradicted"),
        ("reading == 'normalised' and sigma == 3", {"log_radial": 0.0}, "contradicted"),
        (
            "reading == 'normalised' and sigma == 3",
            {"log_moment": 20.0, "log_radial": 20.0},
            "contradicted",
        ),
        ("reading == 'unnormalised' and sigma == 3", {"log_growth": 0.0}, "inconclusive"),
        (
            "reading == 'unnormalised' and sigma == 3",
            {"moment": 1.0, "log_moment": 0.5, "log_growth": 0.0},
            "inconclusive",
        ),
    ],
)
def test_assumption_3_3(where, values, verdict):
    table = changed(moments(), where, **values)
    decision = assumption_3_3.decide([table], {"relative": 1e-9})
    assert decision.verdict.startswith(verdict)


def gradients() -> pd.DataFrame:
    table = pd.DataFrame(
        [(q, L) for q in ("gradient_v", "gradient_u") for L in (1, 4, 64)],
        columns=["quantity", "L"],
    )
    table["sigma"], table["error"], table["stderr"] = 2.0, 1.0, 1e-9
    table["calibrates"] = table["L"] == 4
    table["bound"] = np.where(table["L"] > 1, 2.0, 0.0)
    table["sigma_free_bound"] = np.where(table["L"] > 1, 0.1, 0.0)
    return table[prop_3_4_gradient_u.COLUMNS]


@pytest.mark.parametrize("module", [prop_3_4_gradient_u, prop_3_4_gradient_v])
@pytest.mark.parametrize(
    ("where", "values", "verdict"),
    [
        ("L == 64", {}, Verdict.REPAIRED),
        ("L == 1", {"error": 0.0}, Verdict.REPRODUCED),
        ("L == 64", {"error": 3.0}, Verdict.CONTRADICTED),
        ("L == 64", {"sigma_free_bound": 9.0}, Verdict.INCONCLUSIVE),
    ],
)
def test_gradients(module, where, values, verdict):
    own = module.__name__.removeprefix("largeprompt.claims.prop_3_4_")
    table = changed(gradients(), f"{where} and quantity == '{own}'", **values)
    assert module.decide([table], {"z": 4}).verdict is verdict


@pytest.mark.parametrize("error", [output_error, gradient_v_error, gradient_u_error])
def test_one_token_breaks_the_literal_bounds(error):
    """d = 1, V = 1, K = 0, mu = nu = N(0, 1): the error is 1, every bound is 0."""
    one = np.eye(1)
    assert error(one, 0 * one, one, one, 1) == pytest.approx(1, rel=1e-12)
    for c2 in (0.01, 1.0, 100.0):
        assert envelope_shape(1.0, np.array([1.0]), c2) == 0
        assert bound_shape(1.0, np.array([1.0]), c2, PAPER["gradient_u"]) == 0
