"""The smallest risk that softmax and linear attention can reach at each prompt length."""

import pandas as pd

from largeprompt.baselines import linear_optimum
from largeprompt.risk import reduced_optimum
from largeprompt.stages._job import Job
from largeprompt.stages._regression_task import regression_task
from largeprompt.tables import write_table


def run(job: Job) -> None:
    """Write the risks, without the factor 1/2, of the best weights of the Theorem 5.1 family.

    Tasks w ~ N(0, rho I) with noise s are tasks w ~ N(0, I) with noise s / rho, all risks times
    rho.
    """
    task = regression_task(job.settings, job.wildcards["variant"])
    rho, query_covariance = task.task_variance, task.query_covariance
    rows = []
    for L in sorted(job.settings["lengths"]):
        linear = linear_optimum(task.Sigma, task.noise_variance, rho, L, query_covariance)
        rows.append(("linear", L, linear.risk))
        unit = task.noise_variance / rho
        softmax = reduced_optimum(task.Sigma, unit, L, "softmax", query_covariance)
        rows.append(("softmax", L, 2 * rho * softmax.risk))
        job.progress(f"L = {L} done")
    labels = {"method": "optimum", "start": "none", "seed": "none", "quantity": "risk"}
    table = pd.DataFrame(rows, columns=["attention", "L", "value"])
    table = table.assign(stderr=0.0, **labels, **job.wildcards)
    write_table(job.outputs["table"], table, job.run)
