"""From a panel to a fitted model: split, scale, train, calibrate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from olinear.core import ConfigError, DataError, Note, OLinearError
from olinear.core.runtime import own_randomness
from olinear.core.settings import Settings
from olinear.data.frames import Panel, StandardScaler, bridge_gaps, hide_first_targets
from olinear.data.windows import Split, Windows
from olinear.evaluation.analysis import spectrum
from olinear.forecaster.calibration import FEW, MOST_STALE
from olinear.forecaster.fitted import Fitted
from olinear.forecaster.intervals import Intervals
from olinear.forecaster.noticing import notes_on, with_notes, without_spikes
from olinear.models import Source, build_model, traits_of
from olinear.training import Callback, TrainingReport, train


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
    panel = without_spikes(replace(panel, notes=list(panel.notes)))  # the caller's own stay as they are
    split = _split(panel, settings)
    n_train = len(split.train)
    scaler = StandardScaler.fit(panel.values[:n_train], panel.values[n_train:])
    least, most = np.nanmin(panel.values, axis=0), np.nanmax(panel.values, axis=0)
    active = most > least
    if isinstance(source, nn.Module):
        active[:] = True  # a module made for so many series gets them all
    panel = with_notes(panel, notes_on(panel, settings, n_train, active))
    context = replace(
        panel, values=bridge_gaps(panel.values)[-settings.lookback :], times=panel.times[-settings.lookback :]
    )
    fitted = Fitted(settings, context, active, least >= 0, scaler, None, None, source)
    fitted.stale = fitted.history(panel).at_end(1).stale[0]
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
        fitted.intervals = _calibrate(fitted, validation, windows(range(len(panel))), len(split.train))
    if settings.validation.refit and validation is not None and not report.stopped:
        again = settings.training.model_copy(update={"max_epochs": max(report.best_epoch, 1)})
        fitted.model = _new_model(fitted, inputs)
        checkpoint = None if run.checkpoint is None else run.checkpoint.with_name(f"{run.checkpoint.name}.refit")
        train(fitted.model, windows(range(len(panel))), None, again, checkpoint=checkpoint, **options)


def _calibrate(fitted: Fitted, validation: Windows, known: Windows, n_train: int) -> Intervals:
    """Intervals of fresh series from the rows that validated, of stale ones from all that are known.

    What is wrong with a stale forecast is what is not known, more than what was learnt; and the newest rows hold few
    stretches as long as a lookback. It costs a tenth of the training at the most.
    """
    model, epochs = fitted.model, fitted.settings.training.max_epochs
    if model is None:
        raise DataError("there is no model to calibrate")
    most = MOST_STALE if traits_of(model).closed_form else max(4, epochs * n_train // 20)
    found = Intervals.calibrate(model, validation).with_stale(model, known, n_train, most)
    if len(validation) < FEW:
        windows = "1 calibration window" if len(validation) == 1 else f"{len(validation)} calibration windows"
        text = (
            f"intervals rest on {windows}: series and steps are pooled where they are too few, and widened for it; ask "
            f"for at most {found.highest} %"
        )
        fitted.panel.notes.append(Note("intervals-few", text))
    return found


def _split(panel: Panel, settings: Settings) -> Split:
    """The newest share of the rows validates, if enough rows remain to train on."""
    rows = len(panel)
    least = settings.lookback + settings.horizon
    n_validation = max(int(settings.validation.share * rows), settings.horizon)
    n_validation = min(n_validation, rows - least)
    if n_validation < settings.horizon:
        text = f"{rows} rows are too few to validate: trained without early stopping, and without intervals"
        panel.notes.append(Note("validation-none", text))
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
        text = f"the {arguments['basis']} basis cannot be computed ({error}); the fourier basis was used"
        fitted.panel.notes.append(Note("basis-fixed", text))
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
