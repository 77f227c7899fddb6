"""Exact gradient flow at prompt length L: the path that SGD follows, without its noise."""

from largeprompt.stages._flow_stage import flow_and_write
from largeprompt.stages._job import Job


def run(job: Job) -> None:
    """Integrate both kinds of attention from the paired initial weights (`_flow_stage`)."""
    for attention in ("softmax", "linear"):
        L, limit = int(job.wildcards["L"]), f"{attention}_limit"
        flow_and_write(job, attention, L, training=attention, limit=limit)
