"""From a panel to a fitted model: split, scale, train, calibrate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import nn

from olinear.core import Batch, ConfigError, DataError, OLinearError
from olinear.core.runtime import device_of, own_randomness
from olinear.core.settings import Settings
from olinear.data.frames import Panel, StandardScaler, bridge_gaps, hide_first_targets
from olinear.data.windows import Split, Windows
from olinear.evaluation.analysis import spectrum
from olinear.forecaster.intervals import PREDICTED, Intervals, check_level, lookback_scale
from olinear.models import Source, answer, build_model, for_inference, traits_of, windows_at_once
from olinear.training import Callback, TrainingReport, train

Values = NDArray[np.float64]
BATCH = 256  # windows forecast at a time


@dataclass
class Fitted:
    """A trained model with everything that turns raw rows into forecasts in original units."""

    settings: Settings
    panel: Panel  # its last `lookback` rows, or none: series, frequency and style, and the context of `predict`
    active: NDArray[np.bool_]  # the series that vary; a constant one is forecast as its last value
    nonnegative: NDArray[np.bool_]  # the series that never were negative
    scaler: StandardScaler
    model: nn.Module | None  # None if no series varies
    intervals: Intervals | None
    source: Source  # what its model is made of: a registered name, or a class or module given
    record: dict[str, Any] = field(default_factory=dict)  # training span, scores, versions

    def forecast(self, lookbacks: Values) -> tuple[Values, Values]:
        """`b t n` in original units -> the forecast `b h n` and each lookback's deviation `b n`, both in them."""
        constant = np.repeat(lookbacks[:, -1:], self.settings.horizon, axis=1)
        scale = np.zeros(lookbacks.shape[::2])
        if self.model is None:
            return constant, scale
        engine, size = self.engine, windows_at_once(self.model, BATCH, PREDICTED)
        x = torch.as_tensor(self.scaler.transform(lookbacks)[..., self.active], device=device_of(self.model))
        with torch.inference_mode():
            y = torch.cat([answer(engine, Batch(part)).point for part in x.split(size)]).cpu().numpy()
            scale[:, self.active] = lookback_scale(x).cpu().numpy() * self.scaler.deviation[self.active]
        constant[..., self.active] = self.scaler.pick(self.active).inverse_transform(y)
        return constant, scale

    @cached_property
    def engine(self) -> nn.Module:
        """The model in its form for inference."""
        if self.model is None:
            return nn.Identity()
        return for_inference(self.model)

    def bounds(self, level: float, mean: Values, scale: Values) -> tuple[Values, Values]:
        """The interval at a level around forecasts `... h n` made from lookbacks of deviation `scale [..., n]`.

        A constant series has an interval of width 0. A series that never was negative gets no negative bound, unless
        its forecast is.
        """
        check_level(level)
        if self.intervals is None and self.model is not None:
            raise DataError("this model has no intervals: it was fitted on too few rows to hold some back for them")
        half = np.zeros_like(mean)
        if self.intervals is not None:
            widths = self.intervals.half_widths(level, scale[..., self.active])
            half[..., self.active] = widths[..., : mean.shape[-2], :]
        low = mean - half
        low = np.where(self.nonnegative & (low < 0), np.minimum(mean, 0.0), low)
        return low, mean + half

    @property
    def last_time(self) -> pd.Timestamp | int:
        """The last time of the rows it was fitted on."""
        return int(self.record["last"]) if self.panel.frequency.counts else pd.Timestamp(self.record["last"])


@dataclass(frozen=True)
class Run:
    """How a fit is run; none of it changes the result, but a callback that stops it."""

    checkpoint: Path | None = None
    resume: bool = False
    progress: bool = True
    callbacks: Sequence[Callback] = ()


