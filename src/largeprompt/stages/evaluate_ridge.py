"""Bayes risk at each prompt length: ridge regression with the optimal penalty."""

import pandas as pd

from largeprompt.baselines import bayes_risk
from largeprompt.stages._job import Job
from largeprompt.stages._regression_task import regression_task
from largeprompt.tables import read_arrays, write_table


def run(job: Job) -> None:
    """Write the risk at each length, exact given the held-out inputs, over which it is averaged."""
    task = regression_task(job.settings, job.wildcards["variant"])
    inputs = read_arrays(job.input("prompts"), ["tokens"])["tokens"][..., :-1]
    rows = []
    for L in sorted(job.settings["lengths"]):
        risk = bayes_risk(
            inputs[:, :L], task.query_covariance, task.noise_variance, task.task_variance
        )
        rows.append((L, risk.value, risk.stderr))
    table = pd.DataFrame(rows, columns=["L", "value", "stderr"])
    labels = {"method": "ridge", "attention": "none", "start": "none", "seed": "none"}
    labels |= {"quantity": "loss", **job.wildcards}
    write_table(job.outputs["table"], table.assign(**labels), job.run)
