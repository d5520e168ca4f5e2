"""How good the forecasts of a model folder would have been."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from olinear.core.runtime import Amount
from olinear.forecaster.backtesting import Backtest
from olinear.forecaster.forecaster import Forecaster
from olinear.forecaster.service.predictions import keep_levels, open_model


@dataclass(frozen=True)
class BacktestRequest:
    """Past origins to forecast from.

    Args:
        model: a model folder, or a forecaster.
        data: rows with what followed, as a file, `-` or a frame.
        windows: how many origins, the last that leave a whole horizon.
        stride: steps between them; a horizon, or fewer where rows are few, if left out.
        levels: per cent of the intervals whose coverage is wanted; 80 and 95 if left out, as far as data support them.
        memory: what forecasts may take, such as `2GB` or a share of what is free; a quarter of that, if left out.
        out: a file for all forecasts next to the actual values; piece by piece, where they have no room in memory.
        notify: gets notes that are of use while it runs.
    """

    model: Path | Forecaster
    data: Any
    windows: int = 20
    stride: int | None = None
    levels: Sequence[float] | None = None
    memory: Amount = None
    out: str | None = None
    notify: Callable[[str], None] | None = None


@dataclass(frozen=True)
class BacktestResult:
    """Forecasts and scores, and what a person should know of them."""

    backtest: Backtest
    notes: list[str]


def backtest(request: BacktestRequest) -> BacktestResult:
    """Forecast from past origins and compare with the actual values."""
    forecaster = open_model(request.model)
    levels, notes = keep_levels(request.levels, forecaster)
    result = forecaster.backtest(
        request.data,
        windows=request.windows,
        stride=request.stride,
        levels=levels,
        memory=request.memory,
        out=request.out,
        notify=request.notify,
    )
    return BacktestResult(result, result.notes + notes)
