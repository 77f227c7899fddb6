"""The constant in front of 1/L by dimension: what the rates of Props 3.1 and 3.4 leave open."""

import pandas as pd

from largeprompt.prompt_length import relative_constant
from largeprompt.stages._job import Job
from largeprompt.standard_problems import fixed_rank, isotropic
from largeprompt.tables import write_table


def run(job: Job) -> None:
    """Write lim L * (relative deviation)^2 for each dimension, of three families of weights.

    `variance`: scores of variance 1. `tilt`: a fixed tilt, so that the variance of the scores
    grows with the dimension. `rank`: scores of variance 1, tokens in a subspace of fixed rank.
    """
    chosen = job.settings["prompt_length"]
    rank, tilt = chosen["rank"], chosen["constant_tilt"]
    rows = [
        row
        for d in chosen["constant_dimensions"]
        for row in (
            ("variance", d, relative_constant(*isotropic(d, 1 / d))),
            ("tilt", d, relative_constant(*isotropic(d, tilt))),
            ("rank", d, relative_constant(*fixed_rank(d, rank, 1.0))),
        )
    ]
    table = pd.DataFrame(rows, columns=["weights", "dimension", "constant"])
    write_table(job.outputs["table"], table, job.run)
