"""Decision rules of the claims of Section 6: good tables, corrupted tables, controls that pass."""

import numpy as np
import pandas as pd
import pytest

from largeprompt.claims import (
    section_6_as_coded,
    section_6_bayes,
    section_6_flow,
    section_6_limits,
    section_6_path,
    section_6_reference,
    section_6_tokens,
    section_6_weights,
)
from largeprompt.claims.decision import Verdict

LENGTHS = (10, 100, 1000)
CASE = {"variant": "as-stated", "covariance": "ar1"}
RATIO = {"ratio": 0.2}


def weights() -> pd.DataFrame:
    rows = [
        (attention, L, quantity, value)
        for attention in ("softmax", "linear")
        for L in LENGTHS
        for quantity, value in (("distance", 5 / L), ("from_identity", 0.5))
    ]
    table = pd.DataFrame(rows, columns=["attention", "L", "quantity", "value"])
    return table.assign(**CASE, method="sgd", start="random", seed=327)


def test_weights_that_approach_are_reproduced():
    assert section_6_weights.decide([weights()], RATIO).verdict is Verdict.REPRODUCED


def test_weights_of_one_attention_that_stay_are_noticed():
    table = weights()
    table.loc[(table["attention"] == "softmax") & (table["quantity"] == "distance"), "value"] = 0.5
    assert section_6_weights.decide([table], RATIO).verdict is Verdict.NOT_REPRODUCED


def test_weights_that_approach_the_identity_as_well_show_nothing():
    table = weights()
    table.loc[(table["quantity"] == "from_identity") & (table["L"] == 1000), "value"] = 0.01
    assert section_6_weights.decide([table], RATIO).verdict is Verdict.INCONCLUSIVE


def test_run_without_the_longest_prompt_is_left_out():
    short = weights()
    short = short[short["L"] < 1000].assign(seed=328, value=0.5)
    decision = section_6_weights.decide([pd.concat([weights(), short])], RATIO)
    assert decision.verdict is Verdict.REPRODUCED


def paths() -> pd.DataFrame:
    rows = [(L, quantity, 4 / L, 0.6) for L in LENGTHS for quantity in ("loss", "product")]
    table = pd.DataFrame(rows, columns=["L", "quantity", "value", "control"])
    return table.assign(**CASE, method="flow", start="random", seed=327)


def test_paths_that_close_are_reproduced():
    assert section_6_path.decide([paths()], RATIO).verdict is Verdict.REPRODUCED


@pytest.mark.parametrize("quantity", ["loss", "product"])
def test_paths_that_stay_apart_are_noticed(quantity):
    table = paths()
    table.loc[table["quantity"] == quantity, "value"] = 0.4
    assert section_6_path.decide([table], RATIO).verdict is Verdict.NOT_REPRODUCED


def test_path_that_a_model_at_rest_would_follow_shows_nothing():
    table = paths().assign(control=0.01)
    assert section_6_path.decide([table], RATIO).verdict is Verdict.INCONCLUSIVE


def losses() -> pd.DataFrame:
    rows = [
        (method, attention, L, 0.1 + size / L, 1e-4)
        for method, attention, size in (
            *(("sgd", "softmax", 5.0), ("sgd", "linear", 3.0), ("ridge", "none", 0.5)),
        )
        for L in LENGTHS
    ]
    rows += [("optimum", "softmax", L, 0.1 + 4 / L, 0.0) for L in LENGTHS]
    table = pd.DataFrame(rows, columns=["method", "attention", "L", "value", "stderr"])
    quantity = np.where(table["method"] == "optimum", "risk", "loss")
    return table.assign(**CASE, quantity=quantity, start="random", seed="327")


REFERENCE = {"ratio": 0.2, "z": 4}


def test_models_that_approach_the_bayes_risk_are_reproduced():
    assert section_6_reference.decide([losses()], REFERENCE).verdict is Verdict.REPRODUCED


@pytest.mark.parametrize(("value", "stderr"), [(0.3, 1e-4), (0.105, 0.1)])
def test_model_that_stays_away_or_is_not_measured_well_is_noticed(value, stderr):
    table = losses()
    last = (table["method"] == "sgd") & (table["L"] == 1000) & (table["attention"] == "linear")
    table.loc[last, ["value", "stderr"]] = value, stderr
    assert section_6_reference.decide([table], REFERENCE).verdict is Verdict.NOT_REPRODUCED


def test_short_models_that_reach_the_bayes_risk_of_long_prompts_show_nothing():
    table = losses()
    table.loc[(table["method"] == "ridge") & (table["L"] == 1000), "value"] = 0.4
    assert section_6_reference.decide([table], REFERENCE).verdict is Verdict.INCONCLUSIVE


def test_best_head_above_the_bayes_risk_contradicts_the_claim():
    decision = section_6_bayes.decide([losses()], {"z": 4})
    assert decision.verdict is Verdict.CONTRADICTED
    assert decision.numbers["share_shortest"] == pytest.approx(0.35 / 0.15)


def test_best_head_at_the_bayes_risk_is_reproduced_and_between_is_neither():
    table = losses()
    best = table["method"] == "optimum"
    ridge = table[table["method"] == "ridge"].set_index("L")["value"]
    table.loc[best, "value"] = table.loc[best, "L"].map(ridge) + 1e-4
    assert section_6_bayes.decide([table], {"z": 4}).verdict is Verdict.REPRODUCED
    table.loc[best & (table["L"] == 10), "value"] += 0.1
    assert section_6_bayes.decide([table], {"z": 4}).verdict is Verdict.NOT_REPRODUCED


