"""Attention operators against loops, autograd, finite differences and the infinite-prompt limit.

Statistical tests use fixed seeds; each compares at most 100 numbers with a threshold of six
standard errors, so a correct operator fails one with probability below 1e-6.
"""

import math

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from largeprompt import attention
from largeprompt.attention import (
    infinite_attention,
    infinite_attention_gradients,
    linear_attention,
    linear_attention_gradients,
    softmax_attention,
    softmax_attention_gradients,
    softmax_attention_prefix_gradients,
    softmax_attention_prefixes,
)
from largeprompt.errors import InputError
from largeprompt.measures import Gaussian, GaussianMixture, ProductRademacher, UniformCube
from largeprompt.seeding import stream

STANDARD_ERRORS = 6
D, M = 3, 2


def _normal(*shape, name="normal"):
    return torch.from_numpy(stream(327, "test_attention", name, *shape).standard_normal(shape))


@pytest.fixture
def U():
    return _normal(D, D, name="U")


@pytest.fixture
def V():
    return _normal(M, D, name="V")


def _laws():
    factor = _normal(D, D, name="factor")
    means = torch.tensor([[1.5, -0.5, 0.5], [-1.5, 0.5, -0.5]], dtype=torch.float64)
    return {
        "gaussian": Gaussian([0.5, 0.0, -1.0], factor @ factor.mT / D),
        "rademacher": ProductRademacher(D),
        "cube": UniformCube(D, math.sqrt(3)),
        "mixture": GaussianMixture([0.5, 0.5], means, torch.eye(D).expand(2, D, D) / 2),
    }


LAWS = _laws()


def _softmax_by_loop(tokens, z, U, V):
    """One prompt, one query, plain numpy."""
    tokens, z, U, V = (x.numpy() for x in (tokens, z, U, V))
    scores = [float(token @ U @ z) for token in tokens]
    weights = [math.exp(score - max(scores)) for score in scores]
    return sum(w * (V @ token) for w, token in zip(weights, tokens, strict=True)) / sum(weights)


def _linear_by_loop(tokens, z, U, V):
    tokens, z, U, V = (x.numpy() for x in (tokens, z, U, V))
    return sum((V @ token) * float(token @ U @ z) for token in tokens) / len(tokens)


FINITE = [(softmax_attention, _softmax_by_loop), (linear_attention, _linear_by_loop)]


