"""Operators of related papers, by simulation: mixtures of Gaussians, dependent Gaussian tokens."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch

from largeprompt.attention import infinite_attention, softmax_attention_prefixes
from largeprompt.covariances import covariance_matrix
from largeprompt.dependent_tokens import seasonal_tokens, stationary_tokens
from largeprompt.estimates import Estimate, richardson_limit
from largeprompt.measures import Gaussian, GaussianMixture, TokenLaw
from largeprompt.monte_carlo import squared_distances
from largeprompt.seeding import stream
from largeprompt.stages._job import Job
from largeprompt.tables import write_table


@dataclass(frozen=True, eq=False)
class _Case:
    """Tokens of one kind and the law whose operator they are compared with."""

    neighbour: str
    name: str
    applies: bool  # whether the paper says that they agree
    tokens: torch.Tensor  # (prompt, L, d)
    law: TokenLaw


def run(job: Job) -> None:
    """Write mean square distances of finite attention to an operator, relative to its square.

    Quantities as in `evaluate_operator_limit`: `distance` at each L, `floor`, what it tends to.
    """
    settings = job.settings
    lengths, d = sorted(settings["operator_limit"]["lengths"]), settings["tokens"]["dimension"]
    Gamma = covariance_matrix(dimension=d, **settings["covariance"])
    V = torch.eye(d, dtype=torch.float64)
    U = settings["operator_limit"]["score_scale"] * V
    shape = settings["tokens"]["prompts"], settings["tokens"]["queries"], d
    seed, rows = settings["neighbours"]["seed"], []
    queries = torch.from_numpy(stream(seed, "neighbours", "queries").standard_normal(shape))
    for case in _cases(settings, Gamma, lengths[-1]):
        target = infinite_attention(case.law, queries, U, V)
        outputs = softmax_attention_prefixes(case.tokens[:, None], queries, U, V, lengths)
        distances = squared_distances(outputs, target) / float((target**2).sum(-1).mean())
        found = [
            ("distance", L, Estimate.of(row)) for L, row in zip(lengths, distances, strict=True)
        ]
        found.append(("floor", lengths[-1], richardson_limit(lengths, distances)))
        label = case.neighbour, case.name, int(case.applies)
        rows += [(*label, quantity, L, e.value, e.stderr) for quantity, L, e in found]
        job.progress(f"{case.neighbour}: {case.name} done")
    columns = ["neighbour", "case", "applies", "quantity", "L", "value", "stderr"]
    write_table(job.outputs["table"], pd.DataFrame(rows, columns=columns), job.run)


def _cases(settings: dict, Gamma: np.ndarray, L: int) -> Iterator[_Case]:
    chosen, d, prompts = settings["neighbours"], len(Gamma), settings["tokens"]["prompts"]

    def rng(name: str) -> np.random.Generator:
        return stream(chosen["seed"], "neighbours", name)

    mixture = _mixture(Gamma, chosen["mixture_mean"])
    tokens = mixture.sample(rng("mixture"), prompts, L)
    yield _Case("gabet", "gate over experts", True, tokens, mixture)
    matched = Gaussian(mixture.mean, mixture.covariance)
    yield _Case("gabet", "one expert of the same moments", False, tokens, matched)
    law = Gaussian(np.zeros(d), Gamma)
    for correlation in chosen["correlations"]:
        name = f"correlation {correlation:g}"
        tokens = torch.from_numpy(stationary_tokens(rng(name), Gamma, correlation, prompts, L))
        yield _Case("xu-fang", name, True, tokens, law)
    strongest = max(chosen["correlations"], key=abs)
    yield _Case("xu-fang", "variance not kept", False, tokens / (1 - strongest**2) ** 0.5, law)
    mean = chosen["mixture_mean"] * np.eye(d)[0]
    seasonal = seasonal_tokens(rng("seasonal"), Gamma, mean, prompts, L)
    yield _Case("xu-fang", "seasonal mean", False, torch.from_numpy(seasonal), law)


def _mixture(Gamma: np.ndarray, size: float) -> GaussianMixture:
    """Three unlike components: two at +- size e_1, one at the centre of half the spread."""
    mean = size * np.eye(len(Gamma))[0]
    identity = np.eye(len(Gamma))
    return GaussianMixture(
        [0.5, 0.3, 0.2],
        np.stack([mean, -mean, 0 * mean]),
        np.stack([Gamma, 0.5 * identity, Gamma / 4]),
    )
