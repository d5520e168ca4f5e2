"""A trained model with everything that turns raw rows into forecasts in original units."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import nn

from olinear.core import Batch, DataError, Note
from olinear.core.runtime import Kernels, Precision, as_kernels, computing_in, device_of
from olinear.core.settings import Settings
from olinear.data.frames import Panel, StandardScaler
from olinear.forecaster.intervals import PREDICTED, Intervals, check_level, lookback_scale
from olinear.forecaster.known import NEVER, History, Past
from olinear.forecaster.limits import are_whole, find_limits
from olinear.forecaster.movement import half_widths
from olinear.models import Source, answer, for_inference, windows_at_once

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
    stale: NDArray[np.int64] | None = None  # rows since each series' last value, at the end of the panel
    whole: NDArray[np.bool_] | None = None  # the series of whole numbers

    def forecast(self, lookbacks: Values, stale: NDArray[np.int64] | None = None) -> tuple[Values, Values]:
        """`b t n` in original units -> the forecast `b h n` and each lookback's deviation `b n`, both in them."""
        constant = np.repeat(lookbacks[:, -1:], self.settings.horizon, axis=1)
        scale = np.zeros(lookbacks.shape[::2])
        if self.model is None:
            return constant, scale
        engine, size = self.engine, windows_at_once(self.model, BATCH, PREDICTED, lookbacks[0].size)
        x = torch.as_tensor(self.scaler.transform(lookbacks)[..., self.active], device=device_of(self.model))
        ages = None if stale is None else torch.as_tensor(stale[:, self.active], device=x.device)
        with torch.inference_mode(), computing_in(self.precision, self.kernels):
            parts = [answer(engine, Batch(part)).point for part in (x.split(size) if len(x) > size else [x])]
            y = (torch.cat(parts) if len(parts) > 1 else parts[0]).cpu().numpy()
            scale[:, self.active] = lookback_scale(x, ages).cpu().numpy() * self.scaler.deviation[self.active]
        constant[..., self.active] = self.scaler.pick(self.active).inverse_transform(y)
        return constant, scale

    def answer(self, past: Past) -> "Answer":
        """The forecasts from some origins, within their limits, and what their intervals are made of."""
        mean, scale = self.forecast(past.values, past.stale)
        if self.settings.validation.point == "mean" and self.intervals is not None and self.intervals.shift is not None:
            mean[..., self.active] += (self.intervals.shift * scale[:, self.active])[:, None]
        low, high = find_limits(self.settings.validation.bounds, self.nonnegative, past)
        if self.keeps_points:
            mean = np.clip(mean, low[:, None], high[:, None])
        return Answer(self, past, mean, scale, low[:, None], high[:, None])

    def history(self, panel: Panel) -> History:
        """What is known in a panel at any of its rows."""
        return History(panel.values, self.scaler.mean)

    @property
    def context(self) -> Past:
        """The end of the rows it was fitted on."""
        past = Past.whole(self.panel.values[None])
        return past if self.stale is None else Past(past.values, self.stale[None], past.negative)

    @property
    def keeps_points(self) -> bool:
        """Whether points are kept within the limits: those of earlier versions are given as they were."""
        return self.stale is not None

    @property
    def is_general(self) -> bool:
        """Whether it is pre-trained, and there are no series yet that it forecasts."""
        return not self.panel.series

    @property
    def is_zero_shot(self) -> bool:
        """Whether it is pre-trained, and was fitted to no series."""
        return "least_rows" in self.record

    @property
    def why_no_intervals(self) -> str:
        """What to say where `levels` are asked for and there are none."""
        if self.is_zero_shot:
            return (
                "a pre-trained model has no intervals for series that it was not fitted to: leave levels out, or fit "
                "it to your rows, which calibrates them"
            )
        return "this model has no intervals: it was fitted on too few rows to hold some back for them"

    @property
    def precision(self) -> Precision:
        """What it was trained with, and forecasts with; float32 for models of earlier versions."""
        return "bfloat16" if self.record.get("precision") == "bfloat16" else "float32"

    @property
    def kernels(self) -> Kernels:
        """What it was trained with, and forecasts with; torch's for models of earlier versions."""
        return as_kernels(self.record.get("kernels"))

    @cached_property
    def engine(self) -> nn.Module:
        """The model in its form for inference."""
        if self.model is None:
            return nn.Identity()
        return for_inference(self.model, self.precision)

    @property
    def last_time(self) -> pd.Timestamp | int:
        """The last time of the rows it was fitted on."""
        return int(self.record["last"]) if self.panel.frequency.counts else pd.Timestamp(self.record["last"])


