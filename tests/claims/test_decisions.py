"""Every decision rule: it says yes to good tables, no to corrupted ones, and minds its control."""

import numpy as np
import pandas as pd
import pytest

from largeprompt.claims import lemma_2_1, prop_3_1, section_6
from largeprompt.claims.decision import Control, Decision, Verdict

FAILS = Control("far off", failed=True)


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, Verdict.REPRODUCED),
        ({"literal_holds": False}, Verdict.REPAIRED),
        ({"holds": False, "refuted": True}, Verdict.CONTRADICTED),
        ({"holds": False}, Verdict.NOT_REPRODUCED),
        ({"holds": None}, Verdict.INCONCLUSIVE),
        ({"control": Control("passes", failed=False)}, Verdict.INCONCLUSIVE),
        ({"holds": False, "control": Control("passes", failed=False)}, Verdict.INCONCLUSIVE),
    ],
)
def test_verdict_of_a_decision(changes, verdict):
    chosen = {"measured": "1", "allowed": "2", "control": FAILS, "holds": True} | changes
    assert Decision(**chosen).verdict is verdict


def operator_limit() -> pd.DataFrame:
    rows = [
        ("gaussian", "affine", "floor", 4096, 0.0005, 0.001),
        ("gaussian", "affine", "gap", 4096, 0.0, 0.0),
        ("rademacher", "affine", "floor", 4096, 0.12, 0.004),
        ("rademacher", "affine", "gap", 4096, 0.121, 0.004),
    ]
    return pd.DataFrame(rows, columns=lemma_2_1.COLUMNS)


LEMMA = {"z": 4, "precision": 0.01}


def test_lemma_2_1_holds_when_gaussians_reach_the_affine_formula():
    assert lemma_2_1.decide([operator_limit()], LEMMA).verdict is Verdict.REPRODUCED


@pytest.mark.parametrize(
    ("law", "quantity", "column", "value", "verdict"),
    [
        ("gaussian", "floor", "value", 0.02, Verdict.CONTRADICTED),
        ("gaussian", "floor", "stderr", 0.05, Verdict.INCONCLUSIVE),
        ("rademacher", "floor", "value", 0.001, Verdict.INCONCLUSIVE),
        ("rademacher", "gap", "value", 0.3, Verdict.INCONCLUSIVE),
    ],
)
def test_lemma_2_1_notices_a_corrupted_table(law, quantity, column, value, verdict):
    table = operator_limit()
    table.loc[(table["law"] == law) & (table["quantity"] == quantity), column] = value
    assert lemma_2_1.decide([table], LEMMA).verdict is verdict


def test_lemma_2_1_is_inconclusive_without_a_control():
    table = operator_limit().query("law == 'gaussian'")
    assert lemma_2_1.decide([table], LEMMA).verdict is Verdict.INCONCLUSIVE


def output_error() -> pd.DataFrame:
    table = pd.DataFrame(
        [(s, L) for s in (1.0, 3.0) for L in (1, 4, 16, 64, 256)], columns=["sigma", "L"]
    )
    table["law"], table["source"] = "gaussian", "exact"
    table["error"] = table["sigma"] ** 2 / table["L"] ** (1 / table["sigma"] ** 2)
    table["stderr"] = 0.01 * table["error"]
    table["calibrates"] = table["L"].isin([4, 16])
    table["bound"] = np.where(table["L"] > 1, 2 * table["error"], 0.0)
    table["sigma_free_bound"] = np.where(table["L"] > 1, 100 / table["L"] ** 1.0, 0.0)
    return table[prop_3_1.COLUMNS]


def test_prop_3_1_holds_after_repair_because_of_one_token():
    assert prop_3_1.decide([output_error()], {"z": 4}).verdict is Verdict.REPAIRED


def test_prop_3_1_would_hold_as_printed_if_one_token_had_no_error():
    table = output_error()
    table.loc[table["L"] == 1, "error"] = 0.0
    assert prop_3_1.decide([table], {"z": 4}).verdict is Verdict.REPRODUCED


def test_prop_3_1_notices_an_error_above_the_bound():
    table = output_error()
    table.loc[table["L"] == 256, "error"] *= 3
    assert prop_3_1.decide([table], {"z": 4}).verdict is Verdict.CONTRADICTED


def test_prop_3_1_is_inconclusive_if_the_exponent_needs_no_sigma():
    table = output_error()
    table["sigma_free_bound"] = 1e6
    assert prop_3_1.decide([table], {"z": 4}).verdict is Verdict.INCONCLUSIVE


def losses() -> pd.DataFrame:
    rows = []
    for L, softmax, linear in [(10, 0.65, 0.47), (1000, 0.115, 0.108)]:
        for attention, loss in (("softmax", softmax), ("linear", linear)):
            rows.append((attention, L, "loss", loss, 0.02))
        rows.append(("softmax", L, "minus_linear", softmax - linear, 0.002))
    table = pd.DataFrame(rows, columns=["attention", "L", "quantity", "value", "stderr"])
    fixed = {"variant": "as-stated", "covariance": "ar1", "method": "sgd"}
    return table.assign(**fixed, start="random", seed="327")[section_6.COLUMNS]


SECTION = {"z": 4, "ratio": 0.5}


def test_section_6_holds_when_the_distance_shrinks():
    assert section_6.decide([losses()], SECTION).verdict is Verdict.REPRODUCED


def test_section_6_notices_a_distance_that_stays():
    table = losses()
    table.loc[(table["quantity"] == "minus_linear") & (table["L"] == 1000), "value"] = 0.15
    assert section_6.decide([table], SECTION).verdict is Verdict.NOT_REPRODUCED


def test_section_6_is_inconclusive_when_the_first_distance_is_noise():
    table = losses()
    table.loc[table["quantity"] == "minus_linear", "stderr"] = 0.1
    assert section_6.decide([table], SECTION).verdict is Verdict.INCONCLUSIVE


def test_section_6_minds_its_control():
    """If softmax also came close to the linear model of the shortest prompt, nothing is shown."""
    table = losses()
    long_softmax = (table["attention"] == "softmax") & (table["L"] == 1000)
    table.loc[long_softmax & (table["quantity"] == "loss"), "value"] = 0.48
    assert section_6.decide([table], SECTION).verdict is Verdict.INCONCLUSIVE
