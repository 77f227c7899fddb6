"""What a run of SGD is, however its steps are taken: settings, history, checkpoint, refusals."""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np

from largeprompt.errors import InputError
from largeprompt.heads import Arrays, products
from largeprompt.tasks import RegressionTask

ATTENTIONS = ("softmax", "linear", "infinite")
# The zero prediction has a loss near 1 in the paper's tasks; training that starts in any
# sensible way stays far below this.
HUGE_LOSS = 1e6
_PLAIN = ("setup", "step", "generator", "window_loss", "loss")


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

    def next_stop(self, step: int) -> int:
        """First step after `step` at which something is recorded or kept."""
        periods = (self.loss_every, self.save_every, self.checkpoint_every)
        return min(self.steps, *(step - step % period + period for period in periods))


@dataclass(frozen=True, eq=False)
class TrainingRun:
    """History of a run: `loss[i]` is the mean over the window ending at `step[i]`; float32 weights.

    step, loss (windows,); saved_step (saves,); weights: name -> (saves, ...).
    """

    step: np.ndarray
    loss: np.ndarray
    saved_step: np.ndarray
    weights: Arrays


class Steps(Protocol):
    """A way of taking the steps of a run."""

    weights: Arrays
    """Float32, changed in place."""
    setup: dict
    """Whatever a checkpoint must share with the run that resumes it, ready for JSON."""
    generator: np.ndarray
    """State of the source of random numbers; can be set."""

    def advance(self, step: int, count: int) -> Iterable[float]:
        """Take `count` steps from number `step` on; yields the loss before each."""


def run_steps(
    steps: Steps,
    settings: TrainingSettings,
    resume: Arrays | None,
    checkpoint: Callable[[Arrays], None] | None,
    progress: Callable[[int, float], None] | None,
) -> TrainingRun:
    """Take all steps of a run; arguments and errors as those of `sgd.train`."""
    state = _State(steps)
    if resume is not None:
        state.restore(resume, settings.steps)
    while state.step < settings.steps:
        stop = settings.next_stop(state.step)
        for loss in steps.advance(state.step, stop - state.step):
            state.record(loss, settings)
        if progress is not None and stop % settings.loss_every == 0:
            progress(stop, state.losses[-1])
        if checkpoint is not None and stop % settings.checkpoint_every == 0:
            checkpoint(state.arrays())
    return state.run(settings)


def checkpoint_names(weights: Mapping[str, Any]) -> list[str]:
    """Names of the arrays in a checkpoint of a run that starts from `weights`."""
    return [*_PLAIN, *(prefix + name for prefix in ("now_", "saved_") for name in weights)]


class _State:
    """Everything that a run needs to go on; plain SGD itself keeps nothing between steps."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self.weights = steps.weights
        self.saved = {name: [value.copy()] for name, value in self.weights.items()}
        self.step = 0
        self.window_loss = 0.0
        self.losses: list[float] = []

    def record(self, loss: float, settings: TrainingSettings) -> None:
        """Count a step of this loss. Raises InputError if loss or weights are out of bounds."""
        self.step += 1
        saving = self.step % settings.save_every == 0
        if not loss < HUGE_LOSS or (saving and not self._finite()):
            setup = self.steps.setup
            raise InputError(
                f"training diverged: attention = {setup['attention']}, "
                f"L = {setup['L']:g}, step = {self.step}, loss = {loss:g}, "
                f"learning_rate = {settings.learning_rate:g}: lower the learning rate"
            )
        self.window_loss += loss
        if self.step % settings.loss_every == 0:
            self.losses.append(self.window_loss / settings.loss_every)
            self.window_loss = 0.0
        if saving:
            for name, value in self.weights.items():
                self.saved[name].append(value.copy())

    def _finite(self) -> bool:
        return all(np.isfinite(value).all() for value in self.weights.values())

    def arrays(self) -> Arrays:
        """The state as flat arrays, under the names of `checkpoint_names`."""
        plain = {
            "setup": json.dumps(self.steps.setup, sort_keys=True),
            "step": self.step,
            "generator": self.steps.generator,
            "window_loss": self.window_loss,
            "loss": np.array(self.losses, dtype=float),
        }
        now = {f"now_{name}": value.copy() for name, value in self.weights.items()}
        saved = {f"saved_{name}": np.stack(values) for name, values in self.saved.items()}
        return {name: np.asarray(value) for name, value in (plain | now | saved).items()}

    def restore(self, flat: Arrays, steps: int) -> None:
        """Take over a state. Raises InputError if it belongs to another run or is past `steps`."""
        written = json.loads(str(flat["setup"]))
        for name, value in self.steps.setup.items():
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
        self.steps.generator = flat["generator"]
        for name, value in self.weights.items():
            value[...] = flat[f"now_{name}"]
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


def run_setup(
    task: RegressionTask, L: float, attention: str, settings: TrainingSettings, **sampler: Any
) -> dict:
    """The setup of a run; `sampler` says where its prompts come from.

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
        **sampler,
    }


def check_attention(attention: str) -> None:
    """Raises InputError unless the attention is one of ATTENTIONS."""
    if attention not in ATTENTIONS:
        raise InputError(f"attention = {attention!r}: must be one of {', '.join(ATTENTIONS)}")


def check_request(
    weights: Mapping[str, np.ndarray], task: RegressionTask, L: float, attention: str
) -> None:
    """Raises InputError unless the arguments of a training fit together."""
    check_attention(attention)
    if attention == "infinite" and not math.isinf(L):
        raise InputError(f"L = {L}: infinite attention needs L = inf")
    if attention != "infinite" and not (L >= 1 and float(L).is_integer()):
        raise InputError(f"L = {L}: {attention} attention needs a whole number of at least 1")
    U, v = products(weights)
    D = task.dimension + 1
    if U.shape != (D, D) or v.shape != (D,):
        raise InputError(f"weights act on tokens of size {len(v)}: the task has size {D}")
