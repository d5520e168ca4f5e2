"""The rows of a fit and who may see which: training, validation, and the newest, which no choice sees."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from olinear.core import Note
from olinear.core.settings import Settings
from olinear.data.frames import Panel, StandardScaler, bridge_gaps, hide_first_targets, is_new
from olinear.data.windows import Split, Windows
from olinear.forecaster.choosing import default_holdout, validation_rows

Values = NDArray[np.float32]


def split_rows(panel: Panel, settings: Settings) -> Split:
    """The newest share of the rows validates, if enough rows remain to train on; the newest of those are held out.

    The held-out rows are the third span of the split, `test`.
    """
    rows, horizon = len(panel), settings.horizon
    judging = validation_rows(rows, settings.validation.share, settings.lookback, horizon)
    if not judging:
        panel.notes.append(
            Note(
                "fit-not-validated",
                f"{rows} rows are too few to validate: trained without early stopping, and without intervals",
            )
        )
    holdout = min(settings.validation.holdout, judging - horizon)
    if holdout < horizon:
        holdout = 0
    _note_few(panel, settings, judging, holdout)
    return Split.by_counts(rows - judging, judging - holdout, holdout)


def _note_few(panel: Panel, settings: Settings, judging: int, holdout: int) -> None:
    """A note where fewer rows are held out than were asked for, or none for want of rows."""
    asked, horizon = settings.validation.holdout, settings.horizon
    if not judging:
        return
    if holdout < asked:
        text = f"{holdout} of {asked} rows" if holdout else "no rows"
        why = f"of {judging} validation rows one horizon of {horizon} must remain for early stopping"
    elif not asked and not default_holdout(judging, horizon):
        text = "no rows"
        why = f"{3 * horizon} validation rows (three horizons) are needed, found {judging}"
    else:
        return
    left = "" if holdout else ", and the fit is not scored next to naive forecasts"
    panel.notes.append(
        Note("worth-few-rows", f"{text} could be held out{left}: {why}; pass more rows or a larger share to validate")
    )


def fit_scaler(values: NDArray[np.float64], split: Split) -> StandardScaler:
    """Standardising by the training rows; a series that is new there by the rows that validate, too.

    Only where even these hold next to nothing do the held-out rows count: in a wrong unit a series would rule every
    loss.
    """
    known = split.test.start
    later = values[len(split.train) :].copy()
    later[known - len(split.train) :, ~is_new(values[:known])] = np.nan
    return StandardScaler.fit(values[: len(split.train)], later)


@dataclass(frozen=True)
class FitRows:
    """The series that vary, on the standardised scale: what a model sees and what it is compared with."""

    inputs: Values
    targets: Values
    split: Split
    lookback: int
    horizon: int

    @classmethod
    def of(
        cls, panel: Panel, settings: Settings, scaler: StandardScaler, active: NDArray[np.bool_], split: Split
    ) -> Self:
        inputs = scaler.transform(bridge_gaps(panel.values))
        first = (~np.isnan(panel.values)).argmax(0)
        for series in np.flatnonzero(first >= split.test.start):  # bridged by a value that no choice may see
            inputs[: first[series], series] = 0.0
        targets = scaler.transform(hide_first_targets(panel.values, settings.horizon))
        return cls(inputs[:, active], targets[:, active], split, settings.lookback, settings.horizon)

    def windows(self, span: range) -> Windows:
        """Those whose targets lie in a span of rows."""
        starts = self.split.starts(span, self.lookback, self.horizon)
        return Windows(self.inputs, self.lookback, self.horizon, starts, self.targets)

    @property
    def training(self) -> Windows:
        return self.windows(self.split.train)

    @property
    def validation(self) -> Windows | None:
        """What the choices see."""
        return self.windows(self.split.validation) if self.split.validation else None

    @property
    def known(self) -> range:
        """The rows before those held out: all that a choice may see."""
        return range(self.split.test.start)

    @property
    def newest(self) -> range:
        """The rows that did not train: those that validate and those held out."""
        return range(len(self.split.train), len(self.inputs))

    @property
    def every(self) -> range:
        return range(len(self.inputs))
