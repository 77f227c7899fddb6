import json
import math

import numpy as np
import pytest
import torch
from torch.overrides import TorchFunctionMode

from largeprompt import regression, sgd
from largeprompt.attention import linear_attention, softmax_attention
from largeprompt.covariances import covariance_matrix
from largeprompt.errors import InputError
from largeprompt.heads import products, random_weights, theorem_weights
from largeprompt.regression import RegressionTask, sample_prompts
from largeprompt.seeding import stream
from largeprompt.sgd import predict, train
from largeprompt.sgd_run import TrainingSettings, checkpoint_names
from largeprompt.tables import read_arrays, write_arrays

Sigma = covariance_matrix("autoregressive", 3, rho=0.5)
TASK = RegressionTask.as_stated(Sigma, 0.1, 1 / 3)
LENGTHS = {"softmax": 7, "linear": 7, "infinite": math.inf}
SETTINGS = TrainingSettings(
    steps=24, learning_rate=0.05, batch_size=8, loss_every=4, save_every=6, checkpoint_every=5
)


@pytest.fixture(autouse=True)
def _one_thread():
    """Batches this small gain nothing from threads, and lose much on a busy machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def initial(kind):
    if kind == "factorised":
        return random_weights(stream(1, "weights"), 3)
    return {name: value + 0.1 for name, value in theorem_weights(0.7, 3).items()}


def run(attention, weights=None, settings=SETTINGS, seed=327, task=TASK, **options):
    weights = initial("factorised") if weights is None else weights
    rng = stream(seed, "prompts")
    return train(weights, task, LENGTHS[attention], attention, settings, rng, **options)


def changed(**values):
    return TrainingSettings(**(vars(SETTINGS) | values))


def tensors(weights, dtype=torch.float64):
    return {name: torch.tensor(value, dtype=dtype) for name, value in weights.items()}


def assert_same_run(first, second):
    np.testing.assert_array_equal(first.step, second.step)
    np.testing.assert_array_equal(first.loss, second.loss)
    np.testing.assert_array_equal(first.saved_step, second.saved_step)
    for name, value in first.weights.items():
        np.testing.assert_array_equal(value, second.weights[name])


# The head


@pytest.mark.parametrize("attention", ["softmax", "linear"])
def test_factorised_head_is_literal_attention(attention):
    """Brute force token by token: keys, scaled scores, values, output row."""
    weights = initial("factorised")
    prompts = sample_prompts(stream(2, "p"), TASK, 3, 6)
    predictions = predict(tensors(weights), attention, TASK, prompts)
    for p in range(3):
        query = weights["Q"] @ prompts.query[p].numpy()
        tokens = list(prompts.tokens[p].numpy())
        scores = [(weights["K"] @ token) @ query / math.sqrt(4) for token in tokens]
        total = sum(math.exp(score) for score in scores)
        parts = [math.exp(s) / total if attention == "softmax" else s / 6 for s in scores]
        values = [part * (weights["V"] @ token) for part, token in zip(parts, tokens, strict=True)]
        expected = (weights["O"] @ np.sum(values, axis=0))[0]
        assert predictions[p].item() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("kind", ["factorised", "merged"])
@pytest.mark.parametrize(
    ("attention", "operator"), [("softmax", softmax_attention), ("linear", linear_attention)]
)
def test_head_agrees_with_the_attention_operators(kind, attention, operator):
    weights = tensors(initial(kind))
    prompts = sample_prompts(stream(3, "p"), TASK, 5, 40)
    U, v = products(weights)
    expected = operator(prompts.tokens, prompts.query, U, v[None])[:, 0]
    torch.testing.assert_close(predict(weights, attention, TASK, prompts), expected)


@pytest.mark.parametrize("attention", LENGTHS)
def test_heads_with_equal_products_predict_alike(attention):
    factorised = tensors(initial("factorised"))
    U, v = products(factorised)
    prompts = sample_prompts(stream(4, "p"), TASK, 5, 9)
    torch.testing.assert_close(
        predict({"U": U, "v": v}, attention, TASK, prompts),
        predict(factorised, attention, TASK, prompts),
    )


def test_products_of_saved_weights_keep_the_steps_apart():
    saved = run("linear").weights
    U, v = products(saved)
    assert U.shape == (5, 4, 4)
    assert v.shape == (5, 4)
    for i in range(5):
        last = {name: value[i] for name, value in saved.items()}
        np.testing.assert_allclose(U[i], last["K"].T @ last["Q"] / 2, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(v[i], last["V"].T @ last["O"][0], rtol=1e-5, atol=1e-7)


def test_infinite_head_is_the_softmax_head_at_a_million_tokens():
    """Error of a prompt by the delta method; 4 z-scores above 5 have probability below 3e-6.
    The control takes the tokens for as-coded ones."""
    weights = {name: 1.5 * value for name, value in tensors(initial("factorised")).items()}
    prompts = sample_prompts(stream(5, "p"), TASK, 4, 1_000_000)
    infinite = predict(weights, "infinite", TASK, prompts)
    coded = RegressionTask.as_coded(Sigma, 0.1, 1 / 3)
    wrong = predict(weights, "infinite", coded, prompts)
    finite = predict(weights, "softmax", TASK, prompts)
    U, v = products(weights)
    spread = [
        delta_method_error(prompts.tokens[p], U @ prompts.query[p], v, finite[p]) for p in range(4)
    ]
    assert ((finite - infinite).abs() < 5 * torch.stack(spread)).all()
    assert ((finite - wrong).abs() > 5 * torch.stack(spread)).any()


def delta_method_error(tokens, a, v, mean):
    p = torch.softmax(tokens @ a, 0)
    return (p**2 * (tokens @ v - mean) ** 2).sum().sqrt()


@pytest.mark.parametrize("attention", LENGTHS)
@pytest.mark.parametrize("kind", ["factorised", "merged"])
def test_loss_gradient_agrees_with_finite_differences(attention, kind):
    prompts = sample_prompts(stream(6, "p"), TASK, 5, 7)

    def loss(weights):
        return ((predict(weights, attention, TASK, prompts) - prompts.target) ** 2).mean()

    weights = tensors(initial(kind))
    leaves = {name: value.clone().requires_grad_() for name, value in weights.items()}
    loss(leaves).backward()
    for name, value in weights.items():
        for index in np.ndindex(*value.shape):
            step = torch.zeros_like(value)
            step[index] = 1e-6
            above, below = (loss(weights | {name: value + s * step}) for s in (1, -1))
            slope = (above - below).item() / 2e-6
            assert leaves[name].grad[index].item() == pytest.approx(slope, rel=1e-6, abs=1e-8)


# Initial weights


def test_random_weights_fill_the_default_interval():
    """Among 2000 draws of 42 entries the extremes are within 1e-3 of the ends; P(miss) < 1e-15."""
    draws = [random_weights(stream(seed, "w"), 2) for seed in range(2000)]
    entries = np.array([np.concatenate([w.ravel() for w in draw.values()]) for draw in draws])
    assert {name: value.shape for name, value in draws[0].items()} == {
        "Q": (3, 3),
        "K": (3, 3),
        "V": (3, 3),
        "O": (1, 3),
    }
    bound = 1 / math.sqrt(3)
    assert bound - 1e-3 < entries.max() <= bound
    assert -bound <= entries.min() < -bound + 1e-3


def test_theorem_weights_are_the_balanced_start():
    weights = theorem_weights(0.3, 4)
    U, v = products(weights)
    assert np.linalg.norm(U) == pytest.approx(0.3)
    np.testing.assert_allclose(U[:4, :4], 0.15 * np.eye(4))
    assert (U[4] == 0).all()
    assert (U[:, 4] == 0).all()
    np.testing.assert_allclose(v, [0, 0, 0, 0, 0.3])


# Training


def spy_on_prompts(monkeypatch):
    seen = []

    def spy(*arguments, **options):
        seen.append(sample_prompts(*arguments, **options))
        return seen[-1]

    monkeypatch.setattr(sgd, "sample_prompts", spy)
    return seen


def test_softmax_and_linear_see_the_same_prompts(monkeypatch):
    seen = spy_on_prompts(monkeypatch)
    run("softmax")
    run("linear")
    assert len(seen) == 48
    for first, second in zip(seen[:24], seen[24:], strict=True):
        assert torch.equal(first.tokens, second.tokens)
        assert torch.equal(first.target, second.target)
    assert not torch.equal(seen[0].tokens, seen[1].tokens)


@pytest.mark.parametrize("attention", LENGTHS)
def test_a_step_goes_down_the_gradient_of_the_squared_error(monkeypatch, attention):
    seen = spy_on_prompts(monkeypatch)
    settings = changed(steps=1, loss_every=1, save_every=1)
    history = run(attention, settings=settings)
    prompts = seen[0]
    leaves = {
        k: w.requires_grad_() for k, w in tensors(initial("factorised"), torch.float32).items()
    }
    loss = ((predict(leaves, attention, TASK, prompts) - prompts.target) ** 2).mean()
    loss.backward()
    assert history.loss[0] == pytest.approx(loss.item(), rel=1e-6)
    for name, leaf in leaves.items():
        expected = (leaf - 0.05 * leaf.grad).detach().numpy()
        np.testing.assert_allclose(history.weights[name][1], expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("attention", LENGTHS)
def test_training_lowers_the_loss(attention):
    """Against weights that hardly move, on the same 6400 prompts of the last window."""
    settings = {"steps": 600, "batch_size": 64, "loss_every": 100, "save_every": 600}
    trained = run(attention, settings=changed(learning_rate=0.1, **settings))
    frozen = run(attention, settings=changed(learning_rate=1e-9, **settings))
    assert trained.loss[-1] < 0.9 * frozen.loss[-1]


def test_history_holds_window_means_and_weights_at_their_steps():
    coarse = run("softmax")
    fine = run("softmax", settings=changed(loss_every=1, save_every=1))
    np.testing.assert_array_equal(coarse.step, [4, 8, 12, 16, 20, 24])
    np.testing.assert_allclose(coarse.loss, fine.loss.reshape(6, 4).mean(1), rtol=1e-12)
    np.testing.assert_array_equal(coarse.saved_step, [0, 6, 12, 18, 24])
    for name, value in initial("factorised").items():
        np.testing.assert_array_equal(coarse.weights[name][0], value.astype(np.float32))
        np.testing.assert_array_equal(coarse.weights[name], fine.weights[name][::6])


def test_progress_reports_every_window():
    reports = []
    history = run("linear", progress=lambda step, loss: reports.append((step, loss)))
    assert reports == list(zip(history.step.tolist(), history.loss.tolist(), strict=True))


def test_runs_do_not_depend_on_their_order_or_on_global_seeds():
    softmax, linear = run("softmax"), run("linear")
    torch.manual_seed(99)
    assert_same_run(run("linear"), linear)
    assert_same_run(run("softmax"), softmax)
    assert (run("softmax", seed=328).loss != softmax.loss).all()


# Checkpoints


@pytest.mark.parametrize("attention", LENGTHS)
@pytest.mark.parametrize("kind", ["factorised", "merged"])
@pytest.mark.parametrize("cut", [5, 10, 15, 20])
def test_a_resumed_run_equals_the_uninterrupted_one(tmp_path, attention, kind, cut):
    weights, states = initial(kind), {}
    whole = run(attention, weights, checkpoint=lambda s: states.update({int(s["step"]): s}))
    assert sorted(states) == [5, 10, 15, 20]
    write_arrays(tmp_path / "state.npz", **states[cut])
    resume = read_arrays(tmp_path / "state.npz", checkpoint_names(weights))
    assert_same_run(run(attention, weights, resume=resume), whole)


def test_a_finished_run_can_be_extended():
    states = []
    run("softmax", settings=changed(steps=12, checkpoint_every=12), checkpoint=states.append)
    assert_same_run(run("softmax", resume=states[-1]), run("softmax"))


def checkpoint_of(**options):
    states = []
    run("softmax", checkpoint=states.append, **options)
    return states[-1]


def test_a_checkpoint_of_another_run_is_refused():
    state = checkpoint_of()
    with pytest.raises(InputError, match=r"another run: learning_rate = 0.05, must be 0.06"):
        run("softmax", resume=state, settings=changed(learning_rate=0.06))
    with pytest.raises(InputError, match=r"another run: seed = \d+, must be \d+"):
        run("softmax", resume=state, seed=328)
    with pytest.raises(InputError, match="another run: attention = softmax, must be linear"):
        run("linear", resume=state)
    coded = RegressionTask.as_coded(Sigma, 0.1, 1 / 3)
    with pytest.raises(InputError, match="another run: Sigma = "):
        run("softmax", resume=state, task=coded)
    with pytest.raises(InputError, match="other initial weights"):
        run("softmax", random_weights(stream(2, "weights"), 3), resume=state)
    with pytest.raises(InputError, match="is at step 20: must not be past steps = 12"):
        run("softmax", settings=changed(steps=12), resume=state)


def test_a_checkpoint_names_its_run_in_plain_json():
    setup = json.loads(str(checkpoint_of()["setup"]))
    assert setup["attention"] == "softmax"
    assert setup["L"] == 7
    assert setup["learning_rate"] == 0.05


# Refusals


@pytest.mark.parametrize("attention", LENGTHS)
def test_divergence_is_an_error_that_names_the_run(attention):
    settings = changed(learning_rate=1e4)
    length = f"{LENGTHS[attention]:g}"
    named = (
        rf"attention = {attention}, L = {length}, step = \d+, loss = \S+, learning_rate = 10000:"
    )
    with pytest.raises(InputError, match=named):
        run(attention, settings=settings)


def test_weights_that_overflow_at_the_last_step_are_an_error():
    settings = changed(steps=1, loss_every=1, save_every=1, learning_rate=3e38)
    task = RegressionTask.as_stated(Sigma, 0.1, 1e4)
    with pytest.raises(InputError, match=r"diverged: .* step = 1, loss = \d"):
        run("softmax", settings=settings, task=task)


@pytest.mark.parametrize(
    ("L", "attention", "named"),
    [
        (5, "hardmax", "attention = 'hardmax'"),
        (5, "infinite", "L = 5: infinite"),
        (math.inf, "softmax", "L = inf: softmax"),
        (0, "linear", "L = 0: linear"),
        (2.5, "linear", "L = 2.5: linear"),
    ],
)
def test_lengths_that_do_not_fit_the_attention_are_refused(L, attention, named):
    with pytest.raises(InputError, match=named):
        train(initial("merged"), TASK, L, attention, SETTINGS, stream(1, "p"))


def test_prediction_by_an_unknown_attention_is_refused():
    prompts = sample_prompts(stream(7, "p"), TASK, 2, 3)
    with pytest.raises(InputError, match="attention = 'hardmax'"):
        predict(tensors(initial("merged")), "hardmax", TASK, prompts)


def test_weights_of_another_size_or_name_are_refused():
    with pytest.raises(InputError, match="tokens of size 6: the task has size 4"):
        run("softmax", random_weights(stream(1, "w"), 5))
    with pytest.raises(InputError, match="weights named U, V"):
        run("softmax", {"U": np.eye(4), "V": np.eye(4)})


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"learning_rate": 0.0}, "learning_rate = 0.0"),
        ({"learning_rate": math.nan}, "learning_rate = nan"),
        ({"steps": -1}, "steps = -1"),
        ({"batch_size": 0}, "batch_size = 0"),
        ({"loss_every": 5}, "steps = 24: must be a multiple of loss_every = 5"),
        ({"save_every": 7}, "steps = 24: must be a multiple of save_every = 7"),
    ],
)
def test_settings_that_do_not_fit_are_refused(values, named):
    with pytest.raises(InputError, match=named):
        changed(**values)


@pytest.mark.parametrize("alpha", [0.0, -1.0, math.inf])
def test_a_start_that_is_not_positive_is_refused(alpha):
    with pytest.raises(InputError, match=f"alpha = {alpha}"):
        theorem_weights(alpha, 3)


# GPU


class OnMeta(TorchFunctionMode):
    """Every tensor that is made lies on the device without values, which stands for a GPU."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        if isinstance(made, torch.Tensor):
            assert made.device.type == "meta", function
        return made


