"""SGD on prompts of length L: softmax or linear attention."""

from largeprompt.stages._job import Job
from largeprompt.stages._sgd_stage import train_and_write


def run(job: Job) -> None:
    """Train from the paired initial weights; see `_train` for what is written."""
    train_and_write(job, job.wildcards["attention"], int(job.wildcards["L"]))
