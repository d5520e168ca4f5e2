"""Rolling origins: what the forecasts would have been, beside what came and beside two naive forecasts."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from olinear.core import ConfigError, DataError
from olinear.data.frames import Panel, bridge_gaps, build_frame, make_table
from olinear.forecaster.intervals import bound_columns

if TYPE_CHECKING:
    from olinear.forecaster.fitting import Fitted

Values = NDArray[np.float64]
LAST, SEASONAL = "last value", "seasonal naive"


@dataclass(frozen=True)
class Backtest:
    """The forecasts of every origin and their scores, as frames of the user's kind.

    `forecasts`: one row for each origin (`cutoff`, the last time known) and step, with the actual values (`-actual`)
    and any intervals. `metrics`: one row for each forecaster and series, and `(all)`; errors in original units and, as
    `standardised_…`, on the scale of the training rows; with levels, the share of values inside (`coverage_…`).
    """

    forecasts: Any
    metrics: Any
    windows: int
    in_sample: int  # windows with a target in the training rows

    def score(self, forecaster: str | None = None, series: str = "(all)", metric: str = "standardised_mse") -> float:
        """One number of `metrics`: of the model, which comes first, or of the forecaster named."""
        import narwhals as nw

        table = nw.from_native(self.metrics, eager_only=True)
        forecaster = forecaster or table["forecaster"][0]
        for column, name in (("forecaster", forecaster), ("series", series)):
            table = table.filter(nw.col(column) == name)
            if not len(table):
                raise ConfigError(f"there is no score of {column} {name!r}: metrics lists them all")
        if metric not in table.columns:
            raise ConfigError(f"there is no score called {metric!r}: metrics has {', '.join(table.columns[2:])}")
        return float(table[metric][0])


def run_backtest(fitted: "Fitted", panel: Panel, windows: int, stride: int | None, levels: list[float]) -> Backtest:
    """Forecast from `windows` origins, the last ones that leave a whole horizon."""
    settings = fitted.settings
    origins = _origins(len(panel), settings.lookback, settings.horizon, windows, stride)
    bridged = bridge_gaps(panel.values)
    steps = np.arange(settings.horizon)
    lookbacks = np.stack([bridged[origin - settings.lookback : origin] for origin in origins])
    actual = panel.values[origins[:, None] + steps]  # w h n
    season = min(panel.frequency.season, int(origins[0]))
    seasonal = bridged[origins[:, None] - season + steps % season]
    # A series that has not begun at an origin is known by its mean in training alone, not by its first value to come.
    begins = (~np.isnan(panel.values)).argmax(0)
    unknown = begins >= origins[:, None]  # w n
    for part in (lookbacks, seasonal):
        part[:] = np.where(unknown[:, None], fitted.scaler.mean, part)
    mean, scale = fitted.forecast(lookbacks)
    forecasts = {
        settings.model.name: mean,
        LAST: np.repeat(lookbacks[:, -1:], settings.horizon, axis=1),
        SEASONAL: seasonal,
    }
    bounds = {level: fitted.bounds(level, mean, scale) for level in levels}
    rows = (origins[:, None] + steps).ravel()
    flat = Panel(actual.reshape(len(rows), -1), panel.times[rows], panel.series, panel.frequency, panel.style)
    columns = {"": mean, "-actual": actual} | bound_columns(bounds)
    cutoff = panel.times[np.repeat(origins - 1, settings.horizon)]
    table = build_frame(flat, {name: part.reshape(len(rows), -1) for name, part in columns.items()}, {"cutoff": cutoff})
    deviation = fitted.scaler.deviation
    metrics = _metrics(forecasts, actual, deviation, bounds, panel.series)
    in_sample = int((panel.times[origins] <= fitted.last_time).sum())
    return Backtest(table, make_table(metrics, panel.style), len(origins), in_sample)


def _origins(rows: int, lookback: int, horizon: int, windows: int, stride: int | None) -> NDArray[np.intp]:
    if windows < 1 or (stride is not None and stride < 1):
        raise ConfigError(f"windows and stride must be at least 1, found {windows} and {stride}")
    first, last = lookback, rows - horizon
    if last < first:
        raise DataError(
            f"a backtest with lookback {lookback} and horizon {horizon} needs {lookback + horizon} rows, found {rows}: "
            "pass more rows"
        )
    if stride is None:  # a horizon apart where there is room, closer where there is not
        stride = max(1, min(horizon, (last - first) // max(windows - 1, 1)))
    return np.arange(last, first - 1, -min(stride, rows))[:windows][::-1]


def _metrics(
    forecasts: dict[str, Values],
    actual: Values,
    deviation: Values,
    bounds: dict[float, tuple[Values, Values]],
    series: list[str],
) -> dict[str, list[Any]]:
    rows: list[dict[str, Any]] = []
    present = ~np.isnan(actual)
    inside = {level: (actual >= low) & (actual <= high) for level, (low, high) in bounds.items()}
    for name, forecast in forecasts.items():
        error = np.where(present, forecast - actual, np.nan)
        for index, label in [(slice(None), "(all)"), *((slice(i, i + 1), one) for i, one in enumerate(series))]:
            part = error[..., index]
            row: dict[str, Any] = {"forecaster": name, "series": label}
            row |= _errors(part, "") | _errors(part / deviation[index], "standardised_")
            for level, held in inside.items():
                counted = held[..., index][present[..., index]]
                known = name not in (LAST, SEASONAL) and counted.size > 0
                row[f"coverage_{level:g}"] = float(counted.mean()) if known else float("nan")
            rows.append(row)
    return {key: [row[key] for row in rows] for key in rows[0]}


def _errors(error: Values, prefix: str) -> dict[str, float]:
    found = error[~np.isnan(error)]
    if not found.size:
        return {f"{prefix}mse": float("nan"), f"{prefix}mae": float("nan")}
    return {f"{prefix}mse": float((found**2).mean()), f"{prefix}mae": float(np.abs(found).mean())}
