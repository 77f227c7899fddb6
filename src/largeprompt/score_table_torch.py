"""Tensors in and out of a score table, with derivatives of every order the table knows."""

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from largeprompt.score_table import ScoreMomentTable


class _Lookup(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, s: torch.Tensor, table: "ScoreMomentTable", order: int) -> torch.Tensor:
        ctx.save_for_backward(s)
        ctx.table, ctx.order = table, order
        values = table.derivatives(s.detach().numpy(), order)[order]  # (function, *s.shape)
        return torch.from_numpy(values)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        (s,) = ctx.saved_tensors
        slope = _Lookup.apply(s, ctx.table, ctx.order + 1)
        return (gradient * slope).sum(0), None, None


def lookup(s: torch.Tensor, table: "ScoreMomentTable", order: int) -> tuple[torch.Tensor, ...]:
    """Derivatives of the given order in s of (q, h) as tensors of the shape of `s` (float64)."""
    return tuple(_Lookup.apply(s.double(), table, order))
