"""Decision rules of the claims on training: good tables, corrupted tables, controls that pass."""

import numpy as np
import pandas as pd
import pytest

from largeprompt.bayes_endpoint import end_point, interval_end
from largeprompt.claims import (
    corollary_d_3,
    lemma_d_1,
    theorem_4_3,
    theorem_5_1,
    theorem_5_1_alpha,
    theorem_5_1_finite_l,
    theorem_5_1_rate,
)
from largeprompt.claims.decision import Verdict

REACHED = {"excess": 1e-8, "end_point": 0.01}


def flows() -> pd.DataFrame:
    good = {"excess_ratio": 1e-15, "product_error": 1e-8, "b_error": 1e-4, "drift": 1e-4}
    shared = {"condition": 100.0, "norm": 1.0, "identity_risk": 0.5, "time": 7.0, "rate": 1.0}
    rows = [
        {"d": 2, "alpha_ratio": ratio, "start": "theorem", "proof_condition": condition, **good}
        for ratio, condition in [(0.05, 0.01), (0.7, 2.0), (2.0, 16.0), (10.0, 400.0)]
    ]
    rows.append(rows[0] | {"start": "unbalanced", "alpha_ratio": 0.0, "b_error": 0.4})
    nowhere = {"excess_ratio": 1.0, "product_error": 1.0, "b_error": 1.0}
    rows.append(rows[0] | {"start": "zero", "alpha_ratio": 0.0} | nowhere)
    return pd.DataFrame(rows).assign(**shared)


@pytest.mark.parametrize("claim", [theorem_5_1, theorem_5_1_alpha])
def test_end_point_is_reproduced_when_every_flow_reaches_it(claim):
    assert claim.decide([flows()[claim.COLUMNS]], REACHED).verdict is Verdict.REPRODUCED


@pytest.mark.parametrize("column", ["excess_ratio", "product_error", "b_error", "drift"])
def test_a_flow_that_misses_the_end_point_is_noticed_where_it_starts(column):
    inside, outside = flows(), flows()
    inside.loc[inside["alpha_ratio"] == 0.05, column] = 0.1
    outside.loc[outside["alpha_ratio"] == 10.0, column] = 0.1
    assert theorem_5_1.decide([inside], REACHED).verdict is Verdict.NOT_REPRODUCED
    assert theorem_5_1.decide([outside], REACHED).verdict is Verdict.REPRODUCED
    assert theorem_5_1_alpha.decide([inside], REACHED).verdict is Verdict.REPRODUCED
    assert theorem_5_1_alpha.decide([outside], REACHED).verdict is Verdict.NOT_REPRODUCED


def test_a_flow_from_where_the_proof_fails_is_noticed():
    table = flows()
    table.loc[table["alpha_ratio"] == 0.7, "excess_ratio"] = 0.1
    assert theorem_5_1_alpha.decide([table], REACHED).verdict is Verdict.NOT_REPRODUCED


def test_end_point_minds_its_controls():
    unbalanced, identity, zero = flows(), flows(), flows()
    unbalanced.loc[unbalanced["start"] == "unbalanced", "b_error"] = 1e-3
    identity["identity_risk"] = 0.0
    zero.loc[zero["start"] == "zero", ["excess_ratio", "product_error", "b_error"]] = 0.0
    assert theorem_5_1.decide([unbalanced], REACHED).verdict is Verdict.INCONCLUSIVE
    assert theorem_5_1.decide([identity], REACHED).verdict is Verdict.INCONCLUSIVE
    assert theorem_5_1_alpha.decide([zero], REACHED).verdict is Verdict.INCONCLUSIVE


def test_interval_is_inconclusive_without_flows_outside():
    table = flows().query("alpha_ratio < 1")
    assert theorem_5_1_alpha.decide([table], REACHED).verdict is Verdict.INCONCLUSIVE


def test_the_witness_of_the_proof_lies_inside_the_interval_and_beyond_its_condition():
    """d = 1, Sigma = 1/4, alpha = 4."""
    assert interval_end([[0.25]]) > 4
    assert 4**2 * 0.25 * 1**0.5 > 2
    assert end_point([[0.25]])[1] == pytest.approx(2)


RATE = {"exponent": 0.02, "constant": 0.1}


