"""Theorem 5.1 for infinite prompts: where the flow ends, for many Sigma and alpha."""

import math
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from largeprompt.bayes_endpoint import end_point, interval_end, slowest_rate, theorem_start
from largeprompt.flow import gradient_flow
from largeprompt.risk import reduced_training
from largeprompt.seeding import stream
from largeprompt.stages._job import Job
from largeprompt.tables import write_table

TOLERANCE, STATIONARITY, HORIZON = 1e-6, 1e-12, 1e20
CLOSE = 1e-6  # of the risk of zero weights: `time` is when the flow comes so near to the Bayes risk
OFF_BALANCE = 2.0  # |A(0)| over b(0) = b* of the unbalanced start


def run(job: Job) -> None:
    """Write one row a flow: how far it ends from the Bayes risk and from (A*, b*).

    Sigma is diagonal (the flow turns with Sigma) with eigenvalues evenly spaced in ln, Theta is
    random. alpha = alpha_ratio times the end of the theorem's interval. Two other starts, at the
    first norm of each grid: `unbalanced`, |A(0)| = 2 b(0) with b(0) = b*, and `zero`.
    """
    chosen = job.settings["endpoints"]
    rows = []
    for grid in chosen["grids"]:
        for case in _cases(grid):
            rows.append(_flow(case, chosen["seed"]))
            job.progress(f"{len(rows)} flows done")
    write_table(job.outputs["table"], pd.DataFrame(rows), job.run)


def _cases(grid: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Cases of a grid; in one dimension the condition is always 1."""
    other = {"norm": grid["norms"][0], "alpha_ratio": 0.0}
    for d in grid["dimensions"]:
        for condition in grid["conditions"] if d > 1 else [1.0]:
            case = {"d": d, "condition": float(condition)}
            for norm, ratio in product(grid["norms"], grid["alpha_ratios"]):
                yield case | {"norm": norm, "alpha_ratio": ratio, "start": "theorem"}
            for start in ("unbalanced", "zero"):
                yield case | other | {"start": start}


def _flow(case: dict[str, Any], seed: int) -> dict[str, Any]:
    d = case["d"]
    Sigma = case["norm"] * np.diag(np.geomspace(1, 1 / case["condition"], d))
    alpha = case["alpha_ratio"] * interval_end(Sigma)
    best_b = end_point(Sigma)[1]
    A, b = theorem_start(stream(seed, "theta", d), alpha, d)
    if case["start"] == "unbalanced":
        A, b = theorem_start(stream(seed, "theta", d), OFF_BALANCE * best_b, d)[0], best_b
    risk = reduced_training(Sigma, 0.0, math.inf)  # label noise would add a constant
    path = gradient_flow(
        *(risk, np.append(A.ravel(), b)),
        **{"tolerance": TOLERANCE, "stationarity": STATIONARITY, "horizon": HORIZON},
    )
    last = path.theta[-1]
    inverse = np.linalg.inv(Sigma)
    product_error = last[-1] * last[:-1].reshape(d, d) - inverse
    # relative to zero weights; an exact zero may come out as minus the round-off
    scale = np.trace(Sigma) / 2
    excess = np.maximum(path.risk, 0.0) / scale
    identity = Sigma - np.eye(d)
    return case | {
        "alpha": alpha,
        "proof_condition": alpha**2 * case["norm"] * math.sqrt(d) / 2,  # must be < 1 in the proof
        "excess_ratio": excess[-1],
        "product_error": np.linalg.norm(product_error) / np.linalg.norm(inverse),
        "b_error": abs(last[-1] / best_b - 1),
        "drift": path.drift.max(initial=0.0) / best_b**2,
        "time": path.times[int(np.argmax(excess <= CLOSE))],
        "rate": slowest_rate(Sigma),
        "identity_risk": np.trace(identity @ Sigma @ identity) / 2 / scale,
    }
