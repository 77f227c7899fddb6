"""Cheaper attention in place of trained softmax attention, with its weights, on regression prompts.

Weights are those of the family of Theorem 5.1: scores <x_i, A x_q>, prediction b sum_i p_i y_i, A
symmetric and positive. Performer: positive orthogonal random features of the exponential kernel
(Choromanski et al., arXiv 2009.14794). Linformer: the prompt projected to k rows (Wang et al.,
arXiv 2006.04768). Predictions are (prompt,) from tokens (prompt, L, d+1) and queries
(prompt, d+1) as `regression.sample_prompts` draws them.
"""

from collections.abc import Sequence

import numpy as np
import torch
from scipy.linalg import solve_triangular
from torch import Tensor

from largeprompt.covariances import square_root
from largeprompt.errors import InputError
from largeprompt.estimates import Estimate

_CHUNK = 1 << 22  # features of tokens held at once


def softmax_predictions(tokens: Tensor, query: Tensor, A: np.ndarray, b: float) -> Tensor:
    """Trained softmax attention, by which the swaps are measured."""
    scores = torch.einsum("pld,pd->pl", tokens[..., :-1], query[..., :-1] @ torch.as_tensor(A).mT)
    return b * (torch.softmax(scores, -1) * tokens[..., -1]).sum(-1)


def performer_predictions(
    tokens: Tensor,
    query: Tensor,
    A: np.ndarray,
    b: float,
    directions: np.ndarray,
    counts: Sequence[int],
) -> Tensor:
    """Random-feature attention with the first n of `directions` (r, d): (count, prompt).

    exp(<k, q>) = E exp(<w, k> - |k|^2/2) exp(<w, q> - |q|^2/2) over w ~ N(0, I), with keys
    A^(1/2) x_i and query A^(1/2) x_q. Single precision: sampling errors are far larger.
    """
    root = torch.as_tensor(square_root(A), dtype=torch.float32)
    w = torch.as_tensor(directions, dtype=torch.float32)
    of_query = _positive_features(query[..., :-1].float() @ root, w)  # (prompt, r)
    sums = torch.zeros(*of_query.shape, 2)
    for part in tokens.float().split(max(1, _CHUNK // of_query.numel()), dim=1):
        features = _positive_features(part[..., :-1] @ root, w)  # (prompt, token, r)
        values = torch.stack([part[..., -1], torch.ones_like(part[..., -1])], -1)
        sums += features.mT @ values
    shares = (of_query[..., None] * sums).cumsum(1)[:, [n - 1 for n in counts]]
    return b * (shares[..., 0] / shares[..., 1]).mT.double()


def linformer_predictions(
    tokens: Tensor, query: Tensor, A: np.ndarray, b: float, projection: np.ndarray
) -> Tensor:
    """Softmax attention over the k rows of `projection` (k, L) times the prompt.

    Keys and values share the projection. With orthonormal rows the projected prompt of Gaussian
    tokens has the law of k tokens, so this is softmax attention on a prompt of length k.
    """
    return softmax_predictions(torch.as_tensor(projection) @ tokens, query, A, b)


def orthogonal_directions(rng: np.random.Generator, count: int, d: int) -> np.ndarray:
    """`count` directions (count, d), each N(0, I), orthogonal within blocks of d."""
    blocks = -(-count // d)
    q, r = np.linalg.qr(rng.standard_normal((blocks, d, d)))
    q *= np.sign(np.diagonal(r, axis1=1, axis2=2))[:, None, :]  # else the first entries lean
    norms = np.sqrt(rng.chisquare(d, (blocks, d)))
    return (q.mT * norms[..., None]).reshape(-1, d)[:count]


def orthonormal_rows(rng: np.random.Generator, rows: int, L: int) -> np.ndarray:
    """A random projection (rows, L) with orthonormal rows. Raises InputError if rows > L."""
    if rows > L:
        raise InputError(f"rows = {rows}: must be at most the prompt length {L}")
    normals = rng.standard_normal((rows, L))
    if 4 * rows > L:
        return np.linalg.qr(normals.T)[0].T
    # well conditioned by then, and several times faster
    factor = np.linalg.cholesky(normals @ normals.T)
    return solve_triangular(factor, normals, lower=True, overwrite_b=True, check_finite=False)


def performer_floor(
    rng: np.random.Generator,
    Sigma: np.ndarray,
    A: np.ndarray,
    b: float,
    task_variance: float,
    counts: Sequence[int],
    draws: int,
) -> list[Estimate]:
    """What random features add to the risk of an infinite prompt, one estimate a count.

    With keys N(0, K), E exp(<w, k> - |k|^2/2) k is (I + K^-1)^-1 w times the feature's mean, which
    is exp(<w, (I + K^-1)^-1 w> / 2) up to a factor. Every draw has its own features and query.
    """
    d, root, input_root = len(A), square_root(A), square_root(Sigma)
    K = root @ Sigma @ root
    shrunk = np.linalg.solve(np.eye(d) + K, K)  # (I + K^-1)^-1, also for a singular K
    back = input_root @ np.linalg.pinv(root @ input_root)  # E[x | key] = back @ key
    total = max(counts)
    added = np.empty((draws, len(counts)))
    for i in range(draws):
        w = orthogonal_directions(rng, total, d)
        x_q = input_root @ rng.standard_normal(d)
        seen = w @ shrunk
        log_shares = w @ (root @ x_q) + 0.5 * np.sum(w * seen, 1)
        shares = np.exp(log_shares - log_shares.max())
        means = np.cumsum(shares[:, None] * seen, 0) / np.cumsum(shares)[:, None]
        found = means[[n - 1 for n in counts]] @ back.T  # (count, d), what w.x is read as
        limit = Sigma @ A @ x_q
        square = np.sum((b * found - x_q) ** 2, 1) - np.sum((b * limit - x_q) ** 2)
        added[i] = task_variance * square
    return [Estimate.of(column) for column in added.T]


def cost_per_token(swap: str, size: int, d: int, L: float) -> float:
    """Multiplications for each token of a prompt in which every token is also a query.

    Scores of d entries and one value: softmax L (d + 1); linear 2 d; Performer features, sums and
    read-out `size` (2 d + 4); Linformer projection and attention 2 `size` (d + 1).
    """
    return {
        "softmax": L * (d + 1),
        "linear": 2 * d,
        "uniform": 1,
        "performer": size * (2 * d + 4),
        "linformer": 2 * size * (d + 1),
    }[swap]


def _positive_features(keys: Tensor, w: Tensor) -> Tensor:
    return (keys @ w.mT - (keys**2).sum(-1, keepdim=True) / 2).exp()
