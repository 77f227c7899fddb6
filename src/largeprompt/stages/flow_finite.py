"""Exact gradient flow at prompt length L: the path that SGD follows, without its noise."""

from largeprompt.stages._flow_stage import flow_and_write
from largeprompt.stages._job import Job


def run(job: Job) -> None:
    """Integrate from the paired initial weights; see `_flow_stage` for what is written."""
    attention = job.wildcards["attention"]
    flow_and_write(job, attention, int(job.wildcards["L"]), name=attention)
