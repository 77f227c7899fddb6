"""Related papers: each rule says yes to good tables, no to corrupted ones, minds its control."""

import numpy as np
import pandas as pd
import pytest

from largeprompt.claims import (
    neighbour_bohbot,
    neighbour_gabet,
    neighbour_xu_fang,
    neighbour_zhang,
    operator_neighbour_rule,
)
from largeprompt.claims.decision import Verdict
from largeprompt.rates import rate_exponent

OPERATORS = {"gabet": neighbour_gabet, "xu-fang": neighbour_xu_fang}
OPERATOR = {"z": 4, "precision": 0.01}


def operators(case=(0.001, 0.001), control=(0.1, 0.01)) -> pd.DataFrame:
    rows = []
    for name in OPERATORS:
        rows.append((name, "case", 1, "distance", 64, 0.3, 0.01))
        rows.append((name, "case", 1, "floor", 64, *case))
        rows.append((name, "control", 0, "floor", 64, *control))
    return pd.DataFrame(rows, columns=operator_neighbour_rule.COLUMNS)


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, Verdict.REPRODUCED),
        ({"case": (0.005, 0.001)}, Verdict.CONTRADICTED),
        ({"case": (0.001, 0.02)}, Verdict.INCONCLUSIVE),
        ({"control": (0.04, 0.01)}, Verdict.INCONCLUSIVE),
    ],
)
def test_operators(name, changes, verdict):
    assert OPERATORS[name].decide([operators(**changes)], OPERATOR).verdict is verdict


def test_operators_without_a_control_are_inconclusive():
    table = operators().query("applies == 1")
    assert neighbour_gabet.decide([table], OPERATOR).verdict is Verdict.INCONCLUSIVE


def flows(matrix=1e-6, scale=1e-6, infinite=0.01) -> pd.DataFrame:
    values = {"matrix": matrix, "scale": scale, "infinite": infinite}
    rows = [("ar1", 0.0, L, 0.4, q, value) for L in (1, 10) for q, value in values.items()]
    return pd.DataFrame(rows, columns=neighbour_zhang.COLUMNS)


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, Verdict.REPRODUCED),
        ({"matrix": 1e-3}, Verdict.NOT_REPRODUCED),
        ({"scale": 1e-3}, Verdict.NOT_REPRODUCED),
        ({"infinite": 1e-5}, Verdict.INCONCLUSIVE),
    ],
)
def test_closed_form(changes, verdict):
    assert neighbour_zhang.decide([flows(**changes)], {"distance": 1e-4}).verdict is verdict


def exponents(asymptotic=(0.5, 0.3), reachable=(0.5, 0.26)) -> pd.DataFrame:
    form = (0.495, 0.25)
    rows = list(zip((1.0, 10.0), (0.01, 1.0), asymptotic, reachable, form, strict=True))
    return pd.DataFrame(rows, columns=neighbour_bohbot.COLUMNS)


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, Verdict.REPRODUCED),
        ({"reachable": (0.5, 0.05)}, Verdict.REPAIRED),
        ({"asymptotic": (0.5, 0.2)}, Verdict.CONTRADICTED),
        ({"asymptotic": (0.5, 0.5)}, Verdict.INCONCLUSIVE),
    ],
)
def test_exponents(changes, verdict):
    assert neighbour_bohbot.decide([exponents(**changes)], {"slack": 0.005}).verdict is verdict


def test_form_at_the_tilt_is_below_the_exact_exponent_and_reaches_it():
    """1/theta = 1 + (1 - theta^2) tilt, so that 1/(1 + tilt) <= theta, sharp for large tilts."""
    tilts = np.geomspace(0.5, 1e6, 200)
    theta = rate_exponent(tilts)
    assert np.allclose(1 / theta, 1 + (1 - theta**2) * tilts)
    assert theta[-1] * (1 + tilts[-1]) == pytest.approx(1, abs=1e-5)
