"""Theorems 4.3 and 5.1 at finite prompts: limits of training against the prompt length."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from largeprompt.bayes_endpoint import end_point, theorem_start
from largeprompt.covariances import covariance_matrix
from largeprompt.flow import GradientFlow, gradient_flow
from largeprompt.heads import random_weights, to_vector
from largeprompt.risk import factorised_risk, reduced_optimum, reduced_risk, reduced_training
from largeprompt.risk_factorised import Risk
from largeprompt.seeding import stream
from largeprompt.stages._job import Job
from largeprompt.tables import write_table
from largeprompt.transfer import required_length

COLUMNS = ["case", "start", "series", "L", "quantity", "value"]
STATIONARITY = 1e-8  # of the gradient, relative to its largest on the way: it has converged
# Long prompts drift for a time of order L along the line of infinite-prompt minimisers, so these
# go on until the gradient is smaller still, or is the noise of its quadrature.
FINITE_STATIONARITY = 1e-10
Row = tuple[str, float, str, float]


def run(job: Job) -> None:
    """Write tidy rows for each case; risks are relative to that of zero weights without noise.

    Series `trained`, at each L: `excess` of the limiting risk over the infinite prompt's, its
    largest `growth` in a step, `converged` (0 or 1); from the start of Theorem 5.1 also
    `bayes_excess` (over noise / 2), `above_best` (over the best weights), `product_error` of b A
    against Sigma^-1, `distance` of (A, b) from (A*, b*), both relative. Controls: `zero`, excess of
    zero weights, a stationary point; `identity`, bayes_excess with the identity for b A.
    Rows `eps`: from L on the excess is at most the value (L = inf: not on the grid).
    """
    chosen = job.settings["transfer"]
    rows = []
    for number, case in enumerate(chosen["cases"]):
        Sigma = covariance_matrix(
            dimension=case["dimension"], **job.settings["covariances"][case["covariance"]]
        )
        label = _label(case)
        trained = {"theorem": _theorem, "random": _random}[case["start"]]
        found = list(trained(case, Sigma, sorted(chosen["lengths"]), chosen["seed"]))
        found += _required(found, chosen["eps"])
        rows += [(label, case["start"], *row) for row in found]
        job.progress(f"{number + 1} of {len(chosen['cases'])} cases done")
    write_table(job.outputs["table"], pd.DataFrame(rows, columns=COLUMNS), job.run)


def _label(case: Mapping[str, Any]) -> str:
    d, noise = case["dimension"], case["noise_variance"]
    start = f"alpha={case['alpha']:g}" if case["start"] == "theorem" else "factors"
    return f"{case['covariance']} d={d} noise={noise:g} {start}"


def _theorem(
    case: Mapping[str, Any], Sigma: np.ndarray, lengths: Sequence[int], seed: int
) -> Iterator[Row]:
    d, noise = case["dimension"], case["noise_variance"]
    A, b = theorem_start(stream(seed, "theta", d), case["alpha"], d)
    start, scale = np.append(A.ravel(), b), np.trace(Sigma) / 2
    best_A, best_b = end_point(Sigma)
    end, inverse = np.append(best_A.ravel(), best_b), np.linalg.inv(Sigma)
    limit = _limit(reduced_training(Sigma, noise, math.inf), start)
    yield from _outcome(math.inf, limit, scale)
    for L in lengths:
        path = _limit(reduced_training(Sigma, noise, L), start, FINITE_STATIONARITY)
        yield from _outcome(L, path, scale)
        last = path.theta[-1]
        A, b = last[:-1].reshape(d, d), float(last[-1])
        risk = reduced_risk(A, b, Sigma, noise, L)  # to more digits than the flow's own
        best = reduced_optimum(Sigma, noise, L).risk
        identity = reduced_risk(np.eye(d) / best_b, best_b, Sigma, noise, L)
        product_error = np.linalg.norm(b * A - inverse) / np.linalg.norm(inverse)
        yield "trained", L, "excess", (risk - limit.risk[-1]) / scale
        yield "trained", L, "bayes_excess", (risk - noise / 2) / scale
        yield "trained", L, "above_best", (risk - best) / scale
        yield "trained", L, "product_error", float(product_error)
        yield "trained", L, "distance", float(np.linalg.norm(last - end) / np.linalg.norm(end))
        yield "zero", L, "excess", ((np.trace(Sigma) + noise) / 2 - limit.risk[-1]) / scale
        if np.abs(Sigma - np.eye(d)).max() > 0:
            yield "identity", L, "bayes_excess", (identity - noise / 2) / scale


def _random(
    case: Mapping[str, Any], Sigma: np.ndarray, lengths: Sequence[int], seed: int
) -> Iterator[Row]:
    d, noise, scale = case["dimension"], case["noise_variance"], np.trace(Sigma)
    start = to_vector(random_weights(stream(seed, "transfer", d), d))
    limit = _limit(factorised_risk(Sigma, noise, 1.0, math.inf), start)
    yield from _outcome(math.inf, limit, scale)
    for L in lengths:
        path = _limit(factorised_risk(Sigma, noise, 1.0, L), start)
        yield from _outcome(L, path, scale)
        yield "trained", L, "excess", (path.risk[-1] - limit.risk[-1]) / scale
        yield "zero", L, "excess", (scale + noise - limit.risk[-1]) / scale


def _limit(risk: Risk, start: np.ndarray, stationarity: float = STATIONARITY) -> GradientFlow:
    return gradient_flow(risk, start, stationarity=stationarity)


def _outcome(L: float, path: GradientFlow, scale: float) -> Iterator[Row]:
    stationary = path.gradient_norm[-1] <= STATIONARITY * path.gradient_norm.max()
    yield "trained", L, "converged", float(stationary)
    yield "trained", L, "growth", float(np.diff(path.risk).max(initial=0.0)) / scale


def _required(rows: Sequence[Row], levels: Sequence[float]) -> Iterator[Row]:
    """L(eps) of each series, from its excess over the infinite prompt or over Bayes."""
    table = pd.DataFrame(rows, columns=["series", "L", "quantity", "value"])
    for series, quantity in (
        ("trained", "excess"),
        ("trained", "bayes_excess"),
        ("zero", "excess"),
        ("identity", "bayes_excess"),
    ):
        curve = table[(table["series"] == series) & (table["quantity"] == quantity)]
        for eps in sorted(levels) if len(curve) else []:
            L = required_length(curve["L"], curve["value"], eps)
            yield series, L, f"{quantity} eps", eps