@pytest.mark.parametrize(("operator", "loop"), FINITE)
def test_every_prompt_meets_every_query(operator, loop, U, V):
    tokens, query = _normal(4, 1, 9, D), _normal(5, D)
    output = operator(tokens, query, U, V)
    assert output.shape == (4, 5, M)
    for prompt in range(4):
        for index in range(5):
            expected = loop(tokens[prompt, 0], query[index], U, V)
            np.testing.assert_allclose(output[prompt, index], expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("operator", [softmax_attention, linear_attention])
@pytest.mark.parametrize(
    ("tokens", "query", "leading"),
    [((7,), (), ()), ((4, 7), (4,), (4,)), ((7,), (6,), (6,)), ((4, 1, 7), (1, 6), (4, 6))],
)
def test_leading_axes_broadcast(operator, tokens, query, leading, U, V):
    assert operator(_normal(*tokens, D), _normal(*query, D), U, V).shape == (*leading, M)


@pytest.mark.parametrize("operator", [softmax_attention, linear_attention])
def test_single_precision_in_gives_single_precision_out(operator, U, V):
    arguments = [_normal(4, 9, D), _normal(4, D), U, V]
    single = operator(*(x.float() for x in arguments))
    assert single.dtype == torch.float32
    torch.testing.assert_close(single.double(), operator(*arguments), rtol=1e-4, atol=1e-5)
    assert infinite_attention(LAWS["cube"], *(x.float() for x in arguments[1:])).dtype == (
        torch.float32
    )


def test_vanishing_scores_average_the_values(U, V):
    tokens, query = _normal(4, 9, D), _normal(4, D)
    mean = tokens.mean(-2) @ V.mT
    torch.testing.assert_close(softmax_attention(tokens, query, 0 * U, V), mean)
    covariance = torch.stack([torch.cov(prompt.mT, correction=0) for prompt in tokens])
    gradients = softmax_attention_gradients(tokens, query, 0 * U, V)
    torch.testing.assert_close(gradients.U[..., 0], V @ covariance * query[:, None, :1])
    tilt = torch.einsum("pij,pj->pi", covariance, query @ U.mT) @ V.mT
    small = 1e-6 * U
    slope = (softmax_attention(tokens, query, small, V) - mean) / 1e-6
    torch.testing.assert_close(slope, tilt, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("size", [1e6, 1e12, 1e100])
def test_huge_scores_attend_to_the_highest_token(size, U, V, monkeypatch):
    monkeypatch.setattr(attention, "CHUNK_ELEMENTS", 1)
    tokens, query = _normal(4, 1, 50, D), _normal(5, D)
    winners = torch.einsum("ptd,qd->pqt", tokens[:, 0], query @ U.mT).argmax(-1)
    expected = tokens[:, 0][torch.arange(4)[:, None], winners] @ V.mT
    output = softmax_attention(tokens, query, size * U, V)
    torch.testing.assert_close(output, expected, rtol=1e-14, atol=1e-14)
    gradients = softmax_attention_gradients(tokens, query, size * U, V)
    assert gradients.U.abs().max() < 1e-12


def test_scores_far_from_zero_act_like_their_differences(V):
    """Tokens that share a coordinate of 1e6: only score differences may matter."""
    tokens, query = _normal(200, D), torch.ones(D, dtype=torch.float64)
    tokens[:, 0] = 1e6
    U = torch.eye(D, dtype=torch.float64)
    blind = U.clone()
    blind[0, 0] = 0
    torch.testing.assert_close(
        softmax_attention(tokens, query, U, V[:, 1:] @ U[1:]),
        softmax_attention(tokens, query, blind, V[:, 1:] @ U[1:]),
        rtol=1e-8,
        atol=1e-9,
    )


def test_one_token_gets_all_the_attention(U, V):
    tokens, query = _normal(4, 1, D), _normal(4, D)
    torch.testing.assert_close(softmax_attention(tokens, query, U, V), tokens[:, 0] @ V.mT)
    assert softmax_attention_gradients(tokens, query, U, V).U.abs().max() == 0
    scores = torch.einsum("pd,pd->p", tokens[:, 0], query @ U.mT)
    linear = scores[:, None] * (tokens[:, 0] @ V.mT)
    torch.testing.assert_close(linear_attention(tokens, query, U, V), linear)


@pytest.mark.parametrize("scale", [0.1, 3.0, 1e4])
def test_chunks_do_not_change_the_result(scale, U, V, monkeypatch):
    tokens, query = _normal(4, 1, 1_000, D), _normal(5, D)
    arguments = tokens, query, scale * U, V
    whole, gradients = softmax_attention(*arguments), softmax_attention_gradients(*arguments)
    monkeypatch.setattr(attention, "CHUNK_ELEMENTS", 1)
    monkeypatch.setattr(attention, "CHUNK_TOKENS", 7)
    torch.testing.assert_close(softmax_attention(*arguments), whole, rtol=1e-12, atol=1e-13)
    chunked = softmax_attention_gradients(*arguments)
    torch.testing.assert_close(chunked.V, gradients.V, rtol=1e-12, atol=1e-13)
    torch.testing.assert_close(chunked.U, gradients.U, rtol=1e-11, atol=1e-12)


def test_prefixes_equal_separate_calls(U, V, monkeypatch):
    monkeypatch.setattr(attention, "CHUNK_TOKENS", 7)
    monkeypatch.setattr(attention, "CHUNK_ELEMENTS", 1)
    tokens, query, lengths = _normal(4, 1, 300, D), _normal(5, D), [1, 2, 10, 100, 101, 299]
    outputs = softmax_attention_prefixes(tokens, query, U, V, lengths)
    gradients = softmax_attention_prefix_gradients(tokens, query, U, V, lengths)
    assert outputs.shape == (len(lengths), 4, 5, M)
    for index, L in enumerate(lengths):
        prefix = tokens[..., :L, :], query, U, V
        torch.testing.assert_close(outputs[index], softmax_attention(*prefix))
        alone = softmax_attention_gradients(*prefix)
        torch.testing.assert_close(gradients.V[index], alone.V)
        torch.testing.assert_close(gradients.U[index], alone.U)


OPERATORS = {
    "softmax": (softmax_attention, softmax_attention_gradients, _normal(4, 1, 20, D)),
    "linear": (linear_attention, linear_attention_gradients, _normal(4, 1, 20, D)),
    **{
        f"infinite {name}": (infinite_attention, infinite_attention_gradients, law)
        for name, law in LAWS.items()
    },
}


@pytest.fixture(params=OPERATORS.values(), ids=OPERATORS.keys())
def operator(request):
    return request.param


def test_gradients_agree_with_autograd(operator, U, V):
    function, gradients, source = operator
    query = _normal(5, D)
    exact = gradients(source, query, U, V)
    by_v = torch.autograd.functional.jacobian(lambda v: function(source, query, U, v), V)
    by_u = torch.autograd.functional.jacobian(lambda u: function(source, query, u, V), U)
    assert by_v.shape[-4:] == (5, M, M, D)
    assert by_u.shape[-4:] == (5, M, D, D)
    torch.testing.assert_close(exact.V, by_v, rtol=1e-11, atol=1e-12)
    torch.testing.assert_close(exact.U, by_u, rtol=1e-10, atol=1e-11)


def test_autograd_passes_through_merged_chunks(U, V, monkeypatch):
    monkeypatch.setattr(attention, "CHUNK_ELEMENTS", 1)
    monkeypatch.setattr(attention, "CHUNK_TOKENS", 7)
    tokens, query = _normal(4, 20, D), _normal(4, D)
    arguments = [x.clone().requires_grad_() for x in (tokens, query, U, V)]
    assert torch.autograd.gradcheck(softmax_attention, arguments)
    exact = softmax_attention_gradients(tokens, query, U, V)
    by_u = torch.autograd.functional.jacobian(lambda u: softmax_attention(tokens, query, u, V), U)
    torch.testing.assert_close(exact.U, by_u, rtol=1e-11, atol=1e-12)


def test_gradients_agree_with_finite_differences(operator, U, V):
    function, gradients, source = operator
    query, step = _normal(5, D), 1e-5
    exact = gradients(source, query, U, V)
    for i in range(D):
        for j in range(D):
            change = torch.zeros_like(U)
            change[i, j] = step
            rise = function(source, query, U + change, V) - function(source, query, U - change, V)
            slope = rise / (2 * step)
            torch.testing.assert_close(exact.U[..., i, j], slope, rtol=1e-6, atol=1e-7)
    for i in range(M):
        for j in range(D):
            change = torch.zeros_like(V)
            change[i, j] = step
            rise = function(source, query, U, V + change) - function(source, query, U, V - change)
            slope = rise / (2 * step)
            expected = exact.V[..., i, j].expand(slope.shape)
            torch.testing.assert_close(expected, slope, rtol=1e-6, atol=1e-7)


class _LargestTensor(TorchDispatchMode):
    """Entries of the largest tensor that an operation makes; views of `source` are free."""

    def __init__(self, source):
        super().__init__()
        self.source = source.untyped_storage().data_ptr()
        self.entries = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, list | tuple) else [result]:
            if tensor.untyped_storage().data_ptr() != self.source:
                self.entries = max(self.entries, tensor.numel())
        return result


def test_memory_does_not_grow_with_the_prompt(U, V):
    tokens, query = _normal(1, 1_000_000, D), _normal(16, D)
    with _LargestTensor(tokens) as largest:
        output = softmax_attention(tokens, query, U / 4, V)
    assert output.isfinite().all()
    assert largest.entries <= attention.CHUNK_ELEMENTS < 16 * 1_000_000 / 10
    with _LargestTensor(tokens) as largest:
        softmax_attention_gradients(tokens[:, :200_000], query, U / 4, V)
    assert largest.entries <= attention.CHUNK_ELEMENTS < 16 * D * 200_000 / 10


def test_many_queries_do_not_copy_the_tokens(U, V):
    tokens, query = _normal(4, 1, 100, D), _normal(500, D)
    with _LargestTensor(tokens) as largest:
        softmax_attention(tokens, query, U, V)
    assert largest.entries <= 4 * 500 * 100 < 4 * 500 * 100 * D


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_gaussian_tokens_make_infinite_attention_affine(rank, U, V):
    """Lemma 2.1: `V m + V Gamma U z`, singular Gamma included."""
    factor, mean, query = _normal(D, rank, name="factor"), _normal(D, name="mean"), _normal(5, D)
    Gamma = factor @ factor.mT
    law = Gaussian(mean, Gamma)
    expected = V @ mean + query @ (V @ Gamma @ U).mT
    torch.testing.assert_close(infinite_attention(law, query, U, V), expected)


@pytest.mark.parametrize("rank", [1, 3])
def test_image_of_a_gaussian_query_law_is_gaussian(rank, U, V):
    """Lemma 2.1: outputs on Gaussian queries have the log mgf of the predicted Gaussian.

    Six standard errors for each of 20 directions.
    """
    factor = _normal(D, rank, name="factor") / 2
    law = Gaussian(_normal(D, name="mean"), factor @ factor.mT)
    queries = Gaussian(torch.zeros(D), torch.eye(D))
    slope = V @ law.covariance @ U
    image = Gaussian(V @ law.mean, slope @ slope.mT)
    outputs = infinite_attention(law, queries.sample(stream(327, "image"), 200_000), U, V)
    a = _normal(20, M, name="direction")
    a = a / (a @ image.covariance * a).sum(-1, keepdim=True).sqrt()
    ratio = (outputs @ a.mT - image.log_mgf(a)).exp()  # (query, direction)
    error = ratio.std(0) / math.sqrt(len(ratio))
    assert ((ratio.mean(0) - 1).abs() <= STANDARD_ERRORS * error).all()


TILT = torch.tensor([0.7, -0.4, 0.5], dtype=torch.float64)


def _long_prompts(law):
    """Outputs of 50 prompts of 20,000 tokens at U z = TILT, V = I, and their standard error.

    The bias of order 1/L is below a tenth of the standard error.
    """
    tokens = law.sample(stream(327, "limit"), 50, 20_000)
    identity = torch.eye(D, dtype=torch.float64)
    outputs = softmax_attention(tokens, TILT, identity, identity)
    return outputs.mean(0), outputs.std(0) / math.sqrt(len(outputs))


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())
def test_long_prompts_approach_the_tilted_mean(law):
    mean, error = _long_prompts(law)
    identity = torch.eye(D, dtype=torch.float64)
    limit = infinite_attention(law, TILT, identity, identity)
    assert ((mean - limit).abs() <= STANDARD_ERRORS * error).all()


