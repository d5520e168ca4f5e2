"""Layers along one axis that several forecasters share."""

import torch
from torch import Tensor, nn


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


def feed_forward(model_dim: int, ff_dim: int, dropout: float = 0.0, *, bias: bool = True) -> nn.Sequential:
    """W₂ drop(GELU(W₁ x)), from m to f and back."""
    expand, contract = nn.Linear(model_dim, ff_dim, bias=bias), nn.Linear(ff_dim, model_dim, bias=bias)
    return nn.Sequential(expand, nn.GELU(), Dropout(dropout), contract)
