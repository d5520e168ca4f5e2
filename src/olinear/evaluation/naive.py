"""The forecasts to beat: each takes lookbacks `b t n` and gives `b h n`, and learns nothing."""

from collections.abc import Callable

import torch
from torch import Tensor

from olinear.core import ConfigError, DataError

Forecast = Callable[[Tensor], Tensor]  # b t n -> b h n


def last_value(horizon: int) -> Forecast:
    """The last value seen, repeated: ŷ_k = x_t."""
    return lambda x: x[:, -1:].expand(-1, horizon, -1)


def seasonal_naive(horizon: int, season: int) -> Forecast:
    """The last season seen, repeated: ŷ_k = x_(t - m + (k - 1 mod m) + 1), with m the season."""
    if season < 1:
        raise ConfigError(f"season must be at least 1, found {season}")

    def forecast(x: Tensor) -> Tensor:
        if x.shape[1] < season:
            raise DataError(f"a season of {season} steps needs as many rows, found {x.shape[1]}: pass more rows")
        return x[:, x.shape[1] - season + torch.arange(horizon, device=x.device) % season]

    return forecast


def drift(horizon: int) -> Forecast:
    """The line through the first and the last value seen, continued: ŷ_k = x_t + k (x_t - x_1) / (t - 1)."""

    def forecast(x: Tensor) -> Tensor:
        slope = (x[:, -1:] - x[:, :1]) / max(x.shape[1] - 1, 1)
        ahead = torch.arange(1, horizon + 1, device=x.device, dtype=x.dtype)[:, None]
        return x[:, -1:] + ahead * slope

    return forecast