@pytest.mark.parametrize("name", ["rademacher", "cube", "mixture"])
def test_affine_limit_is_wrong_for_other_tokens(name):
    """Negative control of Lemma 2.1: beyond Gaussian tokens `m + Gamma U z` is far off."""
    law = LAWS[name]
    mean, error = _long_prompts(law)
    affine = law.mean + law.covariance @ TILT
    assert ((mean - affine).abs() / error).max() > 20


def test_affine_limit_is_right_for_gaussian_tokens():
    law = LAWS["gaussian"]
    mean, error = _long_prompts(law)
    affine = law.mean + law.covariance @ TILT
    assert ((mean - affine).abs() <= STANDARD_ERRORS * error).all()


@pytest.mark.parametrize(("name", "predicted"), [("rademacher", 2.739), ("cube", 4.406)])
def test_leading_error_constant_agrees_with_prompts(name, predicted):
    """`L MSE -> exp(log_mgf(2a) - 2 log_mgf(a)) (|m_2a - m_a|^2 + tr Hessian(2a))`.

    Reference values from the derivations (V = I, unit variance). At L = 400 the next order adds
    about 1 %, so the prompts may exceed the constant by 3 % on top of six standard errors.
    """
    law, L = LAWS[name], 400
    gap = law.tilted_mean(2 * TILT) - law.tilted_mean(TILT)
    ratio = (law.log_mgf(2 * TILT) - 2 * law.log_mgf(TILT)).exp()
    constant = float(ratio * (gap @ gap + law.tilted_covariance(2 * TILT).trace()))
    assert constant == pytest.approx(predicted, abs=5e-4)
    identity = torch.eye(D, dtype=torch.float64)
    tokens = law.sample(stream(327, "constant"), 4_000, L)
    outputs = softmax_attention(tokens, TILT, identity, identity)
    errors = L * (outputs - law.tilted_mean(TILT)).square().sum(-1)
    error = float(errors.std()) / math.sqrt(len(errors))
    assert abs(float(errors.mean()) - constant) <= STANDARD_ERRORS * error + 0.03 * constant


