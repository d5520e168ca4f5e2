"""Forecaster: a frame in, a frame out."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from olinear.core import ConfigError, DataError, NotFittedError
from olinear.data.frames import FrameStyle, Panel, bridge_gaps, build_frame, read_panel
from olinear.forecaster.backtesting import Backtest, run_backtest
from olinear.forecaster.fitting import Fitted, Values, fit_panel
from olinear.forecaster.intervals import bound_columns
from olinear.forecaster.settings import MODEL_ARGUMENTS, as_given, choose_settings
from olinear.forecaster.storage import load_fitted, save_fitted
from olinear.models import MAIN

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Prediction:
    """A forecast with what it was made from; `bounds` maps a level to its lower and upper values `[steps, series]`."""

    history: Panel
    forecast: Panel
    bounds: dict[float, tuple[Values, Values]]
    deviation: Values  # of each series in training: what counts as movement in a picture

    def to_frame(self, style: FrameStyle | None = None) -> Any:
        """The forecast as a frame of the user's kind, or of another style."""
        columns = {"": self.forecast.values} | bound_columns(self.bounds)
        return build_frame(replace(self.forecast, style=style or self.forecast.style), columns)

    def plot(self, actual: Panel | None = None, title: str = "") -> "Figure":
        """A picture: three horizons of history (at least 48 steps), the forecast, intervals and what came, if known."""
        from olinear.evaluation.plots import plot_forecast

        history = self.history.rows(slice(-max(3 * len(self.forecast), 48), None))
        return plot_forecast(history, self.forecast, self.bounds, actual, self.deviation, title)


