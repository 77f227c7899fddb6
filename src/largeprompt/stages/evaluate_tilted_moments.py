"""Assumption 3.3 for Gaussian tokens: its moments, where they exist, by two routes."""

import itertools
import math

import numpy as np
import pandas as pd

from largeprompt.stages._job import Job
from largeprompt.tables import write_table
from largeprompt.tilted_moments import READINGS, log_isotropic_moment, tilted_moment


def run(job: Job) -> None:
    """Write each moment (inf where it does not exist) and how its truncation grows.

    `log_radial` comes from the second route with queries up to `reach`; `log_growth` is what it
    gains when the reach is half as long again.
    """
    chosen = job.settings["tilted_moments"]
    d, u, reach = (chosen[k] for k in ("dimension", "score_scale", "reach"))
    orders = chosen["orders"]
    rows = []
    for reading, sigma, p, q in itertools.product(READINGS, chosen["sigmas"], orders, orders):
        moment = tilted_moment(sigma**2 * np.eye(d), u * np.eye(d), np.eye(d), p, q, reading)
        radial, further = (
            log_isotropic_moment(sigma, u, d, p, q, reading, r) for r in (reach, 1.5 * reach)
        )
        tilt = (sigma * u) ** 2
        rows.append(
            (reading, sigma, tilt, p, q, moment, math.log(moment), radial, further - radial)
        )
    columns = ["reading", "sigma", "tilt", "p", "q", "moment", "log_moment"]
    columns += ["log_radial", "log_growth"]
    write_table(job.outputs["table"], pd.DataFrame(rows, columns=columns), job.run)
