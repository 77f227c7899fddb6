"""Where the flows of one case end, beside the best risk that their attention can reach."""

import math

import pandas as pd

from largeprompt.stages._flow_stage import LIMIT
from largeprompt.stages._job import Job
from largeprompt.tables import read_table, write_table

OPTIMUM = ["attention", "L", "value"]


def run(job: Job) -> None:
    """Write the last point of each flow with `optimum`, the least risk at its prompt length.

    The infinite prompt can reach the label noise.
    """
    limits = pd.concat([read_table(path, LIMIT) for path in job.inputs["limits"]])
    best = read_table(job.input("optimum"), OPTIMUM).set_index(["attention", "L"])["value"]
    best["infinite", math.inf] = job.settings["regression"]["noise_variance"]
    table = limits.join(best.rename("optimum"), on=["attention", "L"])
    write_table(job.outputs["table"], table, job.run)
