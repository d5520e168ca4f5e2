"""One window at several resolutions: pooling, a normalisation of each scale, mixing between scales, heads."""

from collections.abc import Callable, Sequence
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from olinear.core import ConfigError
from olinear.models.zoo.blocks.averages import moving_average
from olinear.nn import RevIN, WindowStats

Ensemble = Literal["sum", "mean"]


def scale_lengths(lookback: int, halvings: int, *, shortest: int = 1) -> list[int]:
    """The steps of each scale, finest first: t, ⌈t/2⌉, ⌈t/4⌉, …"""
    if halvings < 0:
        raise ConfigError(f"halvings must be at least 0, found {halvings}")
    needed = max(2**halvings, (shortest - 1) * 2**halvings + 1)  # more halvings would repeat a scale of one step
    if lookback < needed:
        raise ConfigError(
            f"{halvings} halvings need a lookback of at least {needed}, found {lookback}: "
            "pass fewer halvings or a longer lookback"
        )
    return [-(-lookback // 2**index) for index in range(halvings + 1)]


def average_scales(x: Tensor, halvings: int) -> list[Tensor]:  # b t n -> b t_i n of each scale
    """The window and its means over 2, 4, … steps, finest first.

    An odd last step is a coarse step of its own, so that the newest value is on every scale. Missing values (NaN) are
    left out of a mean.
    """
    scales = [x]
    for _ in range(halvings):
        x = F.pad(x, (0, 0, 0, x.shape[1] % 2), value=torch.nan).unflatten(1, (-1, 2)).nanmean(2)
        scales.append(x)
    return scales


class ConvolvedScales(nn.Module):
    """The window, halved again and again by one learnt convolution over time, shared by all series and halvings.

        x_{i+1}[j] = w₀ x_i[2j - 1] + w₁ x_i[2j] + w₂ x_i[2j + 1]

    The ends are neighbours. A missing value (NaN) is first replaced by its series' mean over the window.
    """

    def __init__(self, halvings: int):
        super().__init__()
        self.halvings = halvings
        self.convolution = nn.Conv1d(1, 1, 3, stride=2, padding=1, padding_mode="circular", bias=False)

    def forward(self, x: Tensor) -> list[Tensor]:  # b t n
        filled = x.where(~x.isnan(), x.nanmean(1, keepdim=True).nan_to_num(0.0))
        scales, rows = [x], by_series(filled).mT  # b·n 1 t
        for _ in range(self.halvings):
            rows = self.convolution(rows)
            scales.append(rows.view(len(x), x.shape[2], -1).mT)  # b t_i n
        return scales


class ThroughNorm(RevIN):
    """RevIN whose mean and deviation carry gradient, for a window without gaps that something learnt has made.

    What made the window may move its level and scale, and z stays as it is. With constants for both, the gradient would
    take that for a change, and pull at what made the window in proportion to its level.
    """

    def standardise(self, x: Tensor) -> tuple[Tensor, WindowStats]:  # b t n
        mean = x.mean(1, keepdim=True)
        centred = x - mean
        deviation = (centred.square().mean(1, keepdim=True) + self.eps).sqrt()
        return centred / deviation, WindowStats(mean, deviation)


class ScaleNorms(nn.Module):
    """A RevIN for each scale; the forecast goes back with the finest one's weight, bias and statistics.

    Args:
        n_series, scales: n, and how many scales.
        affine: RevIN's learnt weight and bias, one of each a series and scale.
        learnt: the coarser scales are made by something learnt (see `ThroughNorm`).
    """

    def __init__(self, n_series: int, scales: int, *, affine: bool = True, learnt: bool = False):
        super().__init__()
        kinds = [RevIN, *[ThroughNorm if learnt else RevIN] * (scales - 1)]
        self.norms = nn.ModuleList(kind(n_series, affine=affine) for kind in kinds)

    def forward(self, scales: Sequence[Tensor]) -> tuple[list[Tensor], WindowStats]:  # b t_i n
        normalised = [norm(x) for norm, x in zip(self.norms, scales, strict=True)]
        return [x for x, _ in normalised], normalised[0][1]

    def inverse(self, y: Tensor, stats: WindowStats) -> Tensor:  # b h n
        return self.norms[0].inverse(y, stats)  # type: ignore[operator]


def by_series(x: Tensor) -> Tensor:  # b t n -> b·n t 1
    """Each series of each window alone."""
    return x.mT.flatten(0, 1)[..., None]


def average_matrix(length: int, window: int) -> Tensor:
    """A `[length, length]` with x A = the moving average of x: on wide features faster than averaging them."""
    return moving_average(torch.eye(length), window)


def fine_to_coarse(parts: Sequence[Tensor], steps: Sequence[Callable[[Tensor], Tensor]]) -> list[Tensor]:
    """s_{i+1} = s_{i+1} + step_i(s_i), from the finest scale on; each step sees what the one before has made."""
    mixed = list(parts)
    for index, step in enumerate(steps):
        mixed[index + 1] = mixed[index + 1] + step(mixed[index])
    return mixed


def coarse_to_fine(parts: Sequence[Tensor], steps: Sequence[Callable[[Tensor], Tensor]]) -> list[Tensor]:
    """τ_i = τ_i + step_i(τ_{i+1}), from the coarsest scale on; each step sees what the one before has made."""
    mixed = list(parts)
    for index in reversed(range(len(steps))):
        mixed[index] = mixed[index] + steps[index](mixed[index + 1])
    return mixed


class ScaleHeads(nn.Module):
    """A forecast from each scale, with one map of the features for all: `b t_i m` of each scale -> `b h`.

        y = Σ_i ((W_i E_i + b_i) w + c)

    W_i acts on time and w on the features, so that the smaller product w comes first.

    Args:
        lengths, model_dim, horizon: t_i, m and h.
        ensemble: `sum` over the scales, or their `mean`.
    """

    def __init__(self, lengths: Sequence[int], model_dim: int, horizon: int, *, ensemble: Ensemble = "sum"):
        super().__init__()
        if ensemble not in ("sum", "mean"):
            raise ConfigError(f"ensemble must be 'sum' or 'mean', found {ensemble!r}")
        self.heads = nn.ModuleList(nn.Linear(length, horizon) for length in lengths)
        self.project = nn.Linear(model_dim, 1)
        self.share = 1.0 if ensemble == "sum" else 1 / len(lengths)

    def forward(self, scales: Sequence[Tensor]) -> Tensor:  # b t_i m
        weight, bias = self.project.weight[0], self.project.bias
        forecasts = []
        for head, x in zip(self.heads, scales, strict=True):
            shift = head.get_parameter("bias") * weight.sum() + bias  # every feature has the head's bias
            forecasts.append(F.linear(x @ weight, head.get_parameter("weight"), shift))
        return torch.stack(forecasts).sum(0) * self.share  # b h
