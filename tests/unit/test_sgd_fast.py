import math

import numpy as np
import pytest
import torch
from scipy import stats

from largeprompt import kernels
from largeprompt.covariances import covariance_matrix
from largeprompt.errors import InputError
from largeprompt.heads import random_weights, theorem_weights
from largeprompt.kernels import counted_random, sgd_steps
from largeprompt.kernels.pooling import Frame, Keys
from largeprompt.regression import RegressionTask
from largeprompt.risk import population_risk_gradient
from largeprompt.seeding import stream
from largeprompt.sgd import train
from largeprompt.sgd_fast import CODES, train_fast
from largeprompt.sgd_run import TrainingSettings, checkpoint_names
from largeprompt.tables import read_arrays, write_arrays

Sigma = covariance_matrix("autoregressive", 2, rho=0.5)
NOISY = RegressionTask.as_stated(Sigma, 0.3, 0.5)
U = np.array([[0.9, -0.4, 0.3], [0.2, 0.7, -0.5], [-0.6, 0.5, 0.8]])
v = np.array([0.5, -0.3, 0.9])


def keys(seed=1):
    words = stream(seed, "keys").integers(2**32, size=(3, 2), dtype=np.uint32)
    return Keys(*((first, second) for first, second in words))


def problem(task, L, attention, batch):
    return sgd_steps.Problem(
        CODES[attention],
        L,
        batch,
        task.context_root,
        task.query_root,
        math.sqrt(task.noise_variance),
        math.sqrt(task.task_variance),
    )


# Random numbers