LIMITS = {"excess": 0.01, "gradient": 1e-6}


def limits() -> pd.DataFrame:
    rows = [
        (attention, start, L, seed, 0.1 + 4 / L, 0.1 + 4 / L, 1e-12)
        for attention in ("softmax", "linear")
        for start, seed in (("random", 327), ("random", 329), ("theorem", 327))
        for L in LENGTHS
    ]
    columns = ["attention", "start", "L", "seed", "risk", "optimum", "gradient_norm"]
    return pd.DataFrame(rows, columns=columns).assign(**CASE, lowest_curvature=0.0)


def test_flows_that_all_reach_the_best_risk_are_reproduced():
    assert section_6_limits.decide([limits()], LIMITS).verdict is Verdict.REPRODUCED


def test_flow_that_is_stuck_leaves_the_repaired_reading_only():
    table = limits()
    table.loc[(table["seed"] == 329) & (table["L"] == 10), "risk"] += 0.3
    assert section_6_limits.decide([table], LIMITS).verdict is Verdict.REPAIRED


def test_flow_that_still_moves_is_not_stuck():
    table = limits()
    moving = (table["seed"] == 329) & (table["L"] == 10)
    table.loc[moving, "risk"] += 0.3
    table.loc[moving, "gradient_norm"] = 1e-3
    decision = section_6_limits.decide([table], LIMITS)
    assert decision.verdict is Verdict.REPRODUCED
    assert "2 still move" in decision.measured


def test_flow_from_the_start_of_the_theorem_that_is_stuck_is_noticed():
    table = limits()
    table.loc[table["start"] == "theorem", "risk"] += 0.3
    assert section_6_limits.decide([table], LIMITS).verdict is Verdict.NOT_REPRODUCED


def test_limits_mind_their_control():
    table = limits().assign(risk=0.1, optimum=0.1)
    assert section_6_limits.decide([table], LIMITS).verdict is Verdict.INCONCLUSIVE


def variants() -> pd.DataFrame:
    rows = [("softmax", L, 4 / L, 8 / L) for L in LENGTHS]
    table = pd.DataFrame(rows, columns=["attention", "L", "excess_stated", "excess_coded"])
    return table.assign(covariance="ar1", method="optimum", start="none", seed="none")


def test_variants_that_differ_in_size_and_fall_alike_are_reproduced():
    decision = section_6_as_coded.decide([variants()], RATIO)
    assert decision.verdict is Verdict.REPRODUCED
    assert decision.numbers["largest_factor"] == pytest.approx(2)


@pytest.mark.parametrize("variant", ["stated", "coded"])
def test_variant_that_does_not_fall_is_noticed(variant):
    table = variants()
    table[f"excess_{variant}"] = 0.5
    assert section_6_as_coded.decide([table], RATIO).verdict is Verdict.NOT_REPRODUCED


def test_variants_that_are_the_same_show_nothing():
    table = variants()
    table["excess_coded"] = table["excess_stated"]
    assert section_6_as_coded.decide([table], RATIO).verdict is Verdict.INCONCLUSIVE


TOKENS = {"dimension": 5, "loose": 0.1, "strict": 0.01, "few_hundred": 300}


def needed(factor: float) -> pd.DataFrame:
    rows = [(d, tolerance, factor * d**2 / tolerance) for d in (5, 10) for tolerance in (0.1, 0.01)]
    table = pd.DataFrame(rows, columns=["dimension", "tolerance", "L"])
    return table.assign(covariance="ar1", quantity="gap")


@pytest.mark.parametrize(
    ("factor", "verdict"),
    [(0.1, Verdict.REPRODUCED), (0.4, Verdict.REPAIRED), (4, Verdict.CONTRADICTED)],
)
def test_tokens_are_judged_by_their_number(factor, verdict):
    assert section_6_tokens.decide([needed(factor)], TOKENS).verdict is verdict


def test_growth_of_the_tokens_with_the_dimension_is_read_off():
    assert "L ~ d^2" in section_6_tokens.decide([needed(0.4)], TOKENS).measured


def test_tokens_mind_their_control():
    assert section_6_tokens.decide([needed(0.01)], TOKENS).verdict is Verdict.INCONCLUSIVE


FLOW = {"seeds": 5, "z": 4, "bias": 0.005}


def followed(bias: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = []
    for seed in range(5):
        for time in (1.0, 10.0, 100.0):
            flow = 1 / (1 + time)
            sgd = flow + bias + 1e-3 * rng.standard_normal()
            rows.append((seed, time, sgd, flow, 1 / (1 + time / 2)))
    table = pd.DataFrame(rows, columns=["seed", "time", "sgd", "flow", "half_speed"])
    return table.assign(**CASE, attention="softmax", start="random", L=10)


def test_sgd_on_the_flow_is_reproduced():
    assert section_6_flow.decide([followed()], FLOW).verdict is Verdict.REPRODUCED


def test_sgd_beside_the_flow_is_noticed():
    assert section_6_flow.decide([followed(0.02)], FLOW).verdict is Verdict.NOT_REPRODUCED


def test_flow_at_half_speed_that_fits_as_well_shows_nothing():
    table = followed()
    table["half_speed"] = table["flow"]
    assert section_6_flow.decide([table], FLOW).verdict is Verdict.INCONCLUSIVE


def test_too_few_starts_decide_nothing():
    table = followed()
    assert section_6_flow.decide([table[table["seed"] < 4]], FLOW).verdict is Verdict.INCONCLUSIVE
