"""What tells tokens apart by their place."""

import math

import torch
from torch import Tensor, nn


def sinusoids(count: int, width: int) -> Tensor:
    """Fixed positions `[count, width]`: sines in the even columns, cosines in the odd ones, of falling frequency.

    P[k, 2i] = sin(k / 10000^(2i / width)),     P[k, 2i+1] = cos(k / 10000^(2i / width))
    """
    column = torch.arange(width)
    angle = torch.arange(count)[:, None] * torch.exp((column - column % 2) * (-math.log(10_000.0) / width))
    return torch.where(column % 2 == 0, angle.sin(), angle.cos())


def hold_position(module: nn.Module, start: Tensor, *, learnt: bool) -> None:
    """`module.position`: a parameter that starts from these values, or the values themselves, saved with the module."""
    if learnt:
        module.register_parameter("position", nn.Parameter(start))
    else:
        module.register_buffer("position", start)