def fit_panel(panel: Panel, settings: Settings, source: Source, run: Run) -> Fitted:
    """Train on the older rows, validate and calibrate on the newest; with `refit`, train once more on all."""
    if settings.reading.missing == "error":
        panel.refuse_gaps()
    notes = list(panel.notes)
    panel = replace(panel, notes=notes)  # the caller's own stay as they are
    if panel.missing:
        share = panel.missing / panel.values.size
        notes.append(f"{panel.missing} values ({share:.1%}) are missing: bridged as input, left out of the loss")
    split = _split(len(panel), settings, notes)
    scaler = StandardScaler.fit(panel.values[: len(split.train)])
    least, most = np.nanmin(panel.values, axis=0), np.nanmax(panel.values, axis=0)
    active = most > least
    if isinstance(source, nn.Module):
        active[:] = True  # a module made for so many series gets them all
    context = replace(
        panel, values=bridge_gaps(panel.values)[-settings.lookback :], times=panel.times[-settings.lookback :]
    )
    fitted = Fitted(settings, context, active, least >= 0, scaler, None, None, source)
    constant = [name for name, varies in zip(panel.series, active, strict=True) if not varies]
    if constant:
        notes.append(f"{len(constant)} constant series are forecast as they are: {', '.join(constant[:5])}")
    fitted.record = {
        "first": str(panel.times[0]),
        "last": str(panel.times[-1]),
        "rows": len(panel),
        "missing_values": panel.missing,
    }
    if active.any():
        with own_randomness():
            _train(fitted, panel, split, run)
    return fitted


def _train(fitted: Fitted, panel: Panel, split: Split, run: Run) -> None:
    settings, active = fitted.settings, fitted.active
    inputs = fitted.scaler.transform(bridge_gaps(panel.values))[:, active]
    targets = fitted.scaler.transform(hide_first_targets(panel.values, settings.horizon))[:, active]

    def windows(span: range) -> Windows:
        starts = split.starts(span, settings.lookback, settings.horizon)
        return Windows(inputs, settings.lookback, settings.horizon, starts, targets)

    training, validation = windows(split.train), windows(split.validation) if split.validation else None
    fitted.model = _new_model(fitted, inputs[: len(split.train)])
    options: dict[str, Any] = {"resume": run.resume, "progress": run.progress, "callbacks": run.callbacks}
    report = train(fitted.model, training, validation, settings.training, checkpoint=run.checkpoint, **options)
    fitted.record |= _score(report)
    if traits_of(fitted.model).orthogonal:
        fitted.record["spectrum"] = spectrum(fitted.model, inputs[: len(split.train)]).rounded()
    if validation is not None:
        fitted.intervals = Intervals.calibrate(fitted.model, validation)
    if settings.validation.refit and validation is not None and not report.stopped:
        again = settings.training.model_copy(update={"max_epochs": max(report.best_epoch, 1)})
        fitted.model = _new_model(fitted, inputs)
        checkpoint = None if run.checkpoint is None else run.checkpoint.with_name(f"{run.checkpoint.name}.refit")
        train(fitted.model, windows(range(len(panel))), None, again, checkpoint=checkpoint, **options)


def _split(rows: int, settings: Settings, notes: list[str]) -> Split:
    """The newest share of the rows validates, if enough rows remain to train on."""
    least = settings.lookback + settings.horizon
    n_validation = max(int(settings.validation.share * rows), settings.horizon)
    n_validation = min(n_validation, rows - least)
    if n_validation < settings.horizon:
        notes.append(f"{rows} rows are too few to validate: trained without early stopping, and without intervals")
        n_validation = 0
    return Split.by_counts(rows - n_validation, n_validation, 0)


def _new_model(fitted: Fitted, train_rows: NDArray[np.float32]) -> nn.Module:
    """The model of the settings; if its basis cannot be computed from these rows, with a fixed one and a note."""
    arguments = fitted.settings.model.arguments
    try:
        return _build(fitted, train_rows, arguments)
    except DataError as error:
        if "basis" not in arguments:
            raise
        fixed = arguments | {"basis": "fourier"}
        model = _build(fitted, train_rows, fixed)
        fitted.panel.notes.append(
            f"the {arguments['basis']} basis cannot be computed ({error}); the fourier basis was used"
        )
        return model


def _build(fitted: Fitted, train_rows: NDArray[np.float32], arguments: Mapping[str, Any]) -> nn.Module:
    settings = fitted.settings
    try:
        with own_randomness(settings.training.seed):
            return build_model(fitted.source, train_rows, settings.lookback, settings.horizon, **arguments)
    except OLinearError:
        raise
    except (ArithmeticError, TypeError, ValueError, RuntimeError) as error:
        given = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        if not given:
            raise
        raise ConfigError(f"{settings.model.name} cannot be built with {given}: {error}") from error


def _score(report: TrainingReport) -> dict[str, Any]:
    return {
        "validation_loss": report.best_loss,
        "best_epoch": report.best_epoch,
        "epochs": report.epochs,
        "seconds": round(report.seconds, 1),
    }