def excess() -> pd.DataFrame:
    rows = []
    for d, exponent, constant in [(1, 0.618, 0.0), (8, 1.0, 3000.0)]:
        far = {"law": "gaussian", "d": d, "weights": "endpoint-far", "predicted": exponent}
        for L in (1e39, 1e40, 1e41):
            correction = 0.005 if constant == 0 else 0.0
            value = L**-exponent * (constant or 2.0)
            rows.append(
                far
                | {"L": L, "excess": value, "exponent": exponent - correction}
                | {"constant": constant, "correction": correction}
            )
        rows.append(rows[-1] | {"weights": "endpoint", "L": 1e12})
        best = {"exponent": 1.0, "predicted": 1.0, "constant": 5.0, "correction": 0.0}
        for weights in ("best", "linear"):
            rows.append(rows[-1] | {"weights": weights, "L": 1e10, "excess": 5e-10} | best)
    other = {"law": "cube", "d": 1, "exponent": 2 / 3, "predicted": 2 / 3, "constant": 0.0}
    rows.append(rows[-1] | other)
    return pd.DataFrame(rows)[theorem_5_1_rate.COLUMNS]


def test_rate_holds_after_repair_because_of_one_dimension():
    decision = theorem_5_1_rate.decide([excess()], RATE)
    assert decision.verdict is Verdict.REPAIRED
    assert decision.numbers["slowest_exponent"] == pytest.approx(0.618)


def test_rate_would_hold_as_summarised_if_every_exponent_were_one():
    table = excess().query("d == 8 or law == 'cube'")
    assert theorem_5_1_rate.decide([table], RATE).verdict is Verdict.REPRODUCED


@pytest.mark.parametrize(
    ("weights", "d", "column", "factor"),
    [
        ("endpoint-far", 1, "exponent", 1.2),
        ("endpoint-far", 8, "excess", 1.3),
        ("best", 8, "exponent", 0.9),
        ("linear", 1, "exponent", 0.9),
    ],
)
def test_rate_notices_a_corrupted_table(weights, d, column, factor):
    table = excess()
    table.loc[(table["weights"] == weights) & (table["d"] == d), column] *= factor
    assert theorem_5_1_rate.decide([table], RATE).verdict is Verdict.NOT_REPRODUCED


def test_rate_minds_its_control():
    table = excess()
    table.loc[table["law"] == "cube", "exponent"] = 1.0
    assert theorem_5_1_rate.decide([table], RATE).verdict is Verdict.INCONCLUSIVE
    assert theorem_5_1_rate.decide([table.query("law == 'gaussian'")], RATE).verdict is (
        Verdict.INCONCLUSIVE
    )


def trajectory() -> pd.DataFrame:
    rows = []
    for model in ("reduced", "factorised"):
        for L in (10, 100, 10**6):
            same = (model, "same", "path", L)
            for t in (0.0, 1.0, 2.0):
                rows.append((*same, "distance", t, t / L))
                if L != 100:
                    rows.append((model, "other", "path", L, "distance", t, 1.0))
                if t > 0:
                    rows.append((*same, "log10_envelope", t, np.log10(t / L) + t))
            rows.append((*same, "sup_distance", 2.0, 2 / L))
            rows.append((*same, "useful_time", 2.0, 0.5))
            rows.append((*same, "risk_gap", 2.0, 1 / L))
            rows.append((model, "same", "ball", L, "risk_gap", 2.0, L**-0.1))
            if L != 100:
                rows.append((model, "other", "path", L, "sup_distance", 2.0, 1.0))
        rows += [
            ("reduced", "same", "growing", L, "risk_gap", 2.0, 1.0 + L / 1e6)
            for L in (10, 100, 10**6)
            if model == "reduced"
        ]
    return pd.DataFrame(rows, columns=lemma_d_1.COLUMNS)


LEMMA, COROLLARY = {"ratio": 0.05}, {"ratio": 0.5}


def changed(start, points, quantity, L, value) -> pd.DataFrame:
    table = trajectory()
    chosen = (table["start"] == start) & (table["points"] == points) & (table["L"] == L)
    table.loc[chosen & (table["quantity"] == quantity), "value"] = value
    return table


def test_stability_is_reproduced_when_distances_are_below_the_envelope_and_fall():
    assert lemma_d_1.decide([trajectory()], LEMMA).verdict is Verdict.REPRODUCED
    assert corollary_d_3.decide([trajectory()], COROLLARY).verdict is Verdict.REPRODUCED


@pytest.mark.parametrize(
    ("quantity", "L", "value"),
    [("log10_envelope", 100, -3.0), ("sup_distance", 10**6, 0.1), ("sup_distance", 100, 0.3)],
)
def test_lemma_d_1_notices_a_distance_that_is_too_large(quantity, L, value):
    table = changed("same", "path", quantity, L, value)
    assert lemma_d_1.decide([table], LEMMA).verdict is Verdict.NOT_REPRODUCED


