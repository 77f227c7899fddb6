"""Popular claims: each rule says yes to good tables, no to corrupted ones, minds its control."""

import numpy as np
import pandas as pd
import pytest

from largeprompt.claims import (
    kernel_swap_rule,
    popular_dimension,
    popular_few_hundred,
    popular_how_many_tokens,
    popular_kernel_swap_linear,
    popular_kernel_swap_linformer,
    popular_kernel_swap_performer,
    popular_rate,
)
from largeprompt.claims.decision import Verdict
from largeprompt.covariances import covariance_matrix
from largeprompt.prompt_length import relative_constant, relative_error
from largeprompt.risk import reduced_optimum, reduced_risk
from largeprompt.standard_problems import isotropic


def rates(exponents: dict[float, float]) -> pd.DataFrame:
    rows = [
        ("map", tilt, L, 3 * L**-exponent)
        for tilt, exponent in exponents.items()
        for L in (1e10, 1e12, 1e11)
    ]
    return pd.DataFrame(rows, columns=popular_rate.COLUMNS)


RATE = {"slack": 0.1, "tilt": 0.5}


@pytest.mark.parametrize(
    ("exponents", "verdict"),
    [
        ({0.1: 0.5, 0.5: 0.45, 2.0: 0.2}, Verdict.REPAIRED),
        ({0.1: 0.5, 0.5: 0.45, 2.0: 0.5}, Verdict.REPRODUCED),
        ({0.1: 0.3, 0.5: 0.45, 2.0: 0.2}, Verdict.NOT_REPRODUCED),
        ({0.1: 0.5, 0.5: 1.0, 2.0: 0.2}, Verdict.INCONCLUSIVE),
    ],
)
def test_rate_by_tilt(exponents, verdict):
    assert popular_rate.decide([rates(exponents)], RATE).verdict is verdict


def test_rate_of_exact_errors_leaves_one_half_above_tilt_one_half():
    """The witness: at tilt 1 in one dimension the exponent in norm is near 0.31, not 1/2."""
    lengths = np.array([10**11, 10**12])
    rows = [
        ("map", tilt, L, error)
        for tilt in (0.2, 1.0)
        for L, error in zip(lengths, relative_error(*isotropic(1, tilt), lengths), strict=True)
    ]
    table = pd.DataFrame(rows, columns=popular_rate.COLUMNS)
    decision = popular_rate.decide([table], RATE)
    assert decision.verdict is Verdict.REPAIRED
    assert decision.numbers["slowest"] == pytest.approx(0.301, abs=0.005)


def few_hundred() -> pd.DataFrame:
    rows = [
        ("few", "1", 4, 0.25, 300, 0.05),
        ("few", "trained", 5, 0.15, 300, 0.08),
        ("peaked", "isotropic", 5, 4.0, 300, 0.5),
        ("required", "1", 4, 0.25, 90, 0.1),
        ("required", "1", 4, 0.25, 9000, 0.01),
    ]
    return pd.DataFrame(rows, columns=popular_few_hundred.COLUMNS)


@pytest.mark.parametrize(
    ("row", "value", "verdict"),
    [
        (0, 0.05, Verdict.REPRODUCED),
        (0, 0.11, Verdict.CONTRADICTED),
        (1, 0.11, Verdict.CONTRADICTED),
        (2, 0.09, Verdict.INCONCLUSIVE),
    ],
)
def test_few_hundred_needs_every_setting(row, value, verdict):
    table = few_hundred()
    table.loc[row, "relative_error"] = value
    assert popular_few_hundred.decide([table], {"deviation": 0.1}).verdict is verdict


def test_three_hundred_tokens_leave_a_quarter_of_the_output_at_unit_scores():
    """The witness: d = 4, scores of variance 1."""
    assert relative_error(*isotropic(4, 0.25), 300) == pytest.approx(0.231, abs=1e-3)