class Forecaster:
    """Fits OLinear to a frame of related series and forecasts all of them together.

    What is left out is chosen from the data (`report()` says what). The newest rows validate: they stop the training
    and calibrate the intervals, and the model that was so judged is the one you get. `refit=True` then trains a second
    model on all rows for the chosen number of epochs.

    Args:
        horizon: steps to forecast.
        lookback: steps to look back on; from the season and the number of rows, if left out.
        freq: a pandas frequency (`"h"`, `"MS"`, …), found if left out; `"rows"`: a row is a step, whatever the clock.
        time, id, value: column names, where they are not the usual ones.
        missing: `"bridge"` carries the last value over a gap as input and leaves gaps out of loss and scores; `"error"`
            refuses gaps.
        validation: share of the rows, the newest, that validates.
        refit: see above.
        seed: of weights, shuffle and dropout; two fits with one seed are equal.
        model: another forecaster, by its name in `olinear models`; `options` are its own arguments.
        basis, model_dim, blocks, dropout, rank: of the model; `rank=64` makes thousands of series affordable.
        batch_size, learning_rate, schedule, max_epochs, patience, loss: of the training.
        device: `"auto"`, `"cpu"`, `"cuda"`, …
        progress: draw a live line while training, on a terminal.
    """

    def __init__(
        self,
        horizon: int,
        lookback: int | None = None,
        *,
        freq: str | None = None,
        time: str | None = None,
        id: str | None = None,
        value: str | None = None,
        missing: Literal["bridge", "error"] = "bridge",
        validation: float = 0.2,
        refit: bool = False,
        seed: int = 0,
        basis: str | None = None,
        model: str = "OLinear",
        options: Mapping[str, Any] | None = None,
        model_dim: int | None = None,
        blocks: int | None = None,
        dropout: float | None = None,
        rank: int | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        schedule: str | None = None,
        max_epochs: int | None = None,
        patience: int | None = None,
        loss: str | None = None,
        device: str = "auto",
        progress: bool = True,
    ):
        _check_range(horizon=horizon, lookback=lookback)
        self.progress = progress
        self._reading: dict[str, Any] = {"freq": freq, "time": time, "id": id, "value": value}
        rows = {"horizon": horizon, "lookback": lookback, "missing": missing, "validation": validation, "refit": refit}
        parts = {"basis": basis, "model_dim": model_dim, "blocks": blocks, "dropout": dropout, "rank": rank}
        training = {"batch_size": batch_size, "learning_rate": learning_rate, "schedule": schedule, "loss": loss}
        training |= {"max_epochs": max_epochs, "patience": patience, "seed": seed, "device": device}
        self._given = {**rows, "model": model, "options": dict(options or {}), **parts, **training}
        self._fitted: Fitted | None = None

    def fit(self, data: Any, *, checkpoint: str | Path | None = None, resume: bool = False) -> Self:
        """Train on a frame. With `checkpoint` and `resume`, a fit that was killed goes on where it was."""
        panel = read_panel(data, **self._reading)
        settings = choose_settings(self._given, len(panel), len(panel.series), panel.frequency)
        path = None if checkpoint is None else Path(checkpoint)
        self._fitted = fit_panel(panel, settings, path, resume, self.progress)
        return self

    def predict(
        self,
        data: Any = None,
        *,
        levels: list[float] | tuple[float, ...] = (),
        horizon: int | None = None,
        recursive: bool = False,
    ) -> Any:
        """Forecast what follows the rows it was fitted on, or those of `data`, which need no refit.

        Args:
            data: new rows of the same series, at least `lookback` of them.
            levels: per cent of the intervals, such as `[80, 95]`: columns `…-lo-80` and `…-hi-80`.
            horizon: fewer steps than trained, or more, with `recursive=True`: then forecasts feed on forecasts.
            recursive: allow a horizon longer than the trained one (without intervals, which are not calibrated there).
        """
        return self.predict_panel(data, levels=levels, horizon=horizon, recursive=recursive).to_frame()

    def predict_panel(
        self,
        data: Any = None,
        *,
        levels: list[float] | tuple[float, ...] = (),
        horizon: int | None = None,
        recursive: bool = False,
    ) -> Prediction:
        """`predict` before it becomes a frame: history, forecast and bounds as arrays, to draw or to compute with."""
        fitted = self.fitted
        steps = self._steps(horizon, recursive, len(levels) > 0)
        history = fitted.panel if data is None else self._read_context(data)
        if not len(history):
            raise DataError("this model was saved without context: pass the last rows, predict(data)")
        mean, scale = self._forecast(bridge_gaps(history.values)[-fitted.settings.lookback :], steps)
        times = history.frequency.after(history.times[-1], steps)
        bounds = {level: fitted.bounds(level, mean, scale) for level in levels}
        forecast = replace(history, values=mean, times=times)
        return Prediction(history, forecast, bounds, fitted.scaler.deviation)

    def backtest(
        self, data: Any, *, windows: int = 20, stride: int | None = None, levels: list[float] | tuple[float, ...] = ()
    ) -> Backtest:
        """Forecast from past origins of `data` and compare: forecasts, metrics, naive forecasts beside them.

        The origins are the last `windows` that leave a whole horizon, a horizon apart (or closer where rows are few);
        `in_sample` of the result counts those the model was trained on.
        """
        return run_backtest(self.fitted, self.read(data), windows, stride, list(levels))

    def save(self, folder: str | Path, *, context: bool = True) -> None:
        """Write a model folder. `context=False` leaves out the last rows; `predict` then needs data."""
        save_fitted(self.fitted, Path(folder), context=context)

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read a model folder; it runs nothing from it. `fit` then fits again what was saved, to other rows."""
        fitted = load_fitted(Path(folder))
        loaded = cls(fitted.settings.horizon)
        loaded._given, loaded._reading = as_given(fitted.settings), _read_like(fitted.panel)
        loaded._fitted = fitted
        return loaded

    @property
    def has_intervals(self) -> bool:
        """Whether `levels` can be asked for; not if too few rows were there to hold some back."""
        return self.fitted.intervals is not None or self.fitted.model is None

    @property
    def fitted(self) -> Fitted:
        """The trained model and what belongs to it."""
        if self._fitted is None:
            raise NotFittedError("this forecaster is not fitted: call fit(data) or Forecaster.load(folder) first")
        return self._fitted

    def report(self) -> dict[str, Any]:
        """What was chosen, found and noticed: settings, series, frequency, training, notes."""
        fitted = self.fitted
        hidden = {"training"} | ({"options"} if fitted.settings.model == MAIN else {*MODEL_ARGUMENTS, "embed_dim"})
        settings = fitted.settings.model_dump(exclude=hidden) | fitted.settings.training.model_dump()
        return {
            "series": len(fitted.panel.series),
            "frequency": str(fitted.panel.frequency),
            **settings,
            "parameters": sum(p.numel() for p in fitted.model.parameters()) if fitted.model else 0,
            **fitted.record,
            "notes": list(fitted.panel.notes),
        }

    def _steps(self, horizon: int | None, recursive: bool, with_levels: bool) -> int:
        trained = self.fitted.settings.horizon
        steps = trained if horizon is None else horizon
        _check_range(horizon=steps)
        if steps > trained and not recursive:
            raise ConfigError(
                f"the model was trained for {trained} steps, asked for {steps}: pass recursive=True to feed forecasts "
                f"back in, or fit with horizon={steps}"
            )
        if steps > trained and with_levels:
            raise ConfigError(
                f"intervals are calibrated for {trained} steps, asked for {steps}: fit with horizon={steps}"
            )
        return steps

    def _forecast(self, lookback: Values, steps: int) -> tuple[Values, Values]:
        """`steps` ahead, feeding forecasts back in where that is more than one horizon; and the lookback's scale."""
        mean, scale = self.fitted.forecast(lookback[None])
        parts, known = [mean[0]], lookback
        while sum(map(len, parts)) < steps:
            known = np.concatenate([known, parts[-1]])[-len(lookback) :]
            parts.append(self.fitted.forecast(known[None])[0][0])
        return np.concatenate(parts)[:steps], scale[0]

    def read(self, data: Any) -> Panel:
        """New rows, on the grid the model was fitted on, with the series in its order."""
        fitted = self.fitted
        frequency = fitted.panel.frequency
        panel = read_panel(data, **self._reading | _read_like(fitted.panel)).pick(fitted.panel.series)
        zoned = getattr(panel.times, "tz", None) is not None
        if not frequency.counts and zoned != (fitted.last_time.tzinfo is not None):  # type: ignore[union-attr]
            here, there = ("a", "none") if zoned else ("no", "one")
            raise DataError(f"these times have {here} time zone, those of the fit had {there}: convert them first")
        if fitted.settings.missing == "error":
            panel.refuse_gaps()
        return replace(panel, frequency=frequency)

    def _read_context(self, data: Any) -> Panel:
        panel, lookback = self.read(data), self.fitted.settings.lookback
        if len(panel) < lookback:
            raise DataError(
                f"lookback needs {lookback} rows, found {len(panel)}: pass at least {lookback} rows or fit with "
                f"lookback={len(panel)}"
            )
        return panel


def _read_like(panel: Panel) -> dict[str, Any]:
    """How to read further rows of a panel: on its grid, by its names and layout."""
    frequency = panel.frequency
    return {"freq": "rows" if frequency.kind == "rows" else frequency.step, "like": panel.style}


def _check_range(**numbers: int | None) -> None:
    for name, number in numbers.items():
        if number is None and name != "horizon":
            continue
        if not isinstance(number, int | np.integer):
            raise ConfigError(f"{name} must be a whole number, found {number!r}")
        if number < 1:
            raise ConfigError(f"{name} must be at least 1, found {number}")
