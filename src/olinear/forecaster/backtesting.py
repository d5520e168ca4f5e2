"""Rolling origins: what the forecasts would have been, next to the actual values and to three naive forecasts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from olinear.core import Batch, ConfigError, DataError, Note, Output, Point, Quantiles
from olinear.data.frames import Panel, make_table
from olinear.evaluation import Context, SeasonalScale, drift, last_value, seasonal_naive, tails
from olinear.forecaster.backtest_frames import Kept, keep_forecasts
from olinear.forecaster.backtest_scores import BacktestScores
from olinear.forecaster.fitted import BATCH, Fitted
from olinear.forecaster.intervals import bound_columns
from olinear.forecaster.known import History
from olinear.forecaster.limits import check_range
from olinear.forecaster.worth import MOST_LISTED, summarise

Values = NDArray[np.float64]
Bounds = dict[float, tuple[Values, Values]]  # level -> (low, high), each `w h n`
LAST, SEASONAL, DRIFT = "last value", "seasonal naive", "drift"
WORK = 2**28  # bytes that forecasting and scoring some windows together may take
USUAL_WIDTH = 512  # of a model whose settings have no width


@dataclass(frozen=True)
class Backtest:
    """The forecasts of every origin and their scores, as frames of the user's kind.

    `forecasts`: one row for each origin (`cutoff`, the last time known) and step, with the actual values (`-actual`)
    and any intervals. `metrics`: one row for each forecaster and series, and `(all)`; every registered metric in
    original units, and MSE and MAE as `standardised_…` on the scale of the training rows. What is scaled by the past
    (MASE, RMSSE) takes the rows before the first origin; with levels, the bounds of the intervals and the forecast are
    the quantiles that are scored.
    """

    forecasts: Any  # None where they would not fit in memory
    metrics: Any
    windows: int
    in_sample: int  # windows with a target in the training rows
    on_size: tuple[str, ...] = ()  # notes on forecasts that are large, or were left out

    def worth(self, most: int | None = MOST_LISTED) -> dict[str, Any]:
        """How much better the forecasts are than the best naive ones, together and for the `most` worst series."""
        return summarise(self.metrics, most)

    @property
    def notes(self) -> list[str]:
        """What a person should know of it: windows in the rows of the fit, forecasts that have no room."""
        if not self.in_sample:
            return list(self.on_size)
        text = (
            f"{self.in_sample} of {self.windows} windows lie in the rows the model was fitted on, and their scores "
            "flatter: pass rows that came after those of the fit, or fit on older ones"
        )
        return [Note("backtest-in-sample", text), *self.on_size]

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


def run_backtest(
    fitted: Fitted,
    panel: Panel,
    windows: int,
    stride: int | None,
    levels: list[float],
    out: str | None = None,
    notify: Callable[[str], None] | None = None,
) -> Backtest:
    """Forecast from `windows` origins, the last ones that leave a whole horizon.

    Some windows at a time: as many as follow from the sizes of data and model, so that free memory changes no number.
    """
    settings = fitted.settings
    origins = find_origins(len(panel), settings.lookback, settings.horizon, windows, stride)
    shape = (len(origins), settings.horizon, len(panel.series))
    with keep_forecasts(panel, shape, len(levels), out) as kept:
        if notify is not None:
            for note in kept.notes:
                notify(note)
        metrics = score_origins(fitted, panel, origins, levels, kept)
    in_sample = 0 if fitted.is_zero_shot else int((panel.times[origins] <= fitted.last_time).sum())
    return Backtest(kept.frame(), metrics, len(origins), in_sample, tuple(kept.notes))


def score_origins(fitted: Fitted, panel: Panel, origins: NDArray[np.intp], levels: list[float], kept: Kept) -> Any:
    """A table of all scores of the forecasts from some origins, next to naive ones; `kept` takes the forecasts."""
    settings = fitted.settings
    horizon, season = settings.horizon, panel.frequency.season
    known = fitted.history(panel)
    unit = torch.from_numpy(np.where(fitted.active, fitted.scaler.deviation, np.nan))  # one that never moved has none
    scores = BacktestScores(_context(panel.values[: origins[0]], season, levels), unit)
    for part in np.split(origins, range(0, len(origins), _at_once(fitted))[1:]):
        past = known.before(part, settings.lookback)
        actual = panel.values[part[:, None] + np.arange(horizon)]  # b h n
        answer = fitted.answer(past)
        mean, bounds = answer.mean, {level: answer.bounds(level) for level in levels}
        outputs = {settings.model.name: _with_intervals(mean, bounds)}
        outputs |= _naive(known, part, past.values, horizon, min(season, int(origins[0])))
        scores.add(outputs, Batch(torch.from_numpy(past.values), torch.from_numpy(actual)))
        kept.add(part, {"": mean, "-actual": actual} | bound_columns(bounds))
    return make_table(scores.columns(panel.series), panel.style)


def _at_once(fitted: Fitted) -> int:
    """The windows that are forecast and scored together."""
    settings = fitted.settings
    width = settings.model.model_dim or USUAL_WIDTH
    each = 8 * (3 * settings.lookback + 24 * settings.horizon + 3 * width) * len(fitted.panel.series)
    return max(1, min(BATCH, WORK // each))


def find_origins(rows: int, lookback: int, horizon: int, windows: int, stride: int | None) -> NDArray[np.intp]:
    """The last rows from which a whole horizon follows, rising."""
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
    """The forecasts to beat; there must be a season of rows before each origin."""
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


def _context(before: Values, season: int, levels: list[float]) -> Context:
    """Scores scaled by the rows before the first origin, step by step where they are fewer than a season."""
    quantiles = tuple(sorted({0.5, *(end for level in levels for end in tails(level))}))
    scale = SeasonalScale.of(before, season if len(before) > season else 1)
    return Context(tuple(levels), quantiles, season, scale)
