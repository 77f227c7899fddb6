"""What the two SGD stages share: read, go on where an interrupted run stopped, train, write."""

import functools
import json
import time
from collections.abc import Callable
from pathlib import Path

from largeprompt.errors import InputError
from largeprompt.heads import STARTS, Arrays
from largeprompt.seeding import stream
from largeprompt.sgd_run import TrainingRun, TrainingSettings, checkpoint_names
from largeprompt.stages._job import Job
from largeprompt.stages._regression_task import regression_task
from largeprompt.stages._training_file import Training, write_training
from largeprompt.tables import read_arrays, write_arrays


def train_and_write(job: Job, attention: str, L: float) -> None:
    """Write the training at `job.outputs["training"]`.

    Random numbers come from the stream of the seed and the length, so softmax and linear attention
    see the same tasks and queries (with the literal trainer, the same prompts). The checkpoint is
    removed once the training is whole.
    """
    wildcards, chosen = job.wildcards, dict(job.settings["sgd"])
    train = _trainer(chosen.pop("trainer"))
    settings = TrainingSettings(**chosen)
    weights = read_arrays(job.input("weights"), STARTS[wildcards["start"]])
    checkpoint = Path(job.outputs["checkpoint"])
    key = json.dumps([job.code, job.settings, wildcards], sort_keys=True)
    names = checkpoint_names(weights)
    result = train(
        weights,
        regression_task(job.settings, wildcards["variant"]),
        L,
        attention,
        settings,
        stream(int(wildcards["seed"]), "sgd", "infinite" if attention == "infinite" else L),
        resume=_resumable(checkpoint, key, names, job.progress),
        checkpoint=lambda state: write_arrays(checkpoint, key=key, **state),
        progress=_Reporter(settings.steps, job.progress),
    )
    write_training(job.outputs["training"], _training(job, attention, L, result))
    checkpoint.unlink(missing_ok=True)


def _trainer(name: str) -> Callable[..., TrainingRun]:
    """The literal trainers need torch, whose import takes longer than many a fast training."""
    if name.startswith("literal"):
        from largeprompt.sgd import train

        return functools.partial(train, device="cuda" if name == "literal-gpu" else "cpu")
    from largeprompt.sgd_fast import train_fast

    return train_fast


def _resumable(path: Path, key: str, names: list[str], say: Callable[[str], None]) -> Arrays | None:
    """The state at `path`, unless there is none of this very run (same settings, same code)."""
    if not path.exists():
        return None
    try:
        state = read_arrays(path, ["key", *names])
    except InputError:
        state = {"key": "damaged"}
    if str(state.pop("key")) != key:
        say("ignoring a checkpoint of another run")
        return None
    say(f"going on from step {state['step']}")
    return state


class _Reporter:
    """Progress line with the time left, judged by the speed of this call."""

    def __init__(self, steps: int, say: Callable[[str], None]) -> None:
        self.steps, self.say = steps, say
        self.first: tuple[int, float] | None = None

    def __call__(self, step: int, loss: float) -> None:
        now = time.monotonic()
        if self.first is None:
            self.first = step, now
            return
        begun, then = self.first
        left = (now - then) * (self.steps - step) / (step - begun)
        self.say(f"step {step} of {self.steps}, loss {loss:.4f}, {left:.0f} s left")


def _training(job: Job, attention: str, L: float, result: TrainingRun) -> Training:
    """The run with its labels; a loss stands at the middle of the window that it is a mean of."""
    chosen = job.settings["sgd"]
    labels = {name: job.wildcards[name] for name in ("variant", "covariance", "start", "seed")}
    labels |= {"method": "sgd", "trainer": chosen["trainer"]}
    labels |= {"attention": attention, "L": f"{L:g}"}
    rate = chosen["learning_rate"]
    middle = (result.step - chosen["loss_every"] / 2) * rate
    return Training(labels, middle, result.loss, result.saved_step * rate, result.weights)
