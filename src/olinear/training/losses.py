"""Losses of a forecast, `b h n` against `b h n`: means over every value, missing targets (NaN) left out."""

from collections.abc import Callable

import torch
from torch import Tensor

from olinear.core import DataError

Loss = Callable[[Tensor, Tensor], Tensor]


def l1(forecast: Tensor, target: Tensor) -> Tensor:
    """mean |ŷ - y|"""
    return _mean_present(_error(forecast, target).abs(), target)


def l2(forecast: Tensor, target: Tensor) -> Tensor:
    """mean (ŷ - y)²"""
    return _mean_present(_error(forecast, target).square(), target)


def weighted_l1(forecast: Tensor, target: Tensor) -> Tensor:
    """The paper's loss: mean of (i + 1)^(-1/2) |ŷ_i - y_i| over steps i = 0 … h-1; far steps count less."""
    steps = torch.arange(1, forecast.shape[-2] + 1, dtype=forecast.dtype, device=forecast.device)
    return _mean_present(_error(forecast, target).abs().sum((0, 2)) * steps.rsqrt(), target)


def count_present(target: Tensor) -> int:
    """How many values of a target count."""
    return target.numel() - int(target.isnan().sum())


def _error(forecast: Tensor, target: Tensor) -> Tensor:
    """ŷ - y; 0, and without a gradient, where y is missing."""
    if forecast.shape != target.shape:
        raise DataError(f"the forecast must have shape {tuple(target.shape)}, found {tuple(forecast.shape)}")
    missing = target.isnan()
    return (forecast - target).masked_fill(missing, 0.0) if missing.any() else forecast - target


def _mean_present(loss: Tensor, target: Tensor) -> Tensor:
    return loss.sum() / max(count_present(target), 1)


LOSSES: dict[str, Loss] = {"weighted_l1": weighted_l1, "l1": l1, "l2": l2}
