"""Scores over every window of a set."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from olinear.core import DataError
from olinear.core.runtime import on_same_device
from olinear.data.windows import Windows
from olinear.models import answer

LEAST_VARIATION = 1e-5  # a target that moves less has no scale of its own


@dataclass(frozen=True)
class Scores:
    """Errors on the scale of the data given (the paper's numbers are on the standardised scale).

    The scale-free ones are means over windows and series, each over its horizon; those whose target hardly moves, or
    has missing values, are left out (NaN if none is left).

        R² = 1 - |ŷ - y|² / |y - mean(y)|²       r = corr(ŷ, y)       MASE = mean|ŷ - y| / mean|y_i - y_(i-1)|
    """

    mse: float
    mae: float
    r2: float
    pearson: float
    mase: float
    windows: int


class _Mean:
    """A running mean of the values that count."""

    def __init__(self) -> None:
        self.total, self.count = 0.0, 0

    def add(self, values: Tensor, counts: Tensor) -> None:
        self.total += float(values[counts].cpu().double().sum())  # Apple's MPS has no doubles
        self.count += int(counts.sum())

    def add_ratio(self, above: Tensor, below: Tensor) -> None:
        """Of ratios, where the lower part is large enough (a missing one is not)."""
        self.add(above / below, below >= LEAST_VARIATION)

    @property
    def value(self) -> float:
        return self.total / self.count if self.count else float("nan")


@torch.no_grad()
def evaluate(model: Callable[[Tensor], Tensor], windows: Windows, batch_size: int = 128) -> Scores:
    """The mean errors of `b t n -> b h n` over every window, missing targets (NaN) left out; no batch is dropped.

    A module is put in evaluation mode, and the windows go to its device.
    """
    if isinstance(model, nn.Module):
        windows = on_same_device(model.eval(), windows)
    mse, mae, unexplained, pearson, mase = (_Mean() for _ in range(5))
    for batch in windows.batches(batch_size):
        forecast, y = answer(model, batch).point, batch.targets
        if forecast.shape != y.shape:
            raise DataError(f"the forecast must have shape {tuple(y.shape)}, found {tuple(forecast.shape)}")
        error = forecast - y  # b h n
        mse.add(error.square(), ~y.isnan())
        mae.add(error.abs(), ~y.isnan())
        moves, forecast_moves = y - y.mean(1, keepdim=True), forecast - forecast.mean(1, keepdim=True)
        total, squares = moves.square().sum(1), forecast_moves.square().sum(1)  # b n
        unexplained.add_ratio(error.square().sum(1), total)
        pearson.add_ratio((moves * forecast_moves).sum(1), (total * squares).sqrt())
        if y.shape[1] > 1:
            mase.add_ratio(error.abs().mean(1), y.diff(dim=1).abs().mean(1))
    if not mse.count:
        raise DataError("every target of these windows is missing: there is nothing to score")
    return Scores(mse.value, mae.value, 1 - unexplained.value, pearson.value, mase.value, len(windows))


@torch.no_grad()
def window_errors(model: Callable[[Tensor], Tensor], windows: Windows, batch_size: int = 128) -> Tensor:
    """The MSE of each window by itself, `[windows]`, missing targets left out: what two models are compared by."""
    at_home = windows.values.device
    if isinstance(model, nn.Module):
        windows = on_same_device(model.eval(), windows)
    batches = windows.batches(batch_size)
    errors = (answer(model, batch).point - batch.targets for batch in batches)
    return torch.cat([error.square().flatten(1).nanmean(1) for error in errors]).to(at_home)


def last_value(horizon: int) -> Callable[[Tensor], Tensor]:
    """The forecast to beat: the last value seen, repeated."""
    return lambda x: x[:, -1:].expand(-1, horizon, -1)