@pytest.mark.parametrize(
    ("key", "counter", "words"),
    [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((2**32 - 1, 2**32 - 1), (2**32 - 1, 2**32 - 1), (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    ],
)
def test_random_words_are_those_published_for_threefry(key, counter, words):
    key = tuple(map(np.uint32, key))
    assert counted_random.random_words(key, *map(np.uint32, counter)) == words


def normals(count, step=0):
    x, y = np.empty((2, count), np.float32)
    counted_random.fill_normals(keys().prompts, 0, step, x, y)
    return x.astype(float), y.astype(float)


def test_pairs_are_independent_standard_normals():
    """Two KS tests and 10 z-scores below 5: error probability below 1e-5."""
    x, y = normals(1_000_000)
    following, _ = normals(1_000_000, step=1)
    assert min(stats.kstest(x, "norm").pvalue, stats.kstest(y, "norm").pvalue) > 2e-6
    products = [x, y, x * y, x[1:] * x[:-1], x * following, y * following]
    squares = [x**2 - 1, y**2 - 1, (x**2 - 1) * (y**2 - 1), x**4 - 3]
    for sample in products + squares:
        assert abs(sample.mean()) < 5 * sample.std() / math.sqrt(sample.size)


def test_tails_of_normals_are_right_to_five_deviations():
    """Poisson counts of 2e7 numbers beyond 3, 4, 5; each within 5 deviations: below 1e-5."""
    sample = np.abs(np.concatenate(normals(10_000_000)))
    for bound in (3, 4, 5):
        expected = sample.size * 2 * stats.norm.sf(bound)
        assert abs((sample > bound).sum() - expected) < 5 * math.sqrt(expected)


def test_exponential_is_right_to_float32_and_has_a_floor():
    points = np.linspace(-42.9, 0, 400, dtype=np.float32)
    values = [counted_random.exponential(x) for x in points]
    np.testing.assert_allclose(values, np.exp(points.astype(float)), rtol=4e-6)
    np.testing.assert_allclose(values[-30:], np.exp(points[-30:].astype(float)), rtol=5e-7)
    assert counted_random.exponential(np.float32(-1e30)) == pytest.approx(math.exp(-43), rel=1e-5)


@pytest.mark.parametrize("L", [1, 2, 3, 10, 1000])
def test_wishart_factor_has_chi_columns(L):
    """Two KS tests a length, 10 in all: error probability below 1e-5."""
    batch = 50_000
    unit, zero = np.ones(batch), np.zeros(batch)
    frame = Frame(np.zeros((3, batch)), np.zeros((3, batch)), unit * L, zero, unit * L)
    first, second = np.zeros((4, batch)), np.zeros((4, batch))
    below = zero.astype(np.float32)
    sgd_steps.linear_coefficients(keys(), 0, L, frame, below, first, second)
    assert stats.kstest(first[0], stats.chi2(L).cdf).pvalue > 1e-6
    if L == 1:
        assert (second[1] == 0).all()
    else:
        assert stats.kstest(second[1], stats.chi2(L - 1).cdf).pvalue > 1e-6


# The law of a prompt's gradient


def features(error, first, second, inputs):
    """Rows (prompt, ...): error, loss, slopes in v and in U; first, second (D, prompt)."""
    slope_U = 2 * error * second[:, None] * inputs  # (D, d, prompt)
    slopes = np.concatenate([2 * error * first, slope_U.reshape(-1, error.size)])
    return np.concatenate([error[None], error[None] ** 2, slopes]).T


def sampled(task, weights, L, attention, count, spoil_frame=None, spoil_second=None):
    """Features as the compiled trainer draws them."""
    chosen, d = problem(task, L, attention, count), task.dimension
    prompts = sgd_steps.draw_prompts(chosen, keys(), 7)
    frame = sgd_steps.align(weights[0], weights[1][:, None], chosen, prompts)
    if spoil_frame is not None:
        frame = spoil_frame(frame)
    first, second = sgd_steps.draw_coefficients(chosen, keys(), 7, frame, prompts)
    if spoil_second is not None:
        spoil_second(second)
    error = frame.along * first[0] + frame.across * first[1] - prompts.targets
    rows = prompts.normals[2 * d + 1 : -1]
    free = [sgd_steps._off_axes(frame, part) for part in (rows[: d + 1], rows[d + 1 :])]
    pooled = [
        sgd_steps._colour(chosen, prompts.lifts, sgd_steps._combine(frame, part, *free))
        for part in (first, second)
    ]
    return features(error, *pooled, prompts.inputs)


def brute_force(task, weights, L, attention, count, rng):
    """Features from whole tokens; shares no code with the trainer."""
    U, v = weights
    d, parts, size = len(task.Sigma), [], max(1, 500_000 // max(L, 1))
    for start in range(0, count, size):
        n = min(size, count - start)
        w = rng.normal(0, math.sqrt(task.task_variance), (n, d))
        inputs = rng.multivariate_normal(np.zeros(d), task.query_covariance, n)
        target = (w * inputs).sum(1) + rng.normal(0, math.sqrt(task.noise_variance), n)
        a = np.concatenate([inputs, np.zeros((n, 1))], 1) @ U.T
        if attention == "infinite":
            pooled, second = exact_moments(task, w, a, v)
        else:
            x = rng.multivariate_normal(np.zeros(d), task.Sigma, (n, L))
            labels = np.einsum("nld,nd->nl", x, w)
            labels += rng.normal(0, math.sqrt(task.noise_variance), (n, L))
            pooled, second = moments(np.concatenate([x, labels[..., None]], 2), a, v, attention)
        parts.append(features(pooled @ v - target, pooled.T, second.T, inputs.T))
    return np.concatenate(parts)


def moments(tokens, a, v, attention):
    scores, values = np.einsum("nld,nd->nl", tokens, a), tokens @ v
    if attention == "linear":
        p = np.full(scores.shape, 1 / scores.shape[1])
        return ((p * scores)[..., None] * tokens).sum(1), ((p * values)[..., None] * tokens).sum(1)
    p = np.exp(scores - scores.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    off = values - (p * values).sum(1, keepdims=True)
    return (p[..., None] * tokens).sum(1), ((p * off)[..., None] * tokens).sum(1)


def exact_moments(task, w, a, v):
    firsts, seconds = [], []
    for task_weights, score in zip(w, a, strict=True):
        side = task.Sigma @ task_weights
        corner = task_weights @ side + task.noise_variance
        Gamma = np.block([[task.Sigma, side[:, None]], [side[None], np.array([[corner]])]])
        firsts.append(Gamma @ score)
        seconds.append(Gamma @ v)
    return np.array(firsts), np.array(seconds)


def agreement(left, right):
    """Smallest p-value, times their number, of tests that two samples (row, feature) share a law.

    KS tests of the features and of random projections; z-tests of means, and of means and products
    of bounded images. Values that are rounding noise around zero are put to zero: KS ranks them.
    """
    both = np.concatenate([left, right])
    both[np.abs(both) < 1e-7] = 0
    both = both[:, both.any(0)]
    scaled = both / np.abs(both).mean(0)
    directions = stream(5, "directions").standard_normal((scaled.shape[1], 20))
    bounded = scaled / (1 + np.abs(scaled))
    i, j = np.triu_indices(bounded.shape[1])
    compared = np.concatenate([scaled, bounded, bounded[:, i] * bounded[:, j]], 1)
    one, two = compared[: len(left)], compared[len(left) :]
    gap = one.mean(0) - two.mean(0)
    deviation = np.sqrt(one.var(0) / len(one) + two.var(0) / len(two))
    p_values = [*2 * stats.norm.sf(np.abs(gap[deviation > 0] / deviation[deviation > 0]))]
    for column in np.concatenate([scaled, scaled @ directions], 1).T:
        p_values.append(
            stats.ks_2samp(column[: len(left)], column[len(left) :], method="asymp").pvalue
        )
    return min(p_values) * len(p_values)


GENERIC = (U, v)
EXACT = RegressionTask.as_stated(Sigma, 0.0, 0.5)
CODED = RegressionTask.as_coded(Sigma, 0.3, 0.5)
# Tasks that differ little leave the noise of the tokens in plain sight.
QUIET = RegressionTask.as_stated(Sigma, 0.3, 0.05)
SINGULAR = RegressionTask.as_stated(np.array([[1.0, 1.0], [1.0, 1.0]]), 0.3, 0.5)
# With one noise-free input Gamma has rank one: scores and values are parallel.
RANK_ONE = RegressionTask.as_stated(np.eye(1), 0.0, 1.0)
SPECIAL = {
    "sharp scores": (NOISY, (6 * U, v), 4),
    "no scores": (NOISY, (0 * U, v), 4),
    "no values": (NOISY, (U, 0 * v), 4),
    "parallel scores and values": (NOISY, (np.outer(v, U[0]), v), 4),
    "rank one": (RANK_ONE, (U[:2, :2], v[:2]), 4),
    "singular inputs": (SINGULAR, GENERIC, 4),
    "as coded": (CODED, GENERIC, 4),
    "quiet tasks": (QUIET, GENERIC, 4),
}


@pytest.mark.parametrize("L", [1, 2, 10, 1000])
@pytest.mark.parametrize("task", [NOISY, EXACT], ids=["noise", "no noise"])
@pytest.mark.parametrize("attention", ["softmax", "linear"])
def test_gradient_of_a_prompt_has_the_law_of_brute_force(attention, task, L):
    """16 cases: error probability below 2e-4."""
    count = 20_000 if L < 1000 else 3_000
    left = sampled(task, GENERIC, L, attention, count)
    right = brute_force(task, GENERIC, L, attention, count, stream(2, "brute", L))
    assert agreement(left, right) > 1e-5


@pytest.mark.parametrize("case", SPECIAL)
@pytest.mark.parametrize("attention", ["softmax", "linear"])
def test_gradient_has_the_law_of_brute_force_in_special_cases(attention, case):
    """16 cases: error probability below 2e-4."""
    task, weights, L = SPECIAL[case]
    left = sampled(task, weights, L, attention, 20_000)
    right = brute_force(task, weights, L, attention, 20_000, stream(3, "brute", case))
    assert agreement(left, right) > 1e-5


@pytest.mark.parametrize("task", [NOISY, EXACT], ids=["noise", "no noise"])
def test_infinite_gradient_has_the_law_of_brute_force(task):
    """Two cases: error probability below 2e-5."""
    left = sampled(task, GENERIC, 0, "infinite", 20_000)
    right = brute_force(task, GENERIC, 0, "infinite", 20_000, stream(4, "brute"))
    assert agreement(left, right) > 1e-5


def not_orthogonal(frame):
    """The value axis along G^T v itself, taken for orthogonal to the scores."""
    whole = np.hypot(frame.along, frame.across)
    axis = (frame.along * frame.score_axis + frame.across * frame.value_axis) / whole
    return Frame(frame.score_axis, axis, frame.score, 0 * whole, whole)


def without_rest(second):
    second[3] = 0


@pytest.mark.parametrize("attention", ["softmax", "linear"])
@pytest.mark.parametrize("spoil", [{"spoil_frame": not_orthogonal}, {"spoil_second": without_rest}])
def test_wrong_samplers_are_told_from_brute_force(attention, spoil):
    left = sampled(QUIET, GENERIC, 4, attention, 40_000, **spoil)
    right = brute_force(QUIET, GENERIC, 4, attention, 40_000, stream(2, "brute"))
    assert agreement(left, right) < 1e-8


def test_linear_attention_without_its_noise_is_told_from_brute_force():
    left = sampled(QUIET, GENERIC, 0, "infinite", 5_000)
    right = brute_force(QUIET, GENERIC, 10, "linear", 5_000, stream(2, "brute"))
    assert agreement(left, right) < 1e-8


# Steps


@pytest.mark.parametrize("attention", CODES)
def test_gradient_of_a_batch_is_the_mean_over_its_prompts(attention):
    chosen = problem(CODED, 10, attention, 50)
    slope_U, slope_v = np.empty((3, 3)), np.empty((3, 1))
    loss = sgd_steps.gradient(U, v[:, None], chosen, keys(), 7, slope_U, slope_v)
    means = sampled(CODED, GENERIC, 10, attention, 50).mean(0)
    assert loss == pytest.approx(means[1], rel=1e-6)
    np.testing.assert_allclose(slope_v[:, 0], means[2:5], rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(slope_U[:, :2].ravel(), means[5:], rtol=1e-5, atol=1e-7)
    assert (slope_U[:, 2] == 0).all()


@pytest.mark.parametrize("attention", ["softmax", "linear"])
def test_mean_gradient_is_that_of_the_exact_risk(attention):
    """Two cases of 10 z-scores below 5: error probability below 2e-5."""
    steps, chosen, streams = 10_000, problem(CODED, 10, attention, 256), keys()
    slope_U, slope_v = np.empty((3, 3)), np.empty((3, 1))
    found = []
    for step in range(steps):
        loss = sgd_steps.gradient(U, v[:, None], chosen, streams, step, slope_U, slope_v)
        found.append([loss, *slope_U[:, :2].ravel(), *slope_v[:, 0]])
    exact = population_risk_gradient(
        U, v, CODED.Sigma, 0.3, 0.5, 10, attention, CODED.query_covariance
    )
    expected = [exact.value, *exact.gradient_U[:, :2].ravel(), *exact.gradient_v]
    error = np.std(found, 0) / math.sqrt(steps)
    assert (np.abs(np.mean(found, 0) - expected) < 5 * error).all()


TASK = RegressionTask.as_stated(covariance_matrix("autoregressive", 3, rho=0.5), 0.1, 1 / 3)
LENGTHS = {"softmax": 7, "linear": 7, "infinite": math.inf}
SETTINGS = TrainingSettings(
    steps=24, learning_rate=0.05, batch_size=8, loss_every=4, save_every=6, checkpoint_every=5
)


@pytest.fixture(autouse=True)
def _one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def initial(kind):
    if kind == "factorised":
        return random_weights(stream(1, "weights"), 3)
    return {name: value + 0.1 for name, value in theorem_weights(0.7, 3).items()}


def run(attention, kind="factorised", settings=SETTINGS, seed=327, trainer=train_fast, **options):
    rng = stream(seed, "prompts")
    length = LENGTHS[attention]
    return trainer(initial(kind), TASK, length, attention, settings, rng, **options)


def changed(**values):
    return TrainingSettings(**(vars(SETTINGS) | values))


def assert_same_run(first, second):
    np.testing.assert_array_equal(first.step, second.step)
    np.testing.assert_array_equal(first.loss, second.loss)
    np.testing.assert_array_equal(first.saved_step, second.saved_step)
    for name, value in first.weights.items():
        np.testing.assert_array_equal(value, second.weights[name])


def test_a_step_on_the_factors_follows_the_chain_rule():
    """Against autograd through the products, for the slopes that merged weights go down."""
    settings = changed(steps=1, loss_every=1, save_every=1, learning_rate=100.0)
    factors = initial("factorised")
    leaves = {
        name: torch.tensor(value.astype(np.float32)).double().requires_grad_()
        for name, value in factors.items()
    }
    merged = leaves["K"].T @ leaves["Q"] / 2, (leaves["O"] @ leaves["V"])[0]
    start = dict(zip("Uv", (part.detach().numpy() for part in merged), strict=True))
    after = train_fast(start, TASK, 7, "softmax", settings, stream(1, "p")).weights
    slopes = [torch.tensor((after[n][0] - after[n][1]) / 100.0).double() for n in "Uv"]
    sum((part * slope).sum() for part, slope in zip(merged, slopes, strict=True)).backward()
    moved = train_fast(factors, TASK, 7, "softmax", settings, stream(1, "p")).weights
    for name, leaf in leaves.items():
        slope = (moved[name][0] - moved[name][1]) / 100.0
        np.testing.assert_allclose(slope, leaf.grad.numpy(), rtol=1e-3, atol=1e-5)


def test_attentions_share_tasks_queries_and_targets():
    """A head that is silent has the mean square of the targets as its loss."""
    settings = changed(steps=4, save_every=4, learning_rate=1e-30)
    silent = {"U": np.ones((4, 4)), "v": np.zeros(4)}
    losses = [
        train_fast(silent, TASK, L, attention, settings, stream(1, "p")).loss[0]
        for attention, L in LENGTHS.items()
    ]
    assert losses[0] == losses[1] == losses[2]


def test_what_is_recorded_does_not_change_the_steps():
    coarse = run("softmax")
    fine = run("softmax", settings=changed(loss_every=1, save_every=1, checkpoint_every=1))
    np.testing.assert_allclose(coarse.loss, fine.loss.reshape(6, 4).mean(1), rtol=1e-12)
    for name, value in initial("factorised").items():
        np.testing.assert_array_equal(coarse.weights[name][0], value.astype(np.float32))
        np.testing.assert_array_equal(coarse.weights[name], fine.weights[name][::6])


def test_runs_depend_on_their_seed_alone():
    softmax, linear = run("softmax"), run("linear")
    assert_same_run(run("linear"), linear)
    assert_same_run(run("softmax"), softmax)
    assert (run("softmax", seed=328).loss != softmax.loss).all()


SHORT = TrainingSettings(
    steps=60, learning_rate=0.02, batch_size=16, loss_every=10, save_every=20, checkpoint_every=60
)


def histories(trainer, attention, kind):
    """Losses and weights at every record (seed, record) of 20 runs."""
    runs = [run(attention, kind, SHORT, seed, trainer) for seed in range(20)]
    return np.array(
        [
            np.concatenate([r.loss, *(value[1:].ravel() for value in r.weights.values())])
            for r in runs
        ]
    )


def deviation(left, right):
    """Largest Welch statistic of the columns; those that never vary must be equal."""
    gap = left.mean(0) - right.mean(0)
    error = np.sqrt((left.var(0, ddof=1) + right.var(0, ddof=1)) / len(left))
    assert (gap[error == 0] == 0).all()
    return np.abs(gap[error > 0] / error[error > 0]).max()


@pytest.mark.parametrize("kind", ["factorised", "merged"])
@pytest.mark.parametrize("attention", LENGTHS)
def test_both_trainers_run_alike_over_seeds(attention, kind):
    """At most 162 t statistics of 38 degrees of freedom a case: error probability below 2e-4."""
    assert deviation(*(histories(f, attention, kind) for f in (train, train_fast))) < 6.5


def test_linear_training_without_token_noise_is_told_apart():
    assert (
        deviation(histories(train, "linear", "merged"), histories(train_fast, "infinite", "merged"))
        > 6.5
    )


# Checkpoints and refusals


@pytest.mark.parametrize("attention", LENGTHS)
@pytest.mark.parametrize("kind", ["factorised", "merged"])
@pytest.mark.parametrize("cut", [5, 10, 15, 20])
def test_a_resumed_run_equals_the_uninterrupted_one(tmp_path, attention, kind, cut):
    states = {}
    whole = run(attention, kind, checkpoint=lambda s: states.update({int(s["step"]): s}))
    assert sorted(states) == [5, 10, 15, 20]
    write_arrays(tmp_path / "state.npz", **states[cut])
    resume = read_arrays(tmp_path / "state.npz", checkpoint_names(initial(kind)))
    assert_same_run(run(attention, kind, resume=resume), whole)


def test_a_checkpoint_of_the_other_trainer_is_refused():
    states = []
    run("softmax", trainer=train, checkpoint=states.append)
    with pytest.raises(InputError, match="another run: sampler = literal, must be pooled"):
        run("softmax", resume=states[0])


@pytest.mark.parametrize("kind", ["factorised", "merged"])
@pytest.mark.parametrize("attention", LENGTHS)
def test_divergence_is_an_error_that_names_the_run(attention, kind):
    named = (
        rf"attention = {attention}, L = {LENGTHS[attention]:g}, step = \d+, loss = \S+, .* 10000:"
    )
    with pytest.raises(InputError, match=named):
        run(attention, kind, settings=changed(learning_rate=1e4))


def test_progress_reports_every_window():
    reports = []
    history = run("linear", progress=lambda step, loss: reports.append((step, loss)))
    assert reports == list(zip(history.step.tolist(), history.loss.tolist(), strict=True))


def test_batches_that_cannot_be_counted_are_refused():
    with pytest.raises(InputError, match="L = 1000000000: L \\* batch_size must be below"):
        train_fast(initial("merged"), TASK, 10**9, "softmax", SETTINGS, stream(1, "p"))


# Machine code


def test_machine_code_is_kept_apart_for_every_state_of_the_code(tmp_path):
    (tmp_path / "one.py").write_text("1")
    before = kernels.code_digest(tmp_path)
    (tmp_path / "two.py").write_text("2")
    between = kernels.code_digest(tmp_path)
    (tmp_path / "one.py").write_text("3")
    assert len({before, between, kernels.code_digest(tmp_path)}) == 3


def test_machine_code_goes_to_the_first_place_that_can_be_written(tmp_path):
    (tmp_path / "file").touch()
    closed, open_place = tmp_path / "file" / "folder", tmp_path / "open"
    assert kernels.cache_folder([closed, open_place]).parent == open_place
    assert kernels.cache_folder([closed]) is None