def constants(variance=(24.0, 2000.0), tilt=(17.0, 1e30), rank=(24.0, 24.0)) -> pd.DataFrame:
    families = {"variance": variance, "tilt": tilt, "rank": rank}
    rows = [
        (name, d, value)
        for name, values in families.items()
        for d, value in zip((4, 768), values, strict=True)
    ]
    return pd.DataFrame(rows, columns=popular_dimension.COLUMNS)


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, Verdict.REPRODUCED),
        ({"variance": (24.0, 30.0)}, Verdict.NOT_REPRODUCED),
        ({"tilt": (24.0, 30.0)}, Verdict.NOT_REPRODUCED),
        ({"rank": (24.0, 2000.0)}, Verdict.INCONCLUSIVE),
    ],
)
def test_dimension(changes, verdict):
    decision = popular_dimension.decide([constants(**changes)], {"growth": 10})
    assert decision.verdict is verdict


def test_constant_of_unit_scores_is_e_times_the_dimension():
    assert relative_constant(*isotropic(768, 1 / 768)) / 768 == pytest.approx(np.e, rel=0.01)


def tokens(envelope=4.0, sigma_free=2.0) -> pd.DataFrame:
    bounds = {"envelope": envelope, "own": 3.5, "sharp": 3.1, "sigma_free": sigma_free}
    rows = [(bound, 1.0, 0.1, log, 3.0) for bound, log in bounds.items()]
    return pd.DataFrame(rows, columns=popular_how_many_tokens.COLUMNS)


@pytest.mark.parametrize(
    ("logs", "verdict"),
    [
        ({}, Verdict.REPRODUCED),
        ({"envelope": 4.1}, Verdict.CONTRADICTED),
        ({"envelope": 2.9}, Verdict.NOT_REPRODUCED),
        ({"sigma_free": 3.5}, Verdict.INCONCLUSIVE),
    ],
)
def test_tokens_by_the_bound(logs, verdict):
    decision = popular_how_many_tokens.decide([tokens(**logs)], {"factor": 10})
    assert decision.verdict is verdict


SWAP = {"rise": 0.1, "z": 4}
CLAIMS = {
    "linear": popular_kernel_swap_linear,
    "performer": popular_kernel_swap_performer,
    "linformer": popular_kernel_swap_linformer,
}


def swaps(few=(0.02, 0.001), many=(0.01, 0.001), linear=-0.01, uniform=9.0) -> pd.DataFrame:
    rows = [("linear", 0, L, "exact", linear, 0.0) for L in (100.0, float("inf"))]
    rows += [("uniform", 0, L, "exact", uniform, 0.0) for L in (100.0, float("inf"))]
    for swap in ("performer", "linformer"):
        for L in (10.0, 100.0, float("inf")):
            rows += [
                (swap, size, L, "simulation", *value) for size, value in ((16, few), (256, many))
            ]
    return pd.DataFrame(rows, columns=kernel_swap_rule.COLUMNS)


@pytest.mark.parametrize("name", ["performer", "linformer"])
@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, Verdict.REPRODUCED),
        ({"few": (0.5, 0.01)}, Verdict.REPAIRED),
        ({"few": (0.5, 0.01), "many": (0.2, 0.01)}, Verdict.CONTRADICTED),
        ({"many": (0.2, 0.04)}, Verdict.INCONCLUSIVE),
        ({"uniform": 0.05}, Verdict.INCONCLUSIVE),
    ],
)
def test_swapped_kernels_by_size(name, changes, verdict):
    assert CLAIMS[name].decide([swaps(**changes)], SWAP).verdict is verdict


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, Verdict.REPRODUCED),
        ({"linear": 0.11}, Verdict.CONTRADICTED),
        ({"uniform": 0.05}, Verdict.INCONCLUSIVE),
    ],
)
def test_swapped_linear_attention(changes, verdict):
    assert CLAIMS["linear"].decide([swaps(**changes)], SWAP).verdict is verdict


def test_linear_attention_gains_on_softmax_with_the_weights_of_softmax():
    """The witness: exact risks at the best softmax weights of 100 tokens."""
    problem = (covariance_matrix("autoregressive", 2, 0.5), 0.5, 100)
    best = reduced_optimum(*problem)
    assert reduced_risk(best.A, best.b, *problem, "linear") < 0.9 * best.risk
