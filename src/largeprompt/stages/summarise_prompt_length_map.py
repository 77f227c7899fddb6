"""How far softmax attention is from its linear limit, and how many tokens that distance needs."""

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from largeprompt.prompt_length import relative_error, required_prompt_lengths
from largeprompt.risk import reduced_optimum
from largeprompt.stages._job import Job
from largeprompt.standard_problems import isotropic, reduced_regression
from largeprompt.tables import write_table

COLUMNS = ["kind", "weights", "dimension", "tilt", "L", "relative_error"]


def run(job: Job) -> None:
    """Write relative deviations in norm, one point (dimension, tilt, L) a row, of four kinds.

    `map`: every tilt and length of a grid. `required`: the first L within each tolerance, by
    dimension and variance of the scores; a row is missing where 1e12 tokens do not do.
    `few`: one length, the same weights. `peaked`: that length at the largest tilt of the map.
    """
    chosen = job.settings["prompt_length"]
    rows = [
        row
        for part in (_map, _required, _few)
        for row in part(chosen, job.settings["regression"], job.progress)
    ]
    write_table(job.outputs["table"], pd.DataFrame(rows, columns=COLUMNS), job.run)


def _map(chosen: dict, regression: dict, progress) -> Iterator[tuple]:
    lengths = np.geomspace(1, chosen["longest"], chosen["points"]).round().astype(np.int64)
    lengths, d = np.unique(lengths), regression["dimension"]
    for tilt in chosen["tilts"]:
        errors = relative_error(*isotropic(d, tilt), lengths)
        for L, error in zip(lengths, errors, strict=True):
            yield "map", "isotropic", d, tilt, L, error
        progress(f"map: tilt {tilt:g} done")


def _standard(chosen: dict) -> Iterator[tuple[str, int, float]]:
    """Weights by name, with dimension and tilt; the name holds the variance of the scores."""
    for variance in chosen["score_variances"]:
        for d in chosen["dimensions"]:
            yield f"{variance:g}", d, variance / d


def _required(chosen: dict, regression: dict, progress) -> Iterator[tuple]:
    tolerances = chosen["tolerances"]
    for name, d, tilt in _standard(chosen):
        lengths = required_prompt_lengths(*isotropic(d, tilt), tolerances)
        for tolerance, L in zip(tolerances, lengths, strict=True):
            if math.isfinite(L):
                yield "required", name, d, tilt, int(L), tolerance
        progress(f"required: dimension {d}, scores of variance {name} done")


def _few(chosen: dict, regression: dict, progress) -> Iterator[tuple]:
    few = chosen["few_hundred"]
    for name, d, tilt in _standard(chosen):
        yield "few", name, d, tilt, few, relative_error(*isotropic(d, tilt), few)
    d, tilt = regression["dimension"], max(chosen["tilts"])
    yield "peaked", "isotropic", d, tilt, few, relative_error(*isotropic(d, tilt), few)
    noise = regression["noise_variance"] / regression["task_variance"]
    trained = reduced_optimum(np.eye(d), noise, few).A[0, 0]
    problem = reduced_regression(trained, d, noise)
    yield "few", "trained", d, trained**2, few, relative_error(*problem, few)
