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
MOST_JUDGING = 8192  # windows that validate or calibrate, where those that train are too many for one epoch
JUDGING_SLOWLY = 4  # where each forecast takes seconds


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
    an_epoch: int = 0  # windows at the most; 0: all
    most_judging: int = 0  # windows of a span that validate or calibrate; 0: as follows from the others

    @classmethod
    def of(
        cls,
        panel: Panel,
        settings: Settings,
        scaler: StandardScaler,
        active: NDArray[np.bool_],
        split: Split,
        slow: bool = False,
    ) -> Self:
        inputs = scaler.transform(bridge_gaps(panel.values))
        first = (~np.isnan(panel.values)).argmax(0)
        for series in np.flatnonzero(first >= split.test.start):  # bridged by a value that no choice may see
            inputs[: first[series], series] = 0.0
        targets = scaler.transform(hide_first_targets(panel.values, settings.horizon))
        an_epoch = settings.training.epoch_steps * settings.training.batch_size
        most = JUDGING_SLOWLY if slow else 0
        return cls(inputs[:, active], targets[:, active], split, settings.lookback, settings.horizon, an_epoch, most)

    def windows(self, span: range) -> Windows:
        """Those whose targets lie in a span of rows."""
        starts = self.split.starts(span, self.lookback, self.horizon)
        return Windows(self.inputs, self.lookback, self.horizon, starts, self.targets)

    def judging(self, span: range) -> Windows:
        """Those of a span that validate or calibrate: all, or a part spread evenly.

        A part where an epoch takes a part, or where each forecast takes seconds.
        """
        windows = self.windows(span)
        most = self.most_judging or (MOST_JUDGING if self.is_thinned else len(windows))
        stride = -(-len(windows) // most)
        if stride == 1:
            return windows
        starts = windows.starts[(len(windows) - 1) % stride :: stride]  # with the newest one
        return Windows(windows.values, self.lookback, self.horizon, starts, windows.targets)

    @property
    def training(self) -> Windows:
        return self.windows(self.split.train)

    @property
    def validation(self) -> Windows | None:
        """What the choices see."""
        return self.judging(self.split.validation) if self.split.validation else None

    @property
    def windows_of_epoch(self) -> int:
        """How many of those that train an epoch takes."""
        return min(len(self.training), self.an_epoch or len(self.training))

    @property
    def is_thinned(self) -> bool:
        """Whether that is a part of them."""
        return self.windows_of_epoch < len(self.training)

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


def note_on_parts(rows: FitRows) -> Note | None:
    """How many of how many windows train in an epoch, validate and calibrate, where those that train are many."""
    if not (rows.is_thinned or rows.most_judging):
        return None
    trains = f"an epoch trains on {rows.an_epoch} of {len(rows.training)} windows, and the next one goes on with others"
    texts = [trains] if rows.is_thinned else []
    if rows.validation is not None:
        for what, span in (("validate", rows.split.validation), ("calibrate intervals", rows.newest)):
            some, every = len(rows.judging(span)), len(rows.windows(span))
            if some < every:
                texts.append(f"{some} of {every}, spread evenly, {what}")
    why = "each forecast takes seconds" if rows.most_judging else "epoch_steps=0 takes all"
    return Note("fit-thinned", f"{'; '.join(texts)}: {why}") if texts else None
