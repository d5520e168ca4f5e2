"""Pieces that several forecasters share, each written once."""

import math
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from olinear.core import ConfigError, DataError
from olinear.nn import RevIN, WindowStats, check_windows


class WindowModel(nn.Module):
    """What every forecaster here is: `b t n -> b h n`, for windows of the sizes it was made for.

    Args:
        n_series, lookback, horizon: n, t, h.
    """

    permutes_series = False  # are permuted series forecast alike? Then nothing ties the model to n of them

    def __init__(self, n_series: int, lookback: int, horizon: int):
        super().__init__()
        self.n_series, self.lookback, self.horizon = n_series, lookback, horizon
        self.register_forward_pre_hook(_check_input)


def _check_input(model: WindowModel, inputs: tuple[Tensor, ...]) -> None:
    if inputs:  # not by name
        check_windows(inputs[0], model.lookback, None if model.permutes_series else model.n_series)


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


def cut_patches(x: Tensor, length: int, stride: int, *, pad_end: bool = True) -> Tensor:  # ... t -> ... p length
    """Patches of `length` every `stride`; the last value is repeated `stride` times at the end, if so asked."""
    return (repeat_ends(x, 0, stride) if pad_end else x).unfold(-1, length, stride)


def count_patches(lookback: int, length: int, stride: int, *, pad_end: bool = True) -> int:
    """How many patches `cut_patches` makes."""
    if min(length, stride) < 1:
        raise ConfigError(f"patches need a length and a stride of at least 1, found {length} and {stride}")
    padding = stride if pad_end else 0
    if lookback + padding < length:
        raise ConfigError(
            f"patches of {length} every {stride} need a lookback of at least {length - padding}, found {lookback}: "
            "pass shorter patches or a longer lookback"
        )
    return (lookback + padding - length) // stride + 1


def sinusoids(count: int, width: int) -> Tensor:
    """Fixed positions `[count, width]`: sines in the even columns, cosines in the odd ones, of falling frequency.

    P[k, 2i] = sin(k / 10000^(2i / width)),     P[k, 2i+1] = cos(k / 10000^(2i / width))
    """
    column = torch.arange(width)
    angle = torch.arange(count)[:, None] * torch.exp((column - column % 2) * (-math.log(10_000.0) / width))
    return torch.where(column % 2 == 0, angle.sin(), angle.cos())


class Dropout(nn.Dropout):
    """Dropout that takes four decisions from one random number, on a CPU; its chance is a multiple of 2⁻¹⁶.

    PyTorch draws a number for each value, which not every CPU does fast: narrow layers waited longer for their dropout
    than for their matrix products.
    """

    def forward(self, x: Tensor) -> Tensor:  # any shape
        dropped = round(self.p * 2**16)  # of the 2¹⁶ numbers of 16 bits
        if not (self.training and 0 < dropped < 2**16 and x.device.type == "cpu"):
            return super().forward(x)
        draws = torch.empty((x.numel() + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
        kept = draws.view(torch.int16)[: x.numel()].view(x.shape) >= dropped - 2**15
        return x * (kept * (2**16 / (2**16 - dropped))).to(x.dtype)


class CircularConvolution(nn.Conv1d):
    """Each step from itself and both its neighbours, the ends being neighbours too: `... t c -> ... t m`.

        y_j = W₀ x_{j-1} + W₁ x_j + W₂ x_{j+1},     x_{-1} = x_{t-1},  x_t = x_0

    Args:
        in_dim, out_dim: c and m.
    """

    def __init__(self, in_dim: int, out_dim: int):
        super().__init__(in_dim, out_dim, 3, padding=1, padding_mode="circular", bias=False)

    def forward(self, x: Tensor) -> Tensor:  # ... t c
        rows = x.reshape(-1, *x.shape[-2:]).mT  # b c t
        return super().forward(rows).mT.reshape(*x.shape[:-1], self.out_channels)  # ... t m


def circular_embedding(in_dim: int, model_dim: int) -> CircularConvolution:
    """The embedding over time of several forecasters, `... t c -> ... t m`; it starts from N(0, 2 / (3 c))."""
    layer = CircularConvolution(in_dim, model_dim)
    nn.init.kaiming_normal_(layer.weight, mode="fan_in", nonlinearity="leaky_relu")
    return layer


def time_linear(n_series: int, lookback: int, horizon: int, *, individual: bool = False) -> nn.Module:
    """A linear layer along time, `... n t -> ... n h`: one for all series, or one for each."""
    return PerSeriesLinear(n_series, lookback, horizon) if individual else nn.Linear(lookback, horizon)


class PerSeriesLinear(nn.Module):
    """A linear layer of its own for each series: `... n t -> ... n h`.

        y_i = W_i x_i + b_i

    Starts as `nn.Linear` does: weights and biases from U(±1/√t).

    Args:
        n_series, in_dim, out_dim: n, t, h.
    """

    def __init__(self, n_series: int, in_dim: int, out_dim: int):
        super().__init__()
        bound = in_dim**-0.5
        self.weight = nn.Parameter(torch.empty(n_series, out_dim, in_dim).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(n_series, out_dim).uniform_(-bound, bound))

    def forward(self, x: Tensor) -> Tensor:  # ... n t
        return torch.einsum("...nt,nht->...nh", x, self.weight) + self.bias

    def extra_repr(self) -> str:
        return "{0}, {2}, {1}".format(*self.weight.shape)


class UnbiasedNorm(RevIN):
    """RevIN with the unbiased variance s², which divides by one less than the number of values.

        z = (x - mean) / √(s² + ε),     or  (x - mean) / (s + ε)

    Args:
        n_series, affine, eps: as in RevIN.
        eps_on: what ε is added to, the `variance` or the `deviation`.
    """

    def __init__(
        self,
        n_series: int,
        *,
        affine: bool = True,
        eps: float = 1e-5,
        eps_on: Literal["variance", "deviation"] = "variance",
    ):
        super().__init__(n_series, affine=affine, eps=eps)
        self.eps_on = eps_on

    def standardise(self, x: Tensor) -> tuple[Tensor, WindowStats]:  # b t n
        z, (mean, biased) = super().standardise(x)
        count = x.isnan().logical_not().sum(1, keepdim=True)
        variance = (z * biased).detach().square().sum(1, keepdim=True) / (count - 1).clamp(min=1)
        deviation = (variance + self.eps).sqrt() if self.eps_on == "variance" else variance.sqrt() + self.eps
        return z * (biased / deviation), WindowStats(mean, deviation)


class TokenBatchNorm(nn.BatchNorm1d):
    """BatchNorm of the last axis over all others, LayerNorm's opponent: `... m -> ... m`."""

    def forward(self, x: Tensor) -> Tensor:  # ... m
        tokens = x.reshape(-1, x.shape[-1])
        if self.training and len(tokens) < 2:
            raise DataError("BatchNorm cannot train on a single token: pass more windows a batch, or norm='layer'")
        return super().forward(tokens).view_as(x)


def feed_forward(model_dim: int, ff_dim: int, dropout: float = 0.0, *, bias: bool = True) -> nn.Sequential:
    """W₂ drop(GELU(W₁ x)), from m to f and back."""
    expand, contract = nn.Linear(model_dim, ff_dim, bias=bias), nn.Linear(ff_dim, model_dim, bias=bias)
    return nn.Sequential(expand, nn.GELU(), Dropout(dropout), contract)
