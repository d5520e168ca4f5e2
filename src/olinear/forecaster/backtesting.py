"""Rolling origins: what the forecasts would have been, next to the actual values and to three naive forecasts."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from olinear.core import Batch, ConfigError, DataError, Note, Output, Point, Quantiles
from olinear.data.frames import Panel, build_frame, make_table
from olinear.evaluation import Context, SeasonalScale, drift, last_value, score, seasonal_naive, tails
from olinear.forecaster.intervals import bound_columns
from olinear.forecaster.known import History
from olinear.forecaster.limits import check_range
from olinear.forecaster.worth import summarise

if TYPE_CHECKING:
    from olinear.forecaster.fitted import Fitted

Values = NDArray[np.float64]
Bounds = dict[float, tuple[Values, Values]]  # level -> (low, high), each `w h n`
LAST, SEASONAL, DRIFT, ALL = "last value", "seasonal naive", "drift", "(all)"
STANDARDISED = ("mse", "mae")  # also given on the scale of the training rows


@dataclass(frozen=True)
class Backtest:
    """The forecasts of every origin and their scores, as frames of the user's kind.

    `forecasts`: one row for each origin (`cutoff`, the last time known) and step, with the actual values (`-actual`)
    and any intervals. `metrics`: one row for each forecaster and series, and `(all)`; every registered metric in
    original units, and MSE and MAE as `standardised_…` on the scale of the training rows. What is scaled by the past
    (MASE, RMSSE) takes the rows before the first origin; with levels, the bounds of the intervals and the forecast are
    the quantiles that are scored.
    """

    forecasts: Any
    metrics: Any
    windows: int
    in_sample: int  # windows with a target in the training rows

    def worth(self, most: int | None = 20) -> dict[str, Any]:
        """How much better the forecasts are than the best naive ones, together and for the `most` worst series."""
        return summarise(self.metrics, most)

    @property
    def notes(self) -> list[str]:
        """What a person should know of it: windows in the rows of the fit."""
        if not self.in_sample:
            return []
        text = (
            f"{self.in_sample} of {self.windows} windows lie in the rows the model was fitted on, and their scores "
            "flatter: pass rows that came after those of the fit, or fit on older ones"
        )
        return [Note("backtest-in-sample", text)]

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
    steps = np.arange(settings.horizon)
    known = fitted.history(panel)
    past = known.before(origins, settings.lookback)
    lookbacks = past.values
    actual = panel.values[origins[:, None] + steps]  # w h n
    answer = fitted.answer(past)
    mean, bounds = answer.mean, {level: answer.bounds(level) for level in levels}
    season = panel.frequency.season
    outputs = {settings.model.name: _with_intervals(mean, bounds)} | _naive(
        known, origins, lookbacks, settings.horizon, season
    )
    batch = Batch(torch.from_numpy(lookbacks), torch.from_numpy(actual))
    context = _context(panel.values[: origins[0]], season, bounds)
    unit = np.where(fitted.active, fitted.scaler.deviation, np.nan)  # a series that never moved has none
    metrics = _metrics(outputs, batch, context, torch.from_numpy(unit), panel.series)
    rows = (origins[:, None] + steps).ravel()
    flat = Panel(actual.reshape(len(rows), -1), panel.times[rows], panel.series, panel.frequency, panel.style)
    columns = {"": mean, "-actual": actual} | bound_columns(bounds)
    cutoff = panel.times[np.repeat(origins - 1, settings.horizon)]
    table = build_frame(flat, {name: part.reshape(len(rows), -1) for name, part in columns.items()}, {"cutoff": cutoff})
    in_sample = int((panel.times[origins] <= fitted.last_time).sum())
    return Backtest(table, make_table(metrics, panel.style), len(origins), in_sample)


def _origins(rows: int, lookback: int, horizon: int, windows: int, stride: int | None) -> NDArray[np.intp]:
    check_range(windows=windows, stride=stride)
    first, last = lookback, rows - horizon
    if last < first:
        raise DataError(
            f"a backtest with lookback {lookback} and horizon {horizon} needs {lookback + horizon} rows, found {rows}: "
            "pass more rows"
        )
    if stride is None:  # a horizon apart where there is room, closer where there is not
        stride = max(1, min(horizon, (last - first) // max(windows - 1, 1)))
    return np.arange(last, first - 1, -min(stride, rows))[:windows][::-1]


def _naive(
    known: History, origins: NDArray[np.intp], lookbacks: Values, horizon: int, season: int
) -> dict[str, Output]:
    """The forecasts to beat; a season that is longer than the rows there are is cut to them."""
    season = min(season, int(origins[0]))
    repeat = seasonal_naive(horizon, season)  # origin by origin: a season can be much longer than a lookback
    seasonal = [repeat(torch.from_numpy(known.before(origin, season).values)) for origin in origins[:, None]]
    rows = torch.from_numpy(lookbacks)
    forecasts = {LAST: last_value(horizon)(rows), SEASONAL: torch.cat(seasonal), DRIFT: drift(horizon)(rows)}
    return {name: Point(forecast) for name, forecast in forecasts.items()}


def _with_intervals(mean: Values, bounds: Bounds) -> Output:
    """The forecast as the median between the bounds of its intervals; a point where there are none."""
    if not bounds:
        return Point(torch.from_numpy(mean))
    values = {0.5: mean}
    for level, ends in bounds.items():
        values |= dict(zip(tails(level), ends, strict=True))
    levels = tuple(sorted(values))
    return Quantiles(torch.from_numpy(np.stack([values[level] for level in levels])), levels)


def _context(before: Values, season: int, bounds: Bounds) -> Context:
    """Scores scaled by the rows before the first origin, step by step where they are fewer than a season."""
    levels = tuple(bounds)
    quantiles = tuple(sorted({0.5, *(end for level in levels for end in tails(level))}))
    scale = SeasonalScale.of(before, season if len(before) > season else 1)
    return Context(levels, quantiles, season, scale)


def _metrics(
    outputs: dict[str, Output], batch: Batch, context: Context, unit: Tensor, series: list[str]
) -> dict[str, list[Any]]:
    """Every score of each forecaster, of all series and of each, as columns; `unit` is each series' own scale."""
    rows: list[dict[str, Any]] = []
    for name, output in outputs.items():
        plain = score([(output, batch)], context=context)
        relative = Point((output.point - batch.targets) / unit)  # errors, which are forecasts of zero
        scaled = score([(relative, Batch(batch.past, 0 * relative.point))], STANDARDISED)
        for label, own, its in zip(
            [ALL, *series], [plain, *plain.by_series()], [scaled, *scaled.by_series()], strict=True
        ):
            first = {"forecaster": name, "series": label} | {key: own[key] for key in STANDARDISED}
            rows.append(first | {f"standardised_{key}": its[key] for key in STANDARDISED} | dict(own))
    columns = dict.fromkeys(column for row in rows for column in row)
    return {column: [row.get(column, float("nan")) for row in rows] for column in columns}
