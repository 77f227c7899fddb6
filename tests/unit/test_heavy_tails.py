"""Laws without exponential moments, and the spread of outputs."""

import math

import numpy as np
import pytest
import torch

from largeprompt.concentration import output_error_at
from largeprompt.errors import InputError
from largeprompt.heavy_tails import HEAVY_TAILED, output_spread, sample_heavy_tailed
from largeprompt.score_moments import score_moments
from largeprompt.seeding import stream


@pytest.mark.parametrize("law", HEAVY_TAILED)
def test_laws_are_symmetric_of_variance_one(law):
    """Variance by quantiles, since sample moments of such laws converge slowly; 1 percent."""
    x = np.sort(sample_heavy_tailed(law, stream(5, law), 400_000).numpy())
    assert abs(np.mean(x > 0) - 0.5) < 5 * 0.5 / math.sqrt(len(x))
    upper = {"student": 0.764892 / math.sqrt(3), "lognormal": math.exp(-1)}[law]
    assert np.quantile(x, 0.75) == pytest.approx(upper, rel=0.01)


@pytest.mark.parametrize("law", HEAVY_TAILED)
def test_laws_have_no_exponential_moment(law):
    """The sample mean of e^x is carried by its largest term, more so the larger the sample."""
    x = sample_heavy_tailed(law, stream(6, law), 1_000_000).numpy()
    scores = np.exp(x - x.max())
    assert scores.max() / scores.sum() > 0.5


def test_unknown_law_is_named():
    with pytest.raises(InputError, match="cauchy"):
        sample_heavy_tailed("cauchy", stream(1, "x"), 3)


def test_spread_of_gaussian_prompts_is_the_exact_variance():
    """Error minus squared bias, at fixed queries; 5 standard errors, by chance 6e-7."""
    rng, pairs, L, d = stream(7, "spread"), 4000, 10, 2
    tokens = torch.from_numpy(rng.standard_normal((pairs, 2, L, d)))
    z, one = np.array([[0.8, -0.5]]), torch.eye(d, dtype=torch.float64)
    queries = torch.from_numpy(np.broadcast_to(z, (pairs, 1, d)).copy())
    found = output_spread(tokens, queries, one, one, [L])[0]
    bias = score_moments(np.linalg.norm(z), L).q ** 2 * np.sum(z**2)
    exact = float(output_error_at(np.eye(d), np.eye(d), np.eye(d), z, L)[0] - bias)
    assert abs(found.mean() - exact) < 5 * found.std() / math.sqrt(pairs)
