"""What the experiments on stored prompts of plain tokens share."""

from typing import NamedTuple

import torch

from largeprompt.measures import TokenLaw
from largeprompt.stages._job import Job
from largeprompt.stages._token_law import token_law
from largeprompt.tables import read_arrays


class TokenExperiment(NamedTuple):
    """Prompts with their law, and the head U = score_scale * I, V = I; tensors are float64."""

    tokens: torch.Tensor  # (prompt, token, d)
    queries: torch.Tensor  # (prompt, query, d)
    law: TokenLaw
    U: torch.Tensor  # (d, d)
    V: torch.Tensor  # (d, d)
    lengths: list[int]


def token_experiment(job: Job, section: str) -> TokenExperiment:
    """The experiment that the settings of `section` describe, on the tokens of the job."""
    data = read_arrays(job.input("tokens"), ["tokens", "queries"])
    tokens, queries = torch.from_numpy(data["tokens"]), torch.from_numpy(data["queries"])
    d, chosen = tokens.shape[-1], job.settings[section]
    law = token_law(job.wildcards["law"], d, job.settings["covariance"])
    V = torch.eye(d, dtype=torch.float64)
    return TokenExperiment(
        tokens, queries, law, chosen["score_scale"] * V, V, sorted(chosen["lengths"])
    )
