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
    for L in sorted(job.settings["sgd"]["lengths"]):
        risk = bayes_risk(
            inputs[:, :L], task.query_covariance, task.noise_variance, task.task_variance
        )
        rows.append(
            (job.wildcards["variant"], job.wildcards["covariance"], L, risk.value, risk.stderr)
        )
    columns = ["variant", "covariance", "L", "value", "stderr"]
    write_table(job.outputs["table"], pd.DataFrame(rows, columns=columns), job.run)