@dataclass(frozen=True)
class Answer:
    """Forecasts from some origins: `mean` is `b h n`, `scale` the deviation of each lookback, `b n`."""

    fitted: Fitted
    past: Past
    mean: Values
    scale: Values
    low: Values  # b 1 n, what a forecast may not leave
    high: Values

    def bounds(self, level: float) -> tuple[Values, Values]:
        """The interval at a level, `b h n` each, ordered around the forecast and within the limits.

        A series that never moved has width 0. Bounds of whole numbers are whole, unless none lies between.
        """
        check_level(level)
        fitted, active = self.fitted, self.fitted.active
        half = np.zeros_like(self.mean)
        if fitted.intervals is not None:
            _check_supported(fitted.intervals, level)
            stale, lookback = self.past.stale[:, active], fitted.settings.lookback
            half[..., active] = fitted.intervals.half_widths(level, self.scale[:, active], stale, lookback)
        elif fitted.model is not None:
            raise DataError(fitted.why_no_intervals)
        if not active.all():
            lookbacks = self.past.values[..., ~active]
            half[..., ~active] = half_widths(lookbacks, self.mean.shape[1], level)
        low, high = self.mean - half, self.mean + half
        if fitted.whole is not None:  # the whole numbers between two others are those between their own neighbours
            whole = (fitted.whole & are_whole(self.past.values, axis=1))[:, None]
            low, high = np.where(whole, np.ceil(low), low), np.where(whole, np.floor(high), high)
        return np.minimum(np.maximum(low, self.low), self.mean), np.maximum(np.minimum(high, self.high), self.mean)

    def notes(self) -> list[Note]:
        """What a person should know of the last of these forecasts: series without recent values, or newly moving."""
        names, stale = np.array(self.fitted.panel.series, dtype=object), self.past.stale[-1]
        lookback = self.fitted.settings.lookback
        never, old = stale >= NEVER, (stale >= lookback) & (stale < NEVER)
        lookbacks = self.past.values[-1]
        moves = ~self.fitted.active & (lookbacks.max(0) > lookbacks.min(0))
        kinds = (
            (
                never,
                "series-unknown",
                "without any value in these rows: forecast near the mean of training, with its spread as interval",
            ),
            (
                old,
                "series-stale",
                f"without a value in the whole lookback of {lookback} rows: forecast from an older value",
            ),
            ((stale > 0) & (stale < lookback), "series-stale", "without recent values"),
            (
                moves,
                "series-moving",
                "constant in training and moving now: forecast as the last value, intervals from these moves",
            ),
        )
        notes = []
        for where, code, what in kinds:
            if where.any():
                ages = "" if what.startswith(("without any", "constant")) else f" (last value {_ages(stale[where])})"
                concerned = names[where].tolist()
                notes.append(Note(code, f"{_listed(concerned)}: {what}{ages}", concerned))
        return notes


def _check_supported(intervals: Intervals, level: float) -> None:
    if level > intervals.highest:
        raise DataError(
            f"an interval of {level:g} % is not supported by {intervals.evidence} values of {intervals.windows} "
            f"calibration windows: ask for at most {intervals.highest} %, or fit on more rows"
        )


def _ages(stale: NDArray[np.int64]) -> str:
    least, most = int(stale.min()), int(stale.max())
    return f"{most} rows ago" if least == most else f"{least} to {most} rows ago"


def _listed(names: list[str], most: int = 5) -> str:
    shown = ", ".join(map(str, names[:most]))
    return f"series {shown}" if len(names) <= most else f"series {shown} and {len(names) - most} more"
