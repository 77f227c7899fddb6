"""SGD on sampled tasks with the infinite-prompt operator in place of the prompt."""

import math

from largeprompt.stages._job import Job
from largeprompt.stages._sgd_stage import train_and_write


def run(job: Job) -> None:
    """Train from the paired initial weights; see `_train` for what is written."""
    train_and_write(job, "infinite", math.inf)
