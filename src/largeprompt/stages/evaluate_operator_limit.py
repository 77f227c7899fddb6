"""Lemma 2.1 by simulation: how far finite softmax attention is from two candidate limits."""

import pandas as pd

from largeprompt.attention import infinite_attention, softmax_attention_prefixes
from largeprompt.estimates import Estimate, richardson_limit
from largeprompt.monte_carlo import squared_distances
from largeprompt.stages._job import Job
from largeprompt.stages._token_experiment import token_experiment
from largeprompt.tables import write_table


def run(job: Job) -> None:
    """Write mean square distances to each limit, relative to E |affine|^2 (tidy, one value a row).

    Limits: `own`, the infinite-prompt operator of the law; `affine`, the formula V m + V Gamma U z
    of Lemma 2.1. Quantities: `distance` at each L; `floor`, what it tends to, extrapolated from
    the two longest prompts; `gap`, what it should tend to: the exact distance of the two limits.
    """
    tokens, queries, law, U, V, lengths = token_experiment(job, "operator_limit")
    own = infinite_attention(law, queries, U, V)
    affine = (law.mean + queries @ U.mT @ law.covariance) @ V.mT
    outputs = softmax_attention_prefixes(tokens[:, None], queries, U, V, lengths)
    size = float((affine**2).sum(-1).mean())
    rows = []
    for limit, target in {"own": own, "affine": affine}.items():
        distances = squared_distances(outputs, target) / size  # (length, prompt)
        gap = Estimate.of(squared_distances(own[None], target)[0] / size)
        estimates = [
            ("distance", L, Estimate.of(d)) for L, d in zip(lengths, distances, strict=True)
        ]
        estimates.append(("floor", lengths[-1], richardson_limit(lengths, distances)))
        estimates.append(("gap", lengths[-1], gap))
        rows += [(job.wildcards["law"], limit, q, L, e.value, e.stderr) for q, L, e in estimates]
    columns = ["law", "limit", "quantity", "L", "value", "stderr"]
    write_table(job.outputs["table"], pd.DataFrame(rows, columns=columns), job.run)
