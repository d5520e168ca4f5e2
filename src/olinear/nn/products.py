"""Products of matrices, nearly all of OLinear's work, by the kernels that `computing_in` names."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from olinear.core.runtime import onednn_linear, present_kernels

LEAST = 1_500_000  # multiplications; of fewer the product is done before the other kernels are called
LEAST_LEARNING = 4_000_000  # with the way back, which Python takes part in


class Linear(nn.Linear):
    """`x Wᵀ + b`: torch's layer by our products."""

    def forward(self, x: Tensor) -> Tensor:  # ... in
        return linear(x, self.weight, self.bias)  # ... out


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:  # ... in
    """`x Wᵀ + b`, for one W `[out, in]`."""
    if not _by_onednn(x, weight):
        return F.linear(x, weight, bias)
    if torch.is_grad_enabled():
        rows: Tensor = _Linear.apply(x.reshape(-1, x.shape[-1]), weight, bias)
        return rows.view(*x.shape[:-1], -1)
    return onednn_linear(x, weight, bias)  # ... out


def curved_linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:  # ... in
    """`GELU(x Wᵀ + b)`, in one pass where no gradient is wanted."""
    if _by_onednn(x, weight) and not torch.is_grad_enabled():
        return onednn_linear(x, weight, bias, gelu=True)
    return F.gelu(linear(x, weight, bias))  # ... out


def multiply(a: Tensor, b: Tensor) -> Tensor:  # ... q, q r
    """`a b`, for one matrix b."""
    return linear(a, b.mT) if _by_onednn(a, b) else a @ b  # ... r


def _by_onednn(x: Tensor, weight: Tensor) -> bool:
    if present_kernels() != "onednn" or x.device.type != "cpu" or torch.is_autocast_enabled("cpu"):
        return False
    if x.dtype != weight.dtype or x.dtype not in (torch.float32, torch.bfloat16):
        return False
    return x.numel() * len(weight) >= (LEAST_LEARNING if torch.is_grad_enabled() else LEAST)


class _Linear(torch.autograd.Function):
    """The same of a matrix x, with a gradient: `∂x = g W`, `∂W = gᵀ x`, `∂b = Σ g`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        return onednn_linear(x, weight, bias)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        of_x, of_weight, of_bias = ctx.needs_input_grad
        return (
            onednn_linear(gradient, weight.mT) if of_x else None,
            onednn_linear(gradient.mT, x.mT) if of_weight else None,
            gradient.sum(0) if of_bias else None,
        )
