"""In-context linear regression: tasks, prompts and the token covariance (paper, section 5).

A task is a weight vector `w ~ N(0, task_variance I)`. Its tokens are
`z_i = (x_i, w^T x_i + noise)`, its query token is `(x_q, 0)`, and the value to predict is
`y_q = w^T x_q + noise`.
"""

from dataclasses import dataclass

import numpy as np
import torch

from largeprompt.errors import InputError
from largeprompt.tasks import RegressionTask


@dataclass(frozen=True, eq=False)
class Prompts:
    """tokens (prompt, L, d+1), query (prompt, d+1), target (prompt,), weights (prompt, d)."""

    tokens: torch.Tensor
    query: torch.Tensor
    target: torch.Tensor
    weights: torch.Tensor


def sample_prompts(
    rng: np.random.Generator | torch.Generator,
    task: RegressionTask,
    prompts: int,
    L: int,
    dtype: torch.dtype = torch.float64,
) -> Prompts:
    """Draw `prompts` prompts of length L, each with its own task; L = 0 draws tasks and queries.

    Prefix rule: from the same state of a numpy generator a shorter prompt is the beginning of a
    longer one, with the same task and query. A torch generator is several times faster, follows
    the rule only for the tasks and queries, and draws on its own device. Raises InputError for a
    negative L.
    """
    if L < 0:
        raise InputError(f"L = {L}: a prompt length cannot be negative")
    d = task.dimension
    normals = _normals(rng, (prompts, 2 * d + 1), dtype)
    weights = task.task_variance**0.5 * normals[:, :d]  # (prompt, d)
    root = torch.as_tensor(task.query_root, dtype=dtype, device=normals.device)
    inputs = normals[:, d : 2 * d] @ root
    target = (weights * inputs).sum(-1) + task.noise_variance**0.5 * normals[:, -1]
    query = torch.nn.functional.pad(inputs, (0, 1))  # (prompt, d+1)
    # Token by token, all prompts at once: this order is what makes the prefix rule hold.
    normals = _normals(rng, (L, prompts, d + 1), dtype).transpose(0, 1)
    tokens = normals @ _token_root(weights, task).mT  # (prompt, L, d+1)
    return Prompts(tokens, query, target, weights)


def token_covariance(
    w: torch.Tensor, Sigma: np.ndarray | torch.Tensor, noise_variance: float
) -> torch.Tensor:
    """Covariance (..., d+1, d+1) of a token given its task w (..., d); dtype and device of w.

    `Gamma_w = [[Sigma, Sigma w], [w^T Sigma, w^T Sigma w + noise_variance]]` (paper, section 5;
    docs/derivations.md, eq. 3.1).
    """
    lift = _lift(w)
    Gamma = lift @ torch.as_tensor(Sigma, dtype=w.dtype, device=w.device) @ lift.mT
    Gamma[..., -1, -1] += noise_variance
    return Gamma


def _lift(w: torch.Tensor) -> torch.Tensor:
    """Matrix (..., d+1, d) that sends an input x to (x, w^T x)."""
    d = w.shape[-1]
    identity = torch.eye(d, dtype=w.dtype, device=w.device).expand(*w.shape[:-1], d, d)
    return torch.cat([identity, w[..., None, :]], -2)


def _token_root(w: torch.Tensor, task: RegressionTask) -> torch.Tensor:
    """A root (..., d+1, d+1) of Gamma_w: it sends standard normals to a token with its label."""
    root = torch.as_tensor(task.context_root, dtype=w.dtype, device=w.device)
    inputs = _lift(w) @ root
    noise = torch.zeros_like(inputs[..., :1])
    noise[..., -1, 0] = task.noise_variance**0.5
    return torch.cat([inputs, noise], -1)


def _normals(
    rng: np.random.Generator | torch.Generator, shape: tuple[int, ...], dtype: torch.dtype
) -> torch.Tensor:
    """Standard normals from either kind of generator."""
    if isinstance(rng, torch.Generator):
        return torch.randn(shape, generator=rng, dtype=dtype, device=rng.device)
    kind = np.float32 if dtype == torch.float32 else np.float64
    return torch.from_numpy(rng.standard_normal(shape, dtype=kind))
