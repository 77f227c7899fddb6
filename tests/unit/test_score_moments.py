"""The moments of the attention weights against references, identities and expansions."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from mpmath import mp
from reference.make_score_moments import FILE, reference

from largeprompt.errors import InputError
from largeprompt.score_moments import gradient_moments, score_moments
from largeprompt.score_quadrature import ScoreQuadrature
from largeprompt.score_sums import LINEAR, ONE, covariance_sums, participation, weight_sums

REFERENCES = json.loads(Path(FILE).read_text(encoding="utf-8"))
LENGTHS = np.array([1, 2, 3, 10, 100, 10**4, 10**8, 10**12])
SCALES = np.array([0, 1e-6, 0.05, 0.3, 0.499, 0.5, 1, 1.7, 2.5, 4, 6, 8])


@pytest.fixture(scope="module")
def grid():
    return score_moments(SCALES[:, None], LENGTHS)


@pytest.mark.parametrize("row", REFERENCES, ids=lambda r: f"s={r['s']}-L={r['L']:.0e}")
def test_q_and_h_agree_with_multiprecision_references(row):
    moments = score_moments(row["s"], row["L"])
    assert moments.q == pytest.approx(float(row["q"]), rel=2e-14, abs=0)
    assert moments.h == pytest.approx(float(row["h"]), rel=0, abs=1e-14)


@pytest.mark.parametrize("row", [r for r in REFERENCES if r["s"] in (0.5, 1.0) and r["L"] < 1e4])
def test_stored_references_are_what_their_script_computes(row):
    with mp.workdps(32):
        q, h = reference(row["s"], row["L"])
        assert mp.nstr(q, 25) == row["q"]
        assert mp.nstr(h, 25) == row["h"]


@pytest.mark.parametrize("s", [0.2, 1.0, 3.0, 8.0])
def test_two_tokens_reduce_to_integrals_of_tanh(s):
    # p_1 - p_2 = tanh(s w / sqrt 2) with w = (g_1 - g_2) / sqrt 2 ~ N(0, 1)
    with mp.workdps(20):
        even = [
            2
            * mp.quad(
                lambda w, n=n: w**n * mp.tanh(s * w / mp.sqrt(2)) ** 2 * mp.npdf(w), [0, 3, 12]
            )
            for n in (0, 2)
        ]
    moments = score_moments(s, 2)
    assert moments.q == pytest.approx(float((1 + even[0]) / 2), rel=1e-13)
    assert moments.m2 == pytest.approx(float((1 + even[1]) / 2), rel=1e-13)


def test_one_token_carries_all_weight(grid):
    assert grid.q[:, 0] == pytest.approx(np.ones(len(SCALES)), abs=1e-14)
    assert grid.h[:, 0] == pytest.approx(np.zeros(len(SCALES)), abs=1e-14)


def test_without_scores_weights_are_uniform_and_attention_is_linear(grid):
    assert grid.q[0] == pytest.approx(1 / LENGTHS, rel=1e-13, abs=0)
    assert grid.h[0] == pytest.approx(1 - 1 / LENGTHS, abs=1e-14)


@pytest.mark.parametrize("s", SCALES)
def test_weights_sum_to_one_and_satisfy_stein_identities(s, grid):
    row = list(SCALES).index(s)
    quadrature = ScoreQuadrature(s, LENGTHS, degree=4)
    E, shift = quadrature.expectation, quadrature.shift
    assert E((1, ONE), (1, ONE)) == pytest.approx(np.ones(LENGTHS.size), abs=2e-14)
    mean, square = E((1, LINEAR), (1, ONE)), E((1, LINEAR), (1, LINEAR))
    assert mean + shift == pytest.approx(grid.m1[row], abs=1e-12)
    assert square + 2 * shift * mean + shift**2 == pytest.approx(grid.m2[row], abs=1e-11)


def test_kappa_is_h_minus_one_plus_twice_q(grid):
    assert grid.kappa == pytest.approx(grid.h - 1 + 2 * grid.q, abs=1e-15)
    assert (grid.kappa <= grid.q * (1 + 1e-13)).all()
    assert grid.kappa[1:4, -1] == pytest.approx(np.exp(SCALES[1:4] ** 2) / 1e12, rel=1e-10, abs=0)


@pytest.mark.parametrize("s", [0.02, 0.4, 0.6, 1.5, 4.0, 8.0])
def test_slopes_agree_with_finite_differences(s):
    step = 2e-3
    near = score_moments(s + step * np.array([[-2], [-1], [1], [2]]), LENGTHS)
    rule = np.array([1, -8, 8, -1]) / (12 * step)
    exact = score_moments(s, LENGTHS)
    assert exact.dq == pytest.approx(rule @ near.q, abs=2e-10)
    assert exact.dh == pytest.approx(rule @ near.h, abs=2e-10)


@pytest.mark.parametrize("L", [2, 10, 1000, 10**12])
def test_expansion_in_small_scores(L):
    s2 = 0.03**2
    q = 1 / L + (L - 1) / L**2 * s2 + (L - 1) * (L - 6) / (2 * L**3) * s2**2
    h = (L - 1) / L * (1 - (L + 6) / L**2 * s2 - (L * L + 24 * L - 120) / (2 * L**3) * s2**2)
    moments = score_moments(0.03, L)
    assert moments.q == pytest.approx(q, rel=1e-7, abs=0)
    assert moments.h == pytest.approx(h, abs=2e-8)


def test_expansion_in_large_lengths():
    L, s = 1e9, 0.9
    x = math.exp(s * s)
    moments = score_moments(s, L)
    assert moments.q == pytest.approx(x / L * (1 - (x - 1) * (2 * x - 1) / L), rel=1e-13, abs=0)
    assert moments.h == pytest.approx(1 - x / L - x * (x - 1) * (4 * x + 1) / L**2, abs=1e-15)
    kappa = x / L - x * (x - 1) * (8 * x - 1) / L**2
    assert moments.kappa == pytest.approx(kappa, rel=1e-13, abs=0)


@pytest.mark.parametrize("s", [0.1, 0.49, 0.5, 2.0, 8.0, 30.0, 100.0])
@pytest.mark.parametrize("sums", [participation, weight_sums, covariance_sums])
def test_sums_have_converged_in_their_step(s, sums):
    coarse, fine = (np.array(sums(s, LENGTHS, step)) for step in (0.2, 0.1))
    assert coarse == pytest.approx(fine, rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("s", [0.45, 0.5, 0.7])
def test_both_grids_agree_where_they_meet(s, monkeypatch):
    values = []
    for seam in (0.1, 0.9):
        monkeypatch.setattr("largeprompt.score_quadrature._DENSE_BELOW", seam)
        values.append(participation(s, LENGTHS))
    assert np.array(values[0]) == pytest.approx(np.array(values[1]), rel=1e-12, abs=1e-15)


def test_large_scores_freeze_on_the_largest_token():
    moments = score_moments([100.0, 1000.0, 1e4], 2)
    # two tokens: 1 - q = E 2 p_1 p_2, an integral over the gap of width sqrt(2) / s at zero gap
    assert 1 - moments.q == pytest.approx(
        1 / (np.sqrt(np.pi) * np.array([100, 1e3, 1e4])), rel=2e-4
    )


def test_gradient_moments_without_scores_are_those_of_a_sample_covariance():
    L = LENGTHS.astype(float)
    expected = {
        "A1": (2 * L - 1) / L**2,
        "beta": (L - 1) / L**2,
        "A2": -1 / L**2,
        "q22": 1 / L**2,
        "tau": (L - 1) / L**2,
    }
    found = gradient_moments(0, LENGTHS)
    for name, value in expected.items():
        assert getattr(found, name) == pytest.approx(value, rel=1e-8, abs=1e-14), name


@pytest.mark.parametrize("s", [0.3, 1.0, 2.0])
def test_gradient_moments_agree_with_sampled_prompts(s):
    """Fixed seed; five means within 4 standard errors: 3e-4 false alarms a case."""
    rng = np.random.default_rng(5)
    g = rng.standard_normal((100_000, 12))
    p = np.exp(s * g)
    p /= p.sum(1, keepdims=True)
    mean = (p * g).sum(1, keepdims=True)
    variance = (p * (g - mean) ** 2).sum(1)
    P2, P3 = (p**2).sum(1), (p**3).sum(1)
    samples = {
        "A1": (variance - 1) ** 2,
        "beta": (p**2 * (g - mean) ** 2).sum(1),
        "A2": (variance - 1) * P2,
        "q22": P2**2,
        "tau": P2 - 2 * P3 + P2**2,
    }
    exact = gradient_moments(s, 12)
    for name, sample in samples.items():
        stderr = sample.std() / np.sqrt(len(sample))
        assert abs(sample.mean() - getattr(exact, name)) < 4 * stderr, name


def test_arguments_broadcast_and_keep_their_shape():
    moments = score_moments([[0.5], [2.0]], [3, 7, 3])
    assert moments.q.shape == (2, 3)
    assert moments.q[1, 1] == pytest.approx(float(score_moments(2.0, 7).q), rel=1e-14)
    assert (moments.q[:, 0] == moments.q[:, 2]).all()
    assert score_moments(1, 4).q.shape == ()
    assert score_moments([], 4).q.shape == (0,)


@pytest.mark.parametrize("s", [-1e-9, math.nan, math.inf, [1, -1], "one", None, 2e4])
def test_unusable_scales_are_refused(s):
    with pytest.raises(InputError, match="s="):
        score_moments(s, 10)


@pytest.mark.parametrize("L", [0, -3, 2.5, math.nan, math.inf, "ten", [10, 0]])
def test_unusable_lengths_are_refused(L):
    with pytest.raises(InputError, match="L="):
        gradient_moments(1.0, L)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="do not fit"):
        score_moments([1.0, 2.0], [1, 2, 3])
