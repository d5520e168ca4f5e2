"""Scores over every window of a set."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from olinear.errors import DataError
from olinear.windows import Windows


@dataclass(frozen=True)
class Scores:
    """Errors on the scale of the data given (the paper's numbers are on the standardised scale)."""

    mse: float
    mae: float
    windows: int


@torch.no_grad()
def evaluate(model: Callable[[Tensor], Tensor], windows: Windows, batch_size: int = 128) -> Scores:
    """The mean errors of `b t n -> b h n` over every window, missing targets (NaN) left out; no batch is dropped."""
    if isinstance(model, nn.Module):
        model.eval()
    squared = absolute = count = 0.0
    for x, y in windows.batches(batch_size):
        forecast = model(x)
        if forecast.shape != y.shape:
            raise DataError(f"the forecast must have shape {tuple(y.shape)}, found {tuple(forecast.shape)}")
        error = (forecast - y)[~y.isnan()].double()
        squared += float(error.square().sum())
        absolute += float(error.abs().sum())
        count += error.numel()
    if not count:
        raise DataError("every target of these windows is missing: there is nothing to score")
    return Scores(squared / count, absolute / count, len(windows))


def last_value(horizon: int) -> Callable[[Tensor], Tensor]:
    """The forecast to beat: the last value seen, repeated."""
    return lambda x: x[:, -1:].expand(-1, horizon, -1)