def test_lemma_d_1_minds_its_control():
    close = changed("other", "path", "sup_distance", 10**6, 1e-6)
    enclosed = changed("other", "path", "distance", 10**6, 1e-9)
    enclosed.loc[(enclosed["start"] == "other") & (enclosed["L"] == 10), "value"] = 1e-3
    absent = trajectory().query("start == 'same'")
    for table in (close, enclosed, absent):
        assert lemma_d_1.decide([table], LEMMA).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(("points", "L", "value"), [("ball", 10**6, 0.7), ("path", 100, 0.5)])
def test_corollary_d_3_notices_a_gap_that_stays(points, L, value):
    table = changed("same", points, "risk_gap", L, value)
    assert corollary_d_3.decide([table], COROLLARY).verdict is Verdict.NOT_REPRODUCED


def test_corollary_d_3_minds_its_control():
    table = changed("same", "growing", "risk_gap", 10**6, 0.1)
    assert corollary_d_3.decide([table], COROLLARY).verdict is Verdict.INCONCLUSIVE
    table = trajectory().query("points != 'growing'")
    assert corollary_d_3.decide([table], COROLLARY).verdict is Verdict.INCONCLUSIVE


EPS = (0.1, 0.01)


def transfer() -> pd.DataFrame:
    """Excess 1 / L, with L(eps) of each series."""
    rows = []
    for case, start in (("a", "theorem"), ("b", "random")):
        for L in (10.0, 1000.0, np.inf):
            rows += [(case, start, "trained", L, "converged", 1.0)]
            rows += [(case, start, "trained", L, "growth", 1e-15)]
        rows += [(case, start, "trained", 1 / eps, "excess eps", eps) for eps in EPS]
        rows += [(case, start, "zero", np.inf, "excess eps", eps) for eps in EPS]
        if start == "theorem":
            rows += [(case, start, "trained", 1 / eps, "bayes_excess eps", eps) for eps in EPS]
            rows += [(case, start, "identity", np.inf, "bayes_excess eps", eps) for eps in EPS]
            for L in (10.0, 1000.0):
                rows += [
                    (case, start, "trained", L, "product_error", 1 / L),
                    (case, start, "trained", L, "distance", 0.4),
                    (case, start, "trained", L, "above_best", 1e-9),
                ]
    return pd.DataFrame(rows, columns=theorem_4_3.COLUMNS)


TRANSFER = [(theorem_4_3, {"growth": 1e-5}), (theorem_5_1_finite_l, {"product": 0.01})]


@pytest.mark.parametrize(("claim", "tolerance"), TRANSFER)
def test_limits_are_reproduced_when_every_eps_has_a_length(claim, tolerance):
    assert claim.decide([transfer()], tolerance).verdict is Verdict.REPRODUCED


def test_scaling_of_the_required_length_is_reported():
    lengths = theorem_4_3.lengths_for(transfer(), "trained", "excess")
    np.testing.assert_allclose(theorem_4_3.scaling(lengths), 1.0)


@pytest.mark.parametrize(("claim", "tolerance"), TRANSFER)
@pytest.mark.parametrize("eps", EPS)
def test_an_eps_without_a_length_is_noticed(claim, tolerance, eps):
    table = transfer()
    chosen = (table["series"] == "trained") & (table["value"] == eps) & (table["case"] == "a")
    table.loc[chosen & table["quantity"].str.endswith(" eps"), "L"] = np.inf
    assert claim.decide([table], tolerance).verdict is Verdict.NOT_REPRODUCED


@pytest.mark.parametrize(("claim", "tolerance"), TRANSFER)
def test_a_flow_that_did_not_converge_decides_nothing(claim, tolerance):
    table = transfer()
    table.loc[(table["quantity"] == "converged") & (table["L"] == 1000), "value"] = 0.0
    assert claim.decide([table], tolerance).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("claim", "tolerance", "quantity"),
    [(*TRANSFER[0], "growth"), (*TRANSFER[1], "product_error")],
)
def test_a_rising_risk_or_a_wrong_product_is_noticed(claim, tolerance, quantity):
    table = transfer()
    table.loc[table["quantity"] == quantity, "value"] = 0.1
    assert claim.decide([table], tolerance).verdict is Verdict.NOT_REPRODUCED


@pytest.mark.parametrize(
    ("claim", "tolerance", "series"), [(*TRANSFER[0], "zero"), (*TRANSFER[1], "identity")]
)
def test_limits_mind_their_controls(claim, tolerance, series):
    passing = transfer()
    passing.loc[passing["series"] == series, "L"] = 10.0
    absent = transfer().query(f"series != '{series}'")
    for table in (passing, absent):
        assert claim.decide([table], tolerance).verdict is Verdict.INCONCLUSIVE
