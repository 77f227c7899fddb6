"""Prop 3.1 for sub-Gaussian tokens that are not Gaussian, and for tokens it does not cover."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from largeprompt.bounds import envelope_shape, smallest_constant
from largeprompt.estimates import Estimate
from largeprompt.heavy_tails import HEAVY_TAILED, output_spread, sample_heavy_tailed
from largeprompt.monte_carlo import output_errors
from largeprompt.seeding import stream
from largeprompt.stages._job import Job
from largeprompt.standard_laws import standard_law
from largeprompt.tables import write_table


def run(job: Job) -> None:
    """Write mean square errors and spreads (half the distance of two prompts), a row each L.

    Tokens have mean 0 and covariance sigma^2 I; U = score_scale I, V = I. c1 is set once for all
    sub-Gaussian laws and sigmas on their errors at 2 <= L <= calibrate_to. Heavy-tailed laws have
    no error, for want of a limit; their spread is at most the error against any limit.
    """
    chosen = job.settings["spread"]
    lengths = sorted(chosen["lengths"])
    rows = []
    for law in (*chosen["laws"], *HEAVY_TAILED):
        for sigma, found in _of_law(chosen, law, lengths):
            for quantity, values in found.items():
                means = [Estimate.of(v) for v in values]
                heavy = law in HEAVY_TAILED
                rows += [
                    (law, heavy, sigma, quantity, L, m.value, m.stderr)
                    for L, m in zip(lengths, means, strict=True)
                ]
        job.progress(f"{law} done")
    columns = ["law", "heavy", "sigma", "quantity", "L", "error", "stderr"]
    table = pd.DataFrame(rows, columns=columns)
    write_table(job.outputs["table"], _with_bound(table, chosen), job.run)


def _of_law(chosen: Mapping[str, Any], law: str, lengths: list[int]):
    """(sigma, {quantity: values (length, pair)}); every sigma uses the same tokens, scaled."""
    d, seed = chosen["dimension"], chosen["seed"]
    shape = (chosen["pairs"], 2, max(lengths), d)
    tokens = _tokens(law, stream(seed, "spread", law), shape)
    normal = stream(seed, "spread", "queries").standard_normal((shape[0], chosen["queries"], d))
    queries, V = torch.from_numpy(normal), torch.eye(d, dtype=torch.float64)
    U = chosen["score_scale"] * V
    for sigma in chosen["sigmas"] if law not in HEAVY_TAILED else [1.0]:
        scaled = sigma * tokens
        found = {"spread": output_spread(scaled, queries, U, V, lengths)}
        if law not in HEAVY_TAILED:
            image = standard_law(law, d).linear_image(sigma * np.eye(d))
            found["error"] = output_errors(image, scaled[:, 0], queries, U, V, lengths)
        yield sigma, found


def _tokens(law: str, rng: np.random.Generator, shape: tuple[int, ...]) -> Tensor:
    if law in HEAVY_TAILED:
        return sample_heavy_tailed(law, rng, *shape)
    return standard_law(law, shape[-1]).sample(rng, *shape[:-1])


def _with_bound(table: pd.DataFrame, chosen: Mapping[str, Any]) -> pd.DataFrame:
    unscaled = envelope_shape(table["sigma"], table["L"].astype(float), chosen["c2"])
    short = (table["L"] >= 2) & (table["L"] <= chosen["calibrate_to"])
    used = short & (table["quantity"] == "error")
    bound = smallest_constant(table["error"][used], unscaled[used]) * unscaled
    return table.assign(calibrates=short, bound=bound)