def test_long_prompt_gradients_approach_those_of_the_law(U, V):
    """Every entry within six standard errors plus 3/L for the bias."""
    law, L, query = LAWS["mixture"], 20_000, 0.5 * _normal(D)
    tokens = law.sample(stream(327, "gradients"), 50, L)
    finite = softmax_attention_gradients(tokens, query, U, V)
    limit = infinite_attention_gradients(law, query, U, V)
    for samples, expected in [(finite.U, limit.U), (finite.V, limit.V)]:
        error = samples.std(0) / math.sqrt(len(samples))
        gap = (samples.mean(0) - expected).abs()
        assert (gap <= STANDARD_ERRORS * error + 3 / L).all()


def test_linear_limit_of_gaussian_tokens_is_gamma_u(U, V):
    """Centred Gaussian tokens: linear attention has the same limit `V Gamma U z`.

    Unbiased at every L, so standard errors alone decide.
    """
    law, query = Gaussian(torch.zeros(D), LAWS["gaussian"].covariance), _normal(D)
    outputs = linear_attention(law.sample(stream(327, "linear"), 2_000, 50), query, U, V)
    error = outputs.std(0) / math.sqrt(len(outputs))
    limit = infinite_attention(law, query, U, V)
    assert ((outputs.mean(0) - limit).abs() <= STANDARD_ERRORS * error).all()


