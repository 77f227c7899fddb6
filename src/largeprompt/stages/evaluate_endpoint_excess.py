"""What finite prompts cost at the end point of Theorem 5.1, and at the best weights."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from largeprompt.baselines import linear_optimum
from largeprompt.bayes_endpoint import (
    best_constant,
    end_point,
    line_constant,
    line_excess,
    linear_constant,
)
from largeprompt.rates import local_exponent, rate_exponent
from largeprompt.risk import reduced_optimum
from largeprompt.scalar_tokens import scalar_law, scalar_optimum
from largeprompt.stages._job import Job
from largeprompt.tables import write_table

# Beyond, the smallest excess of softmax attention is lost in the round-off of the risk.
BEST_REACH, SCALAR_REACH = 1e10, 1e9
SLOW = 2 / 3  # exponent of the best excess of tokens whose infinite-prompt map is not linear


def run(job: Job) -> None:
    """Write excess risks (factor 1/2) with local exponents, what they tend to, and constants.

    Weights: `endpoint` of Theorem 5.1, up to `longest`; `endpoint-far`, the same around `far`;
    `best` softmax attention of each length; `linear`, the best linear attention. `predicted` is
    the exponent for L to infinity, `constant` the limit of L excess (0 where there is none), and
    `correction` what the exponent at L lacks to first order in 1 / ln L. Sigma = I.
    """
    chosen = job.settings["excess"]
    tables = []
    for d in chosen["dimensions"]:
        tables += [pd.DataFrame(rows) for rows in _gaussian(d, chosen)]
        job.progress(f"d = {d} done")
    for law in chosen["other_laws"]:
        tables.append(pd.DataFrame(_scalar(law, chosen)))
        job.progress(f"{law} tokens done")
    write_table(job.outputs["table"], pd.concat(tables), job.run)


def _gaussian(d: int, chosen: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    noise, Sigma = chosen["noise_variance"], np.eye(d)
    b = end_point(Sigma)[1]
    lengths = _lengths(chosen["longest"], chosen["points"])
    constant = line_constant(Sigma, b, noise)
    finite = 0.0 if math.isinf(constant) else constant
    exponent = rate_exponent(1 / b**2)
    for weights, grid in {"endpoint": lengths, "endpoint-far": chosen["far"] * _AROUND}.items():
        excess = line_excess(Sigma, b, noise, grid)
        yield _rows("gaussian", d, weights, grid, excess, exponent, finite, _logarithms(d, b))
    grid = lengths[lengths <= BEST_REACH]
    best = [reduced_optimum(Sigma, noise, int(L)).risk - noise / 2 for L in grid]
    yield _rows("gaussian", d, "best", grid, best, 1.0, best_constant(d, d, noise))
    linear = [(linear_optimum(Sigma, noise, 1.0, int(L)).risk - noise) / 2 for L in grid]
    yield _rows("gaussian", d, "linear", grid, linear, 1.0, linear_constant(d, d, noise))


def _scalar(law: str, chosen: Mapping[str, Any]) -> dict[str, Any]:
    lengths = _lengths(chosen["longest"], chosen["points"])
    grid = lengths[lengths <= SCALAR_REACH]
    tokens, noise = scalar_law(law), chosen["noise_variance"]
    excess = [scalar_optimum(tokens, noise, L).excess for L in grid]
    return _rows(law, 1, "best", grid, excess, SLOW, 0.0)


_AROUND = np.array([0.1, 1.0, 10.0])


def _logarithms(d: int, b: float) -> float:
    """Power of ln L beside the power of L: d/2, or (d + 2)/2 at the critical b^2 = 2."""
    if math.isclose(b**2, 2):
        return (d + 2) / 2
    return d / 2 if b**2 < 2 else 0.0


def _rows(law, d, weights, lengths, excess, predicted, constant, logarithms=0.0) -> dict[str, Any]:
    return {
        **{"law": law, "d": d, "weights": weights, "L": lengths, "excess": excess},
        "exponent": local_exponent(lengths, excess),
        **{"predicted": predicted, "constant": constant},
        "correction": logarithms / np.log(lengths),
    }


def _lengths(longest: float, points: int) -> np.ndarray:
    return np.unique(np.geomspace(10, longest, points).round())
