"""Gradient flow on the infinite-prompt risk: the path that SGD on sampled tasks follows."""

import math

from largeprompt.stages._flow_stage import flow_and_write
from largeprompt.stages._job import Job


def run(job: Job) -> None:
    """Integrate from the paired initial weights; see `_flow_stage` for what is written."""
    flow_and_write(job, "softmax", math.inf, training="training", limit="limit")
