"""Forecasts, targets and batches that the tests of scores share."""

import numpy as np
import torch
from torch import Tensor

from olinear.core import Batch, Quantiles

LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)


def draw(windows: int, horizon: int, series: int, seed: int = 0, missing: float = 0.0) -> Batch:
    """Walks in float64, the past twelve rows long, with a share of the targets missing."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(windows, 12 + horizon, series)).cumsum(1)
    future = values[:, 12:].copy()
    future[rng.random(future.shape) < missing] = np.nan
    return Batch(torch.tensor(values[:, :12]), torch.tensor(future))


def guess(batch: Batch, seed: int = 1) -> Tensor:
    """A forecast that is near the target where there is one."""
    rng = np.random.default_rng(seed)
    return torch.tensor(np.nan_to_num(batch.targets.numpy(), nan=0.5) + rng.normal(size=batch.targets.shape))


def guess_quantiles(batch: Batch, levels: tuple[float, ...] = LEVELS) -> Quantiles:
    """Quantiles around the guess."""
    steps = torch.tensor(np.linspace(-1.5, 1.5, len(levels)))[:, None, None, None]
    return Quantiles(guess(batch) + steps, levels)
