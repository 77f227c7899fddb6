"""Loss histories of every training of one case."""

import numpy as np
import pandas as pd

from largeprompt.stages._job import Job
from largeprompt.stages._training_file import LABELS, Training, read_training
from largeprompt.tables import write_table

POINTS = 150  # of a curve: more than a figure of column width can show


def run(job: Job) -> None:
    """Write time and loss of each training, averaged over windows of equal ratio in time."""
    table = pd.concat([_curve(read_training(path)) for path in job.inputs["trainings"]])
    write_table(job.outputs["table"], table, job.run)


def _curve(training: Training) -> pd.DataFrame:
    later = training.time > 0
    time, loss = training.time[later], training.loss[later]
    edges = np.geomspace(time[0], time[-1], POINTS)[1:-1]
    window = np.searchsorted(edges, time, side="right")
    curve = pd.DataFrame({"time": time, "loss": loss}).groupby(window).mean()
    return curve.assign(**{name: training.labels[name] for name in LABELS})
