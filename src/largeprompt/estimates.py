"""Means of independent values with standard errors, and what can be fitted to them (numpy)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from largeprompt.errors import InputError


@dataclass(frozen=True)
class Estimate:
    """Mean of independent values and its standard error."""

    value: float
    stderr: float

    @classmethod
    def of(cls, values: np.ndarray) -> "Estimate":
        """Estimate from one value a prompt (prompt,). Raises InputError for fewer than 2."""
        if len(values) < 2:
            raise InputError(f"prompts = {len(values)}: a standard error needs at least 2")
        return cls(float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))))


def richardson_limit(lengths: Sequence[int], distances: np.ndarray) -> Estimate:
    """What distances `c + b / L` tend to, from the two longest lengths: an estimate of c.

    distances (length, prompt); lengths increasing, at least two.
    """
    (shorter, longer), (before, last) = lengths[-2:], distances[-2:]
    return Estimate.of((longer * last - shorter * before) / (longer - shorter))


def log_slope(lengths: Sequence[int], errors: np.ndarray) -> Estimate:
    """Least-squares slope of ln(mean error) against ln L, with its standard error.

    errors (length, prompt), positive on average. Lengths share prompts, so their means are
    dependent; the standard error comes from the influence of each prompt on the slope
    (delta method), which accounts for that.
    """
    x = np.log(lengths)
    weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()  # (length,)
    means = errors.mean(1)
    influence = weights @ (errors / means[:, None])
    return Estimate(float(weights @ np.log(means)), Estimate.of(influence).stderr)
