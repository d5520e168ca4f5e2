"""Forecaster: a frame in, a frame out."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

from olinear.core import ConfigError, DataError, NotFittedError
from olinear.core.runtime import Amount, Waiting, within_memory
from olinear.core.settings import Settings, check_given, leaves, old_arguments
from olinear.data.frames import Panel
from olinear.forecaster.backtesting import Backtest, run_backtest
from olinear.forecaster.choosing import as_given, choose_settings
from olinear.forecaster.fitted import Fitted
from olinear.forecaster.fitting import fit_panel
from olinear.forecaster.learning import Run
from olinear.forecaster.limits import check_levels, check_path, check_range
from olinear.forecaster.predicting import Asked, make_prediction
from olinear.forecaster.prediction import Prediction
from olinear.forecaster.reading import read_first, read_more
from olinear.forecaster.reports import Reports
from olinear.forecaster.storage import load_fitted, save_fitted
from olinear.forecaster.zero_shot import for_rows, for_series, tuning_settings
from olinear.models import Source, card_of
from olinear.training import Callback


class Forecaster(Reports):
    """Fits a model to a frame of related series and forecasts all of them together.

    What is left out is chosen from the data (`report()` says what). The newest rows validate: they stop the training
    and calibrate the intervals. On the newest of those, which no choice saw, the model is scored next to naive ones
    (`report()["worth"]`). With `refit=True` a second model is then trained on all rows for the chosen number of epochs.

    Every argument is a setting; docs/settings.md has them all with their ranges.

    Args:
        horizon: steps to forecast.
        lookback: steps to look back on; from the season and the number of rows, if left out.
        freq: a pandas frequency (`"h"`, `"MS"`, …), found if left out; `"rows"`: a row is a step, whatever the clock.
        time, id, value: column names, where they are not the usual ones.
        series, drop: names of what is to be read, and of what is not.
        time_format, dayfirst, tz, utc: how times are written, and the zone they are in.
        sep, decimal, thousands, encoding, na, skip_rows, header: how a text file is written, where that is not found.
        missing: `"bridge"` carries the last value over a gap as input and leaves gaps out of loss and scores; `"error"`
            refuses gaps.
        model: a name in `olinear models`, a class `Model(n_series, lookback, horizon, **options)`, or a module
            `b t n -> b h n`, of which a copy is trained.
        options: further arguments of the model.
        basis, model_dim, ff_dim, embed_dim, blocks, dropout, mixer, rank, pre_linear, post_linear, temporal, head,
            affine, fold: parts of the model; `rank=64` makes thousands of series affordable.
        loss, optimizer, weight_decay, learning_rate, schedule, batch_size, max_epochs, epoch_steps, patience,
            clip_norm, average_decay, precision, checkpoint_seconds: of the training.
        members: models trained side by side, each with the next seed, whose forecasts are averaged.
        seed: of weights, shuffle and dropout; two fits with one seed are equal.
        device: `"auto"`, `"cpu"`, `"cuda"`, …
        validation: share of the rows, the newest, that validates.
        refit: see above; left out, it is done where rows are few, which is where it pays.
        holdout: the newest rows, on which the fit is scored next to naive forecasts before it learns from them too.
        bounds: what forecasts and intervals may not leave, `(0, 100)`, `(0, None)` or `"none"`; `"auto"` stops at zero
            what never was negative.
        point: whether a point forecast is a median or a mean.
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
        series: Sequence[str] | str | None = None,
        drop: Sequence[str] | str | None = None,
        time_format: str | None = None,
        dayfirst: bool | None = None,
        tz: str | None = None,
        utc: bool = False,
        sep: str | None = None,
        decimal: Literal[".", ","] | None = None,
        thousands: str | None = None,
        encoding: str | None = None,
        na: Sequence[str] | str | None = None,
        skip_rows: int | None = None,
        header: bool | None = None,
        missing: Literal["bridge", "error"] = "bridge",
        model: Source = "OLinear",
        options: Mapping[str, Any] | None = None,
        basis: str | None = None,
        model_dim: int | None = None,
        ff_dim: int | None = None,
        embed_dim: int | None = None,
        blocks: int | None = None,
        dropout: float | None = None,
        mixer: str | None = None,
        rank: int | None = None,
        pre_linear: bool | None = None,
        post_linear: bool | None = None,
        temporal: str | None = None,
        head: Literal["mlp", "linear"] | None = None,
        affine: bool | None = None,
        fold: bool | None = None,
        loss: str = "weighted_l1",
        optimizer: str = "adam",
        weight_decay: float = 0.0,
        learning_rate: float | None = None,
        schedule: str | None = None,
        batch_size: int | None = None,
        max_epochs: int | None = None,
        epoch_steps: int | None = None,
        patience: int | None = None,
        clip_norm: float | None = None,
        average_decay: float | None = None,
        members: int = 1,
        seed: int = 0,
        device: str = "auto",
        precision: Literal["auto", "float32", "bfloat16"] = "auto",
        checkpoint_seconds: float = 30.0,
        validation: float = 0.2,
        refit: bool | None = None,
        holdout: int | None = None,
        bounds: str | tuple[float | None, float | None] = "auto",
        point: Literal["median", "mean"] = "median",
        progress: bool = True,
        **renamed: Any,
    ):
        arguments = {name: value for name, value in locals().items() if name in leaves()}
        arguments |= old_arguments(renamed)
        self._parameters = arguments | {"progress": progress}  # as given, for get_params and repr
        self.progress = progress
        self._source = model
        self._given = check_given(arguments | {"model": card_of(model).name})
        if "horizon" not in self._given:
            raise ConfigError("horizon must be a whole number of at least 1, found None")
        self._like: Panel | None = None  # rows that were read before, as which a further fit reads its own
        self._fitted: Fitted | None = None
        self._general: Fitted | None = None  # pre-trained, whose weights a fit begins with

    def fit(
        self,
        data: Any,
        *,
        checkpoint: str | Path | None = None,
        resume: bool = False,
        callbacks: Sequence[Callback] = (),
        memory: Amount = None,
        notify: Callable[[str], None] | None = None,
    ) -> Self:
        """Train on a frame, or a file by its path. With `checkpoint` and `resume`, a fit that was killed goes on.

        `callbacks` listen to the training and may end it, which leaves the best weights so far. Calibration takes up to
        `memory` ("2GB", a share of what is free; a quarter if left out). `notify` gets notes at once, as `fit-long`.
        """
        panel = self._open(data)
        settings = self.choose(panel)
        path = None if checkpoint is None else check_path(checkpoint, "a checkpoint")
        with within_memory(memory):
            start = None if self._general is None else self._general.model
            run = Run(path, resume, self.progress, callbacks, notify, start)
            self._fitted = fit_panel(panel, settings, self._source, run)
        if self._general is not None:
            self._fitted.record["pretrained_on"] = self._general.record["pretrained_on"]
        return self

    def choose(self, data: Any) -> Settings:
        """The settings that `fit` would take for these rows, without fitting."""
        panel = self._open(data)
        given = self._given if self._general is None else for_rows(self._given, len(panel))
        return choose_settings(given, self._source, len(panel), len(panel.series), panel.frequency)

    def predict(
        self,
        data: Any = None,
        *,
        levels: Sequence[float] | float = (),
        horizon: int | None = None,
        recursive: bool = False,
        series: Sequence[str] | str | None = None,
    ) -> Any:
        """Forecast what follows the rows it was fitted on, or those of `data`, which need no refit.

        Args:
            data: new rows of the same series, at least `lookback` of them, or the path of a file of them.
            levels: per cent of the intervals, such as `[80, 95]`: columns `…-lo-80` and `…-hi-80`.
            horizon: fewer steps than trained, or more, with `recursive=True`: then forecasts feed on forecasts.
            recursive: allow a horizon longer than the trained one (without intervals, which are not calibrated there).
            series: names of those that are wanted in the answer; all are forecast together whatever is wanted.
        """
        return self.predict_panel(data, levels=levels, horizon=horizon, recursive=recursive, series=series).to_frame()

    def predict_panel(
        self,
        data: Any = None,
        *,
        levels: Sequence[float] | float = (),
        horizon: int | None = None,
        recursive: bool = False,
        series: Sequence[str] | str | None = None,
    ) -> Prediction:
        """`predict` before it becomes a frame: history, forecast and bounds as arrays, to draw or to compute with."""
        fitted, history = self.fitted, None
        if fitted.is_general:
            if data is None:
                raise DataError("this model is pre-trained and has no rows of its own: pass yours, predict(data)")
            fitted, history = for_series(fitted, self.read(data))
        asked = Asked.of(fitted, levels, horizon, recursive, series)
        with Waiting("forecasting", self.progress) as waiting:
            if history is None and data is not None:
                history = self._read_context(data)
            return make_prediction(fitted, history, asked, waiting)

    def backtest(
        self,
        data: Any,
        *,
        windows: int = 20,
        stride: int | None = None,
        levels: Sequence[float] | float = (),
        memory: Amount = None,
        out: str | Path | None = None,
        notify: Callable[[str], None] | None = None,
    ) -> Backtest:
        """Forecast from past origins of `data` and compare: forecasts, metrics, next to naive forecasts.

        The origins are the last `windows` that leave a whole horizon, a horizon apart (or closer where rows are few);
        `in_sample` of the result counts those the model was trained on. Forecasts that would take more than `memory`
        (as in `fit`) are None in the result, with a note; `out`, a file, gets them all the same, piece by piece.
        `notify` gets notes before the work begins.
        """
        check_range(windows=windows, stride=stride)
        fitted, panel, target = self.fitted, self.read(data), None if out is None else str(out)
        if fitted.is_general:
            fitted, panel = for_series(fitted, panel, ahead=fitted.settings.horizon)
        with within_memory(memory), Waiting("backtesting", self.progress):
            return run_backtest(fitted, panel, windows, stride, check_levels(levels), target, notify)

    def save(self, folder: str | Path, *, context: bool = True) -> None:
        """Write a model folder. `context=False` leaves out the last rows; `predict` then needs data."""
        save_fitted(self.fitted, check_path(folder), context=context)

    @classmethod
    def load(cls, folder: str | Path, *, model: Source | None = None) -> Self:
        """Read a model folder; it runs nothing from it. `fit` then fits again what was saved, to other rows.

        A pre-trained folder forecasts the series of whatever rows it is given, and `fit` goes on from its weights.

        `model` is the class or module of a folder whose model was given as one and is not registered.
        """
        fitted = load_fitted(check_path(folder), model)
        loaded = cls(fitted.settings.horizon, model=fitted.source)
        given = tuning_settings(fitted) if fitted.is_general else as_given(fitted.settings)
        loaded._parameters |= {name: value for name, value in given.items() if name != "model"}
        loaded._given, loaded._fitted = check_given(given), fitted
        if fitted.is_general:
            loaded._general = fitted
        else:
            loaded._like = fitted.panel
        return loaded

    def set_params(self, **changes: Any) -> Self:
        """Change arguments, and forget what was fitted, but not pre-trained weights, with which `fit` begins."""
        general = self._general
        super().set_params(**changes)
        self._general, self._fitted = general, self._fitted or general
        return self

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

    def read(self, data: Any) -> Panel:
        """New rows, a frame or a file, on the grid the model was fitted on, with the series in its order."""
        return self._open(data) if self.fitted.is_general else read_more(self.fitted, data, self._given)

    def _open(self, data: Any) -> Panel:
        return read_first(data, self._given, self._like)

    def _read_context(self, data: Any) -> Panel:
        panel, lookback = self.read(data), self.fitted.settings.lookback
        if len(panel) < lookback:
            raise DataError(
                f"lookback needs {lookback} rows, found {len(panel)}: pass at least {lookback} rows or fit with "
                f"lookback={len(panel)}"
            )
        return panel