@pytest.mark.parametrize("attention", LENGTHS)
def test_a_step_stays_on_the_device_of_its_prompts(attention, monkeypatch):
    monkeypatch.setattr(
        regression, "_normals", lambda rng, *form: torch.empty(*form[:-1], device="meta")
    )
    with OnMeta():
        weights = {
            name: torch.empty(value.shape, device="meta", requires_grad=True)
            for name, value in initial("factorised").items()
        }
        prompts = sample_prompts(None, TASK, 4, 5, dtype=torch.float32)
        loss = torch.nn.functional.mse_loss(
            predict(weights, attention, TASK, prompts), prompts.target
        )
        loss.backward()
        assert weights["Q"].grad.shape == (4, 4)
        with pytest.raises(AssertionError):
            torch.eye(3)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_gpu_that_is_not_there_is_named():
    with pytest.raises(InputError, match=r"device = cuda: torch .* finds no GPU; must be cpu"):
        run("softmax", device="cuda")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_training_on_a_gpu_goes_on_as_if_uninterrupted():
    states = []
    whole = run("softmax", device="cuda", checkpoint=states.append)
    assert_same_run(run("softmax", device="cuda", resume=states[1]), whole)
    with pytest.raises(InputError, match="device = cuda, must be cpu"):
        run("softmax", resume=states[1])
