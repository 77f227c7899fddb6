"""Statistical tests: fixed seeds; a z-score above 5 has probability below 6e-7 per entry, and no
test looks at more than 36 entries, so each fails by chance with probability below 2.2e-5."""

import numpy as np
import pytest
import torch

from largeprompt.covariances import covariance_matrix
from largeprompt.errors import InputError
from largeprompt.regression import RegressionTask, sample_prompts, token_covariance
from largeprompt.seeding import stream

AUTOREGRESSIVE = covariance_matrix("autoregressive", 4, rho=0.5)
VARIANTS = {"as_stated": RegressionTask.as_stated, "as_coded": RegressionTask.as_coded}


def covariance_scores(samples, expected):
    """z-scores (d, d) of the second moments of centred Gaussian samples (n, d)."""
    samples = np.asarray(samples, dtype=float)
    measured = samples.T @ samples / len(samples)
    variances = np.outer(np.diag(expected), np.diag(expected)) + expected**2
    return np.abs(measured - expected) / np.sqrt(variances / len(samples))


def numpy_generator(seed):
    return stream(seed, "test", "regression")


def torch_generator(seed):
    return torch.Generator().manual_seed(seed)


def brute_force_coded_covariance(Sigma):
    factor = np.linalg.cholesky(Sigma)
    return factor @ factor @ factor.T @ factor.T


@pytest.mark.parametrize("generator", [numpy_generator, torch_generator])
@pytest.mark.parametrize(
    ("variant", "context", "query"),
    [
        ("as_stated", AUTOREGRESSIVE, AUTOREGRESSIVE),
        ("as_coded", brute_force_coded_covariance(AUTOREGRESSIVE), np.eye(4)),
    ],
)
def test_inputs_have_the_configured_covariances(generator, variant, context, query):
    task = VARIANTS[variant](AUTOREGRESSIVE, 0.1, 0.25)
    prompts = sample_prompts(generator(1), task, 20_000, 5)
    assert covariance_scores(prompts.tokens[..., :4].reshape(-1, 4), context).max() < 5
    assert covariance_scores(prompts.query[:, :4], query).max() < 5
    assert covariance_scores(prompts.weights, 0.25 * np.eye(4)).max() < 5


def test_as_coded_data_reject_the_stated_covariances():
    task = RegressionTask.as_coded(AUTOREGRESSIVE, 0.1, 0.25)
    prompts = sample_prompts(numpy_generator(1), task, 20_000, 5)
    assert covariance_scores(prompts.tokens[..., :4].reshape(-1, 4), AUTOREGRESSIVE).max() > 20
    assert covariance_scores(prompts.query[:, :4], AUTOREGRESSIVE).max() > 20


@pytest.mark.parametrize("variant", VARIANTS)
def test_for_isotropic_inputs_the_variants_agree(variant):
    task = VARIANTS[variant](np.eye(3), 0.1, 1.0)
    np.testing.assert_allclose(task.Sigma, np.eye(3))
    np.testing.assert_allclose(task.query_covariance, np.eye(3))


def test_tokens_of_one_task_have_covariance_gamma_w():
    task = RegressionTask.as_coded(AUTOREGRESSIVE, 0.3, 1.0)
    prompts = sample_prompts(numpy_generator(2), task, 1, 200_000)
    Gamma = token_covariance(prompts.weights[0], task.Sigma, 0.3).numpy()
    assert covariance_scores(prompts.tokens[0], Gamma).max() < 5
    wrong_noise = token_covariance(prompts.weights[0], task.Sigma, 0.0).numpy()
    assert covariance_scores(prompts.tokens[0], wrong_noise).max() > 5


def test_token_covariance_follows_the_block_formula():
    rng = np.random.default_rng(3)
    weights = rng.standard_normal((2, 3, 4))
    Gamma = token_covariance(torch.from_numpy(weights), AUTOREGRESSIVE, 0.2).numpy()
    for index in np.ndindex(2, 3):
        w = weights[index]
        corner = np.array([[w @ AUTOREGRESSIVE @ w + 0.2]])
        column = (AUTOREGRESSIVE @ w)[:, None]
        np.testing.assert_allclose(
            Gamma[index], np.block([[AUTOREGRESSIVE, column], [column.T, corner]]), rtol=1e-12
        )


