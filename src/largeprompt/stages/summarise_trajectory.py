"""Lemma D.1 and Corollary D.3 along exact flows: distances, suprema and the envelope."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from largeprompt.covariances import covariance_matrix
from largeprompt.flow import GradientFlow, gradient_flow
from largeprompt.heads import random_weights, to_vector
from largeprompt.risk import factorised_risk, reduced_training
from largeprompt.risk_factorised import Risk
from largeprompt.seeding import stream
from largeprompt.stability import (
    curvature,
    gap,
    log_envelope,
    segments,
    sphere,
    useful_until,
)
from largeprompt.stages._job import Job
from largeprompt.tables import write_table

COLUMNS = ["parameters", "start", "points", "L", "quantity", "time", "value"]
TOLERANCE = 1e-8  # of the flows: their distance is to be seen down to 1e-4
EARLIEST = 0.001  # first time kept, a share of the horizon


@dataclass(frozen=True)
class Model:
    """A parametrisation: its risk for a prompt length, and its start by number."""

    name: str
    risk: Callable[[float], Risk]
    start: Callable[[int], np.ndarray]


def run(job: Job) -> None:
    """Write tidy rows; `points` says over which the suprema are taken.

    Along paths (`points` = path): distance to the infinite-prompt path from the `same` start or
    from an `other` (shortest and longest prompts only); its supremum sup_distance; risk_gap (g1)
    and gradient_gap (g2) at the points of the finite path, curvature (beta) on the segments to the
    infinite path, log10_envelope from these, and useful_time, when the envelope reaches 1.
    On the sphere around the origin that holds every path (`points` = ball): the same suprema; with
    a radius growing like sqrt(ln L) (`growing`): risk_gap only.
    """
    chosen = job.settings["stability"]
    rows = []
    for model in _models(chosen, job.settings["covariance"]):
        times = np.geomspace(EARLIEST * chosen["horizon"], chosen["horizon"], chosen["times"])
        times = np.concatenate([[0.0], times])
        limit = _path(model, math.inf, 0, times)
        paths = {L: _path(model, L, 0, times) for L in sorted(chosen["lengths"])}
        for L, path in paths.items():
            rows += [(model.name, "same", "path", L, *row) for row in _along(model, L, path, limit)]
            if L in (min(paths), max(paths)):
                distances = _distances(_path(model, L, 1, times), limit, times)
                rows += [(model.name, "other", "path", L, *row) for row in distances]
            job.progress(f"{model.name}: L = {L} done")
        radius = max(np.linalg.norm(p.theta, axis=1).max() for p in [limit, *paths.values()])
        rows += _balls(model, chosen, float(radius))
    write_table(job.outputs["table"], pd.DataFrame(rows, columns=COLUMNS), job.run)


def _models(chosen: Mapping[str, Any], covariance: Mapping[str, Any]) -> list[Model]:
    """Theorem 5.1's family from alpha and 2 alpha; the factorised head from two random draws."""
    d, noise = chosen["dimension"], chosen["noise_variance"]
    Sigma = covariance_matrix(dimension=d, **covariance)
    balanced = chosen["alpha"] * np.append(np.eye(d).ravel() / math.sqrt(d), 1.0)

    def drawn(number: int) -> np.ndarray:
        return to_vector(random_weights(stream(chosen["seed"], "stability", number), d))

    return [
        Model("reduced", lambda L: reduced_training(Sigma, noise, L), lambda n: (1 + n) * balanced),
        Model("factorised", lambda L: factorised_risk(Sigma, noise, 1.0, L), drawn),
    ]


def _path(model: Model, L: float, number: int, times: np.ndarray) -> GradientFlow:
    return gradient_flow(model.risk(L), model.start(number), times, tolerance=TOLERANCE)


def _distances(
    path: GradientFlow, limit: GradientFlow, times: np.ndarray
) -> Iterator[tuple[str, float, float]]:
    distance = np.linalg.norm(path.theta - limit.theta, axis=1)
    for t, value in zip(times, distance, strict=True):
        yield "distance", float(t), float(value)
    yield "sup_distance", float(times[-1]), float(distance.max())


def _along(
    model: Model, L: float, path: GradientFlow, limit: GradientFlow
) -> Iterator[tuple[str, float, float]]:
    times = limit.times
    yield from _distances(path, limit, times)
    infinite, horizon = model.risk(math.inf), float(times[-1])
    found = gap(model.risk(L), infinite, path.theta)
    beta = curvature(infinite, segments(path.theta, limit.theta))
    yield "risk_gap", horizon, found.risk
    yield "gradient_gap", horizon, found.gradient
    yield "curvature", horizon, beta
    yield "useful_time", horizon, useful_until(found.gradient, beta, 1.0)
    envelope = log_envelope(found.gradient, beta, times[1:]) / math.log(10)
    for t, value in zip(times[1:], envelope, strict=True):
        yield "log10_envelope", float(t), float(value)


def _balls(model: Model, chosen: Mapping[str, Any], radius: float) -> Iterator[tuple]:
    infinite, size = model.risk(math.inf), len(model.start(0))
    points = sphere(stream(chosen["seed"], "ball"), chosen["ball_points"], size, radius)
    lengths, horizon = sorted(chosen["lengths"]), float(chosen["horizon"])
    for L in lengths:
        risk = model.risk(L)
        found = gap(risk, infinite, points)
        row = (model.name, "same", "ball", L)
        yield *row, "risk_gap", horizon, found.risk
        yield *row, "gradient_gap", horizon, found.gradient
        yield *row, "curvature", horizon, curvature(infinite, points)
        if model.name == "reduced":
            growth = math.sqrt(math.log(L) / math.log(lengths[0]))
            grown = gap(risk, infinite, growth * points)
            yield model.name, "same", "growing", L, "risk_gap", horizon, grown.risk
