"""Moving averages along the last axis, and what they leave."""

import torch
import torch.nn.functional as F
from torch import Tensor


def repeat_ends(x: Tensor, front: int, behind: int) -> Tensor:  # ... t -> ... front+t+behind
    """The last axis made longer by repeating its first value `front` times and its last `behind` times."""
    return torch.cat([x[..., :1].expand(*x.shape[:-1], front), x, x[..., -1:].expand(*x.shape[:-1], behind)], -1)


def moving_average(x: Tensor, window: int) -> Tensor:  # ... t
    """The mean over `window` neighbours on the last axis, its ends padded by repeating the first and last value."""
    padded = repeat_ends(x, window // 2, (window - 1) // 2)
    return F.avg_pool1d(padded.reshape(-1, 1, padded.shape[-1]), window, 1).view_as(x)


def decompose(x: Tensor, window: int) -> tuple[Tensor, Tensor]:  # ... t
    """Season and trend: what a moving average leaves, and the average."""
    trend = moving_average(x, window)
    return x - trend, trend