def _good():
    return {
        "tokens": _normal(4, 9, D),
        "query": _normal(4, D),
        "U": _normal(D, D),
        "V": _normal(M, D),
    }


@pytest.mark.parametrize(
    "function",
    [
        softmax_attention,
        softmax_attention_gradients,
        linear_attention,
        linear_attention_gradients,
    ],
)
@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("tokens", (D,)),
        ("tokens", (4, 0, D)),
        ("tokens", (4, 9, D + 1)),
        ("tokens", (3, 9, D)),
        ("query", ()),
        ("query", (4, D + 1)),
        ("U", (D, D + 1)),
        ("V", (D,)),
        ("V", (M, D + 1)),
    ],
)
def test_shapes_that_do_not_fit_are_refused(function, name, shape):
    with pytest.raises(InputError, match=r"shape|axes"):
        function(**{**_good(), name: torch.zeros(shape, dtype=torch.float64)})


def test_mixed_precision_is_refused():
    with pytest.raises(InputError, match="dtype"):
        softmax_attention(**{**_good(), "U": torch.zeros(D, D)})


@pytest.mark.parametrize("lengths", [[], [0, 3], [3, 3], [5, 2], [3, 10]])
def test_prefix_lengths_must_increase_within_the_prompt(lengths):
    with pytest.raises(InputError, match="lengths"):
        softmax_attention_prefixes(**_good(), lengths=lengths)
