"""Softmax attention at prompt length L as linear attention: shrinkage and noise, against s."""

from dataclasses import asdict

import numpy as np
import pandas as pd

from largeprompt.effective_operator import linear_moments, softmax_moments
from largeprompt.stages._job import Job
from largeprompt.tables import write_table


def run(job: Job) -> None:
    """Write shrinkage and variances (see `effective_operator`) for each attention, L and s."""
    chosen = job.settings["effective_operator"]
    scales = np.linspace(0, chosen["largest_scale"], chosen["points"])
    tables = []
    for L in sorted(chosen["lengths"]):
        for attention, moments in (("softmax", softmax_moments), ("linear", linear_moments)):
            found = moments(scales, L)
            labels = {"attention": attention, "L": L, "s": scales}
            tables.append(pd.DataFrame(labels | asdict(found)))
        job.progress(f"L = {L} done")
    write_table(job.outputs["table"], pd.concat(tables), job.run)
