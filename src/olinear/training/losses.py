"""Losses of a forecast, `b h n` against `b h n`, mean over everything."""

from collections.abc import Callable

import torch
from torch import Tensor

Loss = Callable[[Tensor, Tensor], Tensor]


def l1(forecast: Tensor, target: Tensor) -> Tensor:
    """mean |ŷ - y|"""
    return (forecast - target).abs().mean()


def l2(forecast: Tensor, target: Tensor) -> Tensor:
    """mean (ŷ - y)²"""
    return (forecast - target).square().mean()


def weighted_l1(forecast: Tensor, target: Tensor) -> Tensor:
    """The paper's loss: mean of (i + 1)^(-1/2) |ŷ_i - y_i| over steps i = 0 … h-1; far steps count less."""
    steps = torch.arange(1, forecast.shape[-2] + 1, dtype=forecast.dtype, device=forecast.device)
    return ((forecast - target).abs().mean((0, 2)) * steps.rsqrt()).mean()


LOSSES: dict[str, Loss] = {"weighted_l1": weighted_l1, "l1": l1, "l2": l2}
