"""From a panel to a fitted model: split, scale, train, calibrate."""

from dataclasses import replace

import numpy as np
from torch import nn

from olinear.core import DataError, Note
from olinear.core.runtime import Waiting, computing_in, own_randomness
from olinear.core.settings import Settings
from olinear.data.frames import FrameStyle, Panel, bridge_gaps
from olinear.evaluation.analysis import spectrum
from olinear.forecaster.backtest_frames import Kept
from olinear.forecaster.backtesting import find_origins, score_origins
from olinear.forecaster.calibration import FEW, MOST_STALE, scored_windows
from olinear.forecaster.fitted import Fitted
from olinear.forecaster.intervals import Intervals
from olinear.forecaster.learning import Run, learn, learn_again, summary_of
from olinear.forecaster.limits import are_whole
from olinear.forecaster.noticing import notes_on, with_notes, without_spikes
from olinear.forecaster.spans import FitRows, fit_scaler, split_rows
from olinear.forecaster.worth import LEVEL, note_on, summarise
from olinear.models import Source, card_of, traits_of

MOST_CELLS = 2**22  # forecast for the score; of more windows than that, some are left out evenly


def fit_panel(panel: Panel, settings: Settings, source: Source, run: Run) -> Fitted:
    """Train on the older rows, choose by later ones, score on the newest; then learn from all, if that is wanted."""
    if settings.reading.missing == "error":
        panel.refuse_gaps()
    panel = without_spikes(replace(panel, notes=list(panel.notes)))  # the caller's own stay as they are
    split = split_rows(panel, settings)
    scaler = fit_scaler(panel.values, split)
    least, most = np.nanmin(panel.values, axis=0), np.nanmax(panel.values, axis=0)
    active = most > least
    if isinstance(source, nn.Module):
        active[:] = True  # a module made for so many series gets them all
    panel = with_notes(panel, notes_on(panel, settings, len(split.train), active))
    context = replace(
        panel, values=bridge_gaps(panel.values)[-settings.lookback :], times=panel.times[-settings.lookback :]
    )
    fitted = Fitted(settings, context, active, least >= 0, scaler, None, None, source)
    fitted.stale, fitted.whole = fitted.history(panel).at_end(1).stale[0], are_whole(panel.values)
    fitted.record = {
        "first": str(panel.times[0]),
        "last": str(panel.times[-1]),
        "rows": len(panel),
        "missing_values": panel.missing,
    }
    if active.any():
        rows = FitRows.of(panel, settings, scaler, active, split, card_of(source).traits.slow)
        with own_randomness():
            _train(fitted, panel, rows, run)
    return fitted


def _train(fitted: Fitted, panel: Panel, rows: FitRows, run: Run) -> None:
    """The judged model, its worth and its intervals; then what it learns from the newest rows."""
    reports, train_rows = learn(fitted, rows, run), rows.inputs[: len(rows.split.train)]
    fitted.record |= summary_of(reports, fitted.settings)
    if fitted.model is not None and traits_of(fitted.model).orthogonal:
        fitted.record["spectrum"] = spectrum(fitted.model, train_rows).rounded()
    if rows.validation is None:
        return
    with Waiting("scoring and calibrating", run.progress):
        if rows.split.test:
            _find_worth(fitted, panel, rows)
        fitted.intervals = _calibrate(fitted, rows, rows.newest, rows.every)
    _note_windows(fitted.panel, fitted.intervals, scored_windows(rows.judging(rows.newest)))
    if fitted.settings.validation.refit and not any(report.stopped for report in reports):
        learn_again(fitted, rows, reports, run)


def _find_worth(fitted: Fitted, panel: Panel, rows: FitRows) -> None:
    """Score the judged model on the held-out rows, with what was known before them."""
    known = panel.values[: rows.known.stop]
    never_negative = ~(np.fmin.reduce(known, axis=0) < 0)
    gaps = bool(np.isnan(panel.values[len(known) - 1 :]).any())  # else no series is stale at any of these origins
    intervals = _calibrate(fitted, rows, rows.split.validation, rows.known if gaps else None)
    judged = replace(fitted, nonnegative=never_negative, whole=are_whole(known), intervals=intervals)
    held_out = rows.split.test
    count = len(held_out) - rows.horizon + 1
    most = rows.most_judging or max(MOST_CELLS // (rows.horizon * len(panel.series)), 1)
    stride = -(-count // most)
    levels = [float(LEVEL)] if intervals.highest >= LEVEL else []
    plain = replace(panel, style=FrameStyle())
    origins = find_origins(len(panel), rows.lookback, rows.horizon, -(-count // stride), stride)
    metrics = score_origins(judged, plain, origins, levels, Kept())
    span = {"rows": len(held_out), "windows": len(origins), "first": str(panel.times[held_out.start])}
    worth = fitted.record["worth"] = span | {"last": str(panel.times[-1])} | summarise(metrics)
    note = note_on(worth)
    if note is not None:
        fitted.panel.notes.append(note)


def _calibrate(fitted: Fitted, rows: FitRows, span: range, known: range | None) -> Intervals:
    """Intervals of fresh series from a span of rows that did not train, of stale ones from all that are known.

    What is wrong with a stale forecast is what is not known, more than what was learnt; and the newest rows hold few
    stretches as long as a lookback. It costs a tenth of the training at the most; without `known`, or where each
    forecast takes seconds, it is left out.
    """
    model, epochs, n_train = fitted.model, fitted.settings.training.max_epochs, len(rows.split.train)
    if model is None:
        raise DataError("there is no model to calibrate")
    most = MOST_STALE if traits_of(model).closed_form else max(4, epochs * n_train // 20)
    with computing_in(fitted.precision, fitted.kernels):
        fresh = Intervals.calibrate(model, rows.judging(span))
        return (
            fresh if known is None or rows.most_judging else fresh.with_stale(model, rows.windows(known), n_train, most)
        )


def _note_windows(panel: Panel, found: Intervals, scored: int) -> None:
    """Whether the windows of calibration were few, or so many that not all were taken."""
    if scored < found.windows:
        text = f"intervals are calibrated on {scored} of {found.windows} windows, spread evenly"
        panel.notes.append(Note("intervals-thinned", f"{text}: all would take too much memory"))
    if found.windows < FEW:
        windows = "1 calibration window" if found.windows == 1 else f"{found.windows} calibration windows"
        text = f"intervals rest on {windows}: series and steps are pooled where they are too few, and widened for it"
        panel.notes.append(Note("intervals-few-windows", f"{text}; ask for at most {found.highest} %"))
