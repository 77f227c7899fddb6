"""Lemma 2.1 by routes that do not use it: the operator of random problems, the image of queries."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from largeprompt.gaussian_image import image_statistics
from largeprompt.random_operators import OperatorProblem, random_problem
from largeprompt.seeding import stream
from largeprompt.stages._job import Job
from largeprompt.tables import write_table
from largeprompt.tilting import cube_points, gaussian_points, sampled_tilted_mean, sign_points

_LARGEST_GRID = 3  # dimension; with 40 points a side a grid costs seconds from d = 4 on


def run(job: Job) -> None:
    """Write `identity` (one row a problem and formula) and `image` (one row a law and quantity)."""
    chosen = job.settings["tilting"]
    rows = [row for d in chosen["dimensions"] for row in _identity_rows(chosen, d)]
    columns = ["route", "dimension", "rank", "formula", "deviation", "error", "size", "z_score"]
    write_table(job.outputs["identity"], pd.DataFrame(rows, columns=columns), job.run)
    write_table(job.outputs["image"], _image_table(chosen), job.run)


def _identity_rows(chosen: Mapping[str, Any], d: int) -> Iterator[tuple]:
    for index in range(chosen["problems"]):
        rng = stream(chosen["seed"], "tilting", d, index)
        rank = d if index % 2 == 0 else max(1, d // 2)  # every second Gamma is singular
        problem = random_problem(rng, d, rank, rng.uniform(0.1, chosen["largest_scale"]))
        grid = d <= _LARGEST_GRID
        route = "quadrature" if grid else "sampling"
        value, covariance = _operator(rng, problem, grid, chosen)
        for name in ("affine", "uncentred"):
            gap, spread = value - getattr(problem, name), np.sqrt(np.diag(covariance))
            score = np.max(np.abs(gap) / spread) if not grid else 0.0
            size = np.linalg.norm(problem.affine)
            yield (route, d, rank, name, np.linalg.norm(gap), np.linalg.norm(spread), size, score)


def _operator(
    rng: np.random.Generator, problem: OperatorProblem, grid: bool, chosen: Mapping[str, Any]
) -> tuple[np.ndarray, np.ndarray]:
    """T[mu](z) of the problem and the covariance of its error."""
    V, a = problem.V, problem.tilt
    if grid:
        points = gaussian_points(problem.mean, problem.Gamma, chosen["largest_scale"])
        return V @ points.tilted_mean(a), np.zeros((len(V), len(V)))
    mean, Gamma, tokens = problem.mean, problem.Gamma, chosen["tokens"]
    value, covariance = sampled_tilted_mean(rng, mean, Gamma, a, tokens)
    return V @ value, V @ covariance @ V.T


def _image_table(chosen: Mapping[str, Any]) -> pd.DataFrame:
    """Statistics of T[mu](z), z ~ N(0, I), for laws of one mean and covariance in d = 2."""
    scale, mean = chosen["image_scale"], np.array([0.5, -0.3])
    U, V = scale * np.array([[1.0, 0.2], [0.2, 1.0]]), np.array([[1.0, 0.5], [0.0, 1.0]])
    Gamma = np.array([[1.0, 0.5], [0.5, 1.0]])
    a = stream(chosen["seed"], "image").standard_normal((chosen["queries"], 2)) @ U.T
    root, image = np.linalg.cholesky(Gamma), V @ Gamma @ U
    laws = {
        "gaussian": gaussian_points(mean, Gamma, float(np.linalg.norm(a @ root, axis=1).max())),
        "rademacher": sign_points(2).image(root, mean),
        "cube": cube_points(2).image(root, mean),
    }
    tables = []
    for law, points in laws.items():
        outputs = points.tilted_mean(a) @ V.T
        found = image_statistics(outputs, V @ mean, image @ image.T, chosen["projections"])
        tables.append(found.assign(law=law))
    return pd.concat(tables)