def test_context_and_query_labels_carry_the_noise():
    task = RegressionTask.as_stated(AUTOREGRESSIVE, 0.1, 1.0)
    prompts = sample_prompts(numpy_generator(4), task, 20_000, 3)
    fitted = torch.einsum("pld,pd->pl", prompts.tokens[..., :4], prompts.weights)
    context_noise = (prompts.tokens[..., 4] - fitted).reshape(-1, 1)
    query_noise = prompts.target - (prompts.query[:, :4] * prompts.weights).sum(-1)
    assert covariance_scores(context_noise, np.array([[0.1]])).max() < 5
    assert covariance_scores(query_noise[:, None], np.array([[0.1]])).max() < 5
    assert covariance_scores(query_noise[:, None], np.array([[0.12]])).max() > 5


def test_without_noise_labels_are_linear_and_the_query_label_is_hidden():
    task = RegressionTask.as_stated(AUTOREGRESSIVE, 0.0, 1.0)
    prompts = sample_prompts(numpy_generator(5), task, 7, 6)
    for p in range(7):
        inputs, labels = prompts.tokens[p, :, :4], prompts.tokens[p, :, 4]
        torch.testing.assert_close(labels, inputs @ prompts.weights[p])
        torch.testing.assert_close(prompts.target[p], prompts.query[p, :4] @ prompts.weights[p])
    assert (prompts.query[:, 4] == 0).all()


def test_singular_covariance_keeps_the_inputs_in_its_range():
    direction = np.array([1.0, 2.0, -1.0])
    task = RegressionTask.as_stated(np.outer(direction, direction), 0.1, 1.0)
    inputs = sample_prompts(numpy_generator(6), task, 50, 20).tokens[..., :3].numpy()
    assert np.abs(inputs).max() > 1
    np.testing.assert_allclose(np.cross(inputs, direction), 0, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_shorter_prompt_is_the_beginning_of_a_longer_one(dtype):
    task = RegressionTask.as_stated(AUTOREGRESSIVE, 0.1, 1.0)
    longest = sample_prompts(numpy_generator(7), task, 3, 500, dtype=dtype)
    for L in (0, 1, 17, 499):
        prompts = sample_prompts(numpy_generator(7), task, 3, L, dtype=dtype)
        assert prompts.tokens.dtype == dtype
        assert prompts.tokens.shape == (3, L, 5)
        torch.testing.assert_close(prompts.tokens, longest.tokens[:, :L])
        for name in ("query", "target", "weights"):
            assert torch.equal(getattr(prompts, name), getattr(longest, name))


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"noise_variance": -0.1}, "noise_variance = -0.1"),
        ({"noise_variance": np.inf}, "noise_variance = inf"),
        ({"task_variance": 0.0}, "task_variance = 0.0"),
        ({"Sigma": [[1.0, 2.0], [2.0, 1.0]]}, "Sigma has the eigenvalue -1"),
        ({"query_covariance": np.eye(3)}, "query_covariance has shape"),
    ],
)
def test_unusable_tasks_are_refused_by_name(changed, named):
    fine = {
        "Sigma": np.eye(2),
        "query_covariance": np.eye(2),
        "noise_variance": 0.1,
        "task_variance": 1.0,
    }
    with pytest.raises(InputError, match=named):
        RegressionTask(**(fine | changed))


def test_as_coded_needs_an_invertible_covariance():
    with pytest.raises(InputError, match="Sigma is singular"):
        RegressionTask.as_coded(np.ones((2, 2)), 0.1, 1.0)


def test_a_negative_length_is_refused():
    task = RegressionTask.as_stated(np.eye(2), 0.1, 1.0)
    with pytest.raises(InputError, match="L = -1"):
        sample_prompts(numpy_generator(8), task, 2, -1)
