"""Training by plain SGD on fresh prompts: the protocol of the experiments (paper, section 6)."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch

from largeprompt.errors import InputError
from largeprompt.heads import Arrays, products
from largeprompt.regression import Prompts, RegressionTask, sample_prompts, token_covariance

ATTENTIONS = ("softmax", "linear", "infinite")
# The zero prediction has a loss near 1 in the paper's tasks; training that starts in any
# sensible way stays far below this.
HUGE_LOSS = 1e6


@dataclass(frozen=True)
class TrainingSettings:
    """How long and how fast to train, and what to keep.

    The loss is recorded as its mean over each window of `loss_every` steps, the weights at step 0
    and every `save_every` steps; a checkpoint is offered every `checkpoint_every` steps. The run
    ends on a record: `steps` is a multiple of `loss_every` and `save_every`. Raises InputError.
    """

    steps: int
    learning_rate: float
    batch_size: int
    loss_every: int
    save_every: int
    checkpoint_every: int

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not 0 < value < math.inf:
                raise InputError(f"{field.name} = {value}: must be positive and finite")
        for name in ("loss_every", "save_every"):
            if self.steps % getattr(self, name):
                raise InputError(
                    f"steps = {self.steps}: must be a multiple of {name} = {getattr(self, name)}"
                )


@dataclass(frozen=True, eq=False)
class TrainingRun:
    """History of a run: `loss[i]` is the mean over the window ending at `step[i]`; float32 weights.

    step, loss (windows,); saved_step (saves,); weights: name -> (saves, ...).
    """

    step: np.ndarray
    loss: np.ndarray
    saved_step: np.ndarray
    weights: Arrays


def predict(
    weights: Mapping[str, torch.Tensor], attention: str, task: RegressionTask, prompts: Prompts
) -> torch.Tensor:
    """Prediction (prompt,) of the head; infinite attention knows Gamma_w and reads no tokens.

    The operators of `attention.py` for one query a prompt, without their chunks and checks, which
    would cost a third of a training step. Raises InputError for an unknown attention.
    """
    _check_attention(attention)
    U, v = products(weights)
    tokens, row = prompts.tokens, (prompts.query @ U.mT)[:, None, :]  # (prompt, 1, D)
    if attention == "softmax":
        pooled = torch.softmax(row @ tokens.mT, -1) @ tokens
    elif attention == "linear":
        pooled = row @ (tokens.mT @ tokens) / tokens.shape[-2]
    else:
        pooled = row @ token_covariance(prompts.weights, task.Sigma, task.noise_variance)
    return pooled[:, 0, :] @ v


def train(
    weights: Mapping[str, np.ndarray],
    task: RegressionTask,
    L: float,
    attention: str,
    settings: TrainingSettings,
    rng: np.random.Generator,
    resume: Arrays | None = None,
    checkpoint: Callable[[Arrays], None] | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> TrainingRun:
    """Train a head from `weights`, one fresh batch a step, mean squared error, float32.

    attention is softmax, linear or infinite, the last with L = inf. The prompts depend on rng,
    task, L and batch size alone: softmax and linear heads see the same. `checkpoint` is given the
    state as flat arrays; passed back as `resume`, all other arguments unchanged (only more steps
    are allowed), the run goes on as if uninterrupted. `progress(step, loss)` is called at the
    end of each loss window. Raises InputError for arguments that do not fit together, a foreign
    `resume`, and a loss that diverges.
    """
    _check_request(weights, task, L, attention)
    state = _State(weights, rng, _setup(task, L, attention, settings))
    if resume is not None:
        state.restore(resume, settings.steps)
    tokens = 0 if attention == "infinite" else int(L)
    optimizer = torch.optim.SGD(state.weights.values(), lr=settings.learning_rate)
    while state.step < settings.steps:
        prompts = sample_prompts(
            state.generator, task, settings.batch_size, tokens, dtype=torch.float32
        )
        prediction = predict(state.weights, attention, task, prompts)
        loss = torch.nn.functional.mse_loss(prediction, prompts.target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        state.record(loss.item(), settings)
        if progress is not None and state.step % settings.loss_every == 0:
            progress(state.step, state.losses[-1])
        if checkpoint is not None and state.step % settings.checkpoint_every == 0:
            checkpoint(state.arrays())
    return state.run(settings)


def checkpoint_names(weights: Mapping[str, Any]) -> list[str]:
    """Names of the arrays in a checkpoint of a run that starts from `weights`."""
    return [*_PLAIN, *(prefix + name for prefix in ("now_", "saved_") for name in weights)]


_PLAIN = ("setup", "step", "generator", "window_loss", "loss")


class _State:
    """Everything that a run needs to go on; plain SGD itself keeps nothing between steps."""

    def __init__(
        self, weights: Mapping[str, np.ndarray], rng: np.random.Generator, setup: dict
    ) -> None:
        # Prompts come from torch's generator: numpy's would double a step's time at L = 1000.
        seed = int(rng.integers(2**32))
        self.generator = torch.Generator().manual_seed(seed)
        self.setup = setup | {"seed": seed}
        self.weights = {
            name: torch.tensor(value, dtype=torch.float32, requires_grad=True)
            for name, value in weights.items()
        }
        self.saved = {name: [_copy(value)] for name, value in self.weights.items()}
        self.step = 0
        self.window_loss = 0.0
        self.losses: list[float] = []

    def record(self, loss: float, settings: TrainingSettings) -> None:
        """Count a step of this loss. Raises InputError if loss or weights are out of bounds."""
        self.step += 1
        saving = self.step % settings.save_every == 0
        if not loss < HUGE_LOSS or (saving and not self._finite()):
            raise InputError(
                f"training diverged: attention = {self.setup['attention']}, "
                f"L = {self.setup['L']:g}, step = {self.step}, loss = {loss:g}, "
                f"learning_rate = {settings.learning_rate:g}: lower the learning rate"
            )
        self.window_loss += loss
        if self.step % settings.loss_every == 0:
            self.losses.append(self.window_loss / settings.loss_every)
            self.window_loss = 0.0
        if saving:
            for name, value in self.weights.items():
                self.saved[name].append(_copy(value))

    def _finite(self) -> bool:
        return all(bool(torch.isfinite(value).all()) for value in self.weights.values())

    def arrays(self) -> Arrays:
        """The state as flat arrays, under the names of `checkpoint_names`."""
        plain = {
            "setup": json.dumps(self.setup, sort_keys=True),
            "step": self.step,
            "generator": self.generator.get_state().numpy(),
            "window_loss": self.window_loss,
            "loss": np.array(self.losses, dtype=float),
        }
        now = {f"now_{name}": _copy(value) for name, value in self.weights.items()}
        saved = {f"saved_{name}": np.stack(values) for name, values in self.saved.items()}
        return {name: np.asarray(value) for name, value in (plain | now | saved).items()}

    def restore(self, flat: Arrays, steps: int) -> None:
        """Take over a state. Raises InputError if it belongs to another run or is past `steps`."""
        written = json.loads(str(flat["setup"]))
        for name, value in self.setup.items():
            if written.get(name) != value:
                raise InputError(
                    f"resume was written by another run: {name} = {written.get(name)}, "
                    f"must be {value}"
                )
        if any((flat[f"saved_{name}"][0] != self.saved[name][0]).any() for name in self.weights):
            raise InputError("resume started from other initial weights: delete the checkpoint")
        if flat["step"] > steps:
            raise InputError(f"resume is at step {flat['step']}: must not be past steps = {steps}")
        self.step = int(flat["step"])
        self.window_loss = float(flat["window_loss"])
        self.losses = flat["loss"].tolist()
        self.generator.set_state(torch.from_numpy(flat["generator"].copy()))
        with torch.no_grad():
            for name, value in self.weights.items():
                value.copy_(torch.from_numpy(flat[f"now_{name}"]))
                self.saved[name] = list(flat[f"saved_{name}"])

    def run(self, settings: TrainingSettings) -> TrainingRun:
        windows = np.arange(1, len(self.losses) + 1)
        weights = {name: np.stack(values) for name, values in self.saved.items()}
        saves = np.arange(self.step // settings.save_every + 1)
        return TrainingRun(
            step=windows * settings.loss_every,
            loss=np.array(self.losses),
            saved_step=saves * settings.save_every,
            weights=weights,
        )


def _copy(value: torch.Tensor) -> np.ndarray:
    return value.detach().numpy().copy()


def _setup(task: RegressionTask, L: float, attention: str, settings: TrainingSettings) -> dict:
    """What a run must share with a checkpoint that it resumes, ready for JSON.

    Covariances are rounded: another machine may compute them with another last digit.
    """
    return {
        "attention": attention,
        "L": float(L),
        "Sigma": np.round(task.Sigma, 10).tolist(),
        "query_covariance": np.round(task.query_covariance, 10).tolist(),
        "noise_variance": task.noise_variance,
        "task_variance": task.task_variance,
        "learning_rate": settings.learning_rate,
        "batch_size": settings.batch_size,
        "loss_every": settings.loss_every,
        "save_every": settings.save_every,
    }


def _check_attention(attention: str) -> None:
    if attention not in ATTENTIONS:
        raise InputError(f"attention = {attention!r}: must be one of {', '.join(ATTENTIONS)}")


def _check_request(
    weights: Mapping[str, np.ndarray], task: RegressionTask, L: float, attention: str
) -> None:
    _check_attention(attention)
    if attention == "infinite" and not math.isinf(L):
        raise InputError(f"L = {L}: infinite attention needs L = inf")
    if attention != "infinite" and not (L >= 1 and float(L).is_integer()):
        raise InputError(f"L = {L}: {attention} attention needs a whole number of at least 1")
    U, v = products(weights)
    D = task.dimension + 1
    if U.shape != (D, D) or v.shape != (D,):
        raise InputError(f"weights act on tokens of size {len(v)}: the task has size {D}")
