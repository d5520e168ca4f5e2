"""What the forecasters without gradient share: the moments of windows, and one linear map solved from them."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from olinear.core import DataError, NotFittedError
from olinear.data.windows import Windows
from olinear.models.zoo.blocks.window_model import WindowModel
from olinear.nn import NEGLIGIBLE, RevIN, WindowStats

BATCH_VALUES = 2**22  # float64 values of windows in memory at a time: 32 MB


class Moments(NamedTuple):
    """Mean `[t+h]` and covariance `[t+h, t+h]` of windows, in float64."""

    mean: Tensor
    covariance: Tensor


class ClosedForm(WindowModel):
    """A linear map from lookback to horizon, solved and not trained.

        ŷ = m + s (Wᵀ (x - m) / s + b)

    m and s are the window's mean and deviation (IN), or, without `normalise`, the mean of the training rows and 1. W
    and b are buffers: `solve` fills them from the moments of the training windows, each window of each series counted
    in proportion to s². Squared errors of normalised windows are so weighed as the errors of the forecasts themselves,
    and flat windows, whose normalised targets have no bound, do not rule.

    A window and series with a missing target is left out of the moments; a missing value of a lookback counts as the
    mean m.

    Args:
        n_series, lookback, horizon: n, t, h.
        individual: one map for each series; otherwise one for all, which then takes any number of series.
        normalise: remove each window's mean and deviation.
    """

    weight: Tensor
    bias: Tensor
    centre: Tensor
    solved: Tensor

    def __init__(self, n_series: int, lookback: int, horizon: int, *, individual: bool, normalise: bool):
        super().__init__(n_series, lookback, horizon)
        self.individual, self.normalise = individual, normalise
        self.permutes_series = not individual
        self.norm = RevIN(n_series, affine=False)
        self.register_buffer("weight", torch.zeros(*([n_series] if individual else []), lookback, horizon))
        self.register_buffer("bias", torch.zeros(horizon, n_series if individual else 1))
        self.register_buffer("centre", torch.zeros(n_series if individual else 1))
        self.register_buffer("solved", torch.tensor(False))

    def learn(self, group: int, moments: Moments) -> None:
        """Set what belongs to series number `group`, or to all of them, by `set_map`."""
        raise NotImplementedError

    def set_map(self, group: int, gain: Tensor, moments: Moments) -> None:
        """W is the gain `[t, h]`; b makes the mean lookback forecast the mean horizon."""
        before, after = moments.mean.split((self.lookback, self.horizon))
        (self.weight[group] if self.individual else self.weight).copy_(gain)
        self.bias[:, group].copy_(after - before @ gain)

    @torch.no_grad()
    def solve(self, windows: Windows) -> None:
        """Compute the map from training windows, some at a time; no other row is read."""
        if (windows.n_series, windows.lookback, windows.horizon) != (self.n_series, self.lookback, self.horizon):
            raise DataError(
                f"windows must have {self.n_series} series, lookback {self.lookback} and horizon {self.horizon}, "
                f"found {windows.n_series}, {windows.lookback} and {windows.horizon}"
            )
        windows = windows.to(self.weight.device)
        used = slice(min(windows.starts), max(windows.starts) + self.lookback + self.horizon)
        if windows.values[used].isinf().any() or windows.targets[used].isinf().any():
            raise DataError("the training windows hold infinite values: pass finite ones, or NaN for missing ones")
        self.centre.copy_(windows.values[used].double().nanmean(0 if self.individual else None).nan_to_num())
        for group, part in enumerate(_by_series(windows) if self.individual else [windows]):
            self.learn(group, self._moments(group, part))
        self.solved.fill_(True)

    def forward(self, x: Tensor) -> Tensor:  # b t n
        if not self.solved:
            raise NotFittedError(f"this {type(self).__name__} is not solved yet: call solve(windows) first")
        z, stats = self.standardise(x)
        y = torch.einsum("btn,nth->bhn" if self.individual else "btn,th->bhn", z, self.weight) + self.bias
        return self.norm.inverse(y, stats)  # b h n

    def standardise(self, x: Tensor, groups: slice = slice(None)) -> tuple[Tensor, WindowStats]:  # b t n
        """(x - m) / s, and m and s, of all series or of some."""
        if self.normalise:
            return self.norm.standardise(x)
        stats = WindowStats(self.centre[groups].to(x.dtype), x.new_ones(()))
        z = x - stats.mean
        return z.masked_fill(z.isnan(), 0.0), stats

    def _moments(self, group: int, windows: Windows) -> Moments:
        """Of (x - m, y - m) / s, weighed by s²: the sums are those of the products of s · (z, 1, target)."""
        t, size = self.lookback, self.lookback + 1 + self.horizon
        gram = torch.zeros(size, size, dtype=torch.float64, device=windows.values.device)
        for batch in windows.batches(max(1, BATCH_VALUES // (size * windows.n_series))):
            x, y = batch.pair
            z, stats = self.standardise(x.double(), slice(group, group + 1))
            target = (y.double() - stats.mean) / stats.deviation
            rows = (torch.cat([z, torch.ones_like(z[:, :1]), target], 1) * stats.deviation).mT.flatten(0, 1)
            rows = rows[~rows.isnan().any(-1)]  # b·n t+1+h
            gram += rows.mT @ rows
        weight = gram[t, t].clone()
        if not weight:
            raise DataError("every training window lacks a target: solve on other rows or a shorter horizon")
        rest = torch.arange(size, device=gram.device) != t
        mean, products = gram[t, rest] / weight, gram[rest][:, rest] / weight
        covariance = products - torch.outer(mean, mean)
        varies = covariance.diagonal() > NEGLIGIBLE * products.diagonal()  # the rest is rounding error
        return Moments(mean, covariance * torch.outer(varies, varies))

    def extra_repr(self) -> str:
        return f"{self.lookback}, {self.horizon}, individual={self.individual}, normalise={self.normalise}"


def _by_series(windows: Windows) -> Iterator[Windows]:
    """The windows of each series alone."""
    for one in range(windows.n_series):
        values, targets = (rows[:, one : one + 1] for rows in (windows.values, windows.targets))
        same = windows.targets is windows.values
        yield Windows(values, windows.lookback, windows.horizon, windows.starts, None if same else targets)
