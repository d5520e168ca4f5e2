"""The step of a time axis: found, named, stepped forwards, and a grid laid along it."""

import re
import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from olinear.core import ConfigError, DataError

# pandas' names before 2.2, and what they are called since.
_NEW_NAMES = {
    **{
        "H": "h",
        "BH": "bh",
        "T": "min",
        "S": "s",
        "L": "ms",
        "U": "us",
        "N": "ns",
        "MIN": "min",
        "d": "D",
        "b": "B",
        "w": "W",
    },
    **{"M": "ME", "BM": "BME", "Q": "QE", "BQ": "BQE", "A": "YE", "Y": "YE", "BA": "BYE", "BY": "BYE"},
    **{"AS": "YS", "BAS": "BYS"},
}
_SEASONS = {"s": 60, "min": 60, "h": 24, "D": 7, "B": 5, "W": 52, "ME": 12, "MS": 12, "BME": 12, "BMS": 12}
_SEASONS |= {"SME": 24, "SMS": 24}
UNITS = ("s", "ms", "us", "ns")  # in which pandas counts times, the finest last
DAY = pd.Timedelta(days=1)
MOST_MISSING = 0.25  # of a grid's rows; beyond that it is hardly the right grid
WAY_OUT = "correct the times, pass the right freq=, or freq='rows' if rows are steps whatever the clock says"


@dataclass(frozen=True)
class Frequency:
    """How rows follow each other.

    `calendar`: rows lie on the grid of the pandas frequency `step`, some may be missing. `rows`: one row is one step
    whatever the clock says (trading days); `step` only dates the future. `integer`: time is a whole number, `step`
    apart.
    """

    step: str
    kind: Literal["calendar", "rows", "integer"] = "calendar"

    @property
    def counts(self) -> bool:
        """Whether times are whole numbers rather than instants."""
        return self.step.isdigit()

    def grid(self, times: pd.Index) -> pd.Index:
        """All steps from the first time to the last."""
        if self.kind == "rows":
            return times
        if self.kind == "integer":
            return pd.RangeIndex(times[0], times[-1] + 1, int(self.step))
        return _date_range(times[0], self.step, end=times[-1])

    def after(self, last: pd.Timestamp | int, count: int) -> pd.Index:
        """The `count` times that follow `last`."""
        if self.counts:
            return pd.RangeIndex(int(last) + int(self.step), int(last) + (count + 1) * int(self.step), int(self.step))
        times = _date_range(last, self.step, periods=count + 1)
        following = times.searchsorted(last, side="right")
        return times[following : following + count]

    @property
    def season(self) -> int:
        """Steps in the natural cycle: the hours of a day, the days of a week, the months of a year; 1 if none."""
        if self.counts:
            return 1
        count, unit = _split_name(self.step)
        unit = unit.partition("-")[0]
        if unit in ("s", "min", "h"):
            step = pd.Timedelta(self.step if self.step[0].isdigit() else f"1{self.step}")
            cycle = DAY if step >= pd.Timedelta(minutes=1) else pd.Timedelta(hours=1)
            return max(1, round(cycle / step))
        if unit in ("QE", "QS", "BQE", "BQS"):
            return max(1, 4 // count)
        if unit == "D" and count % 7 == 0:
            return max(1, 52 * 7 // count)
        return max(1, _SEASONS.get(unit, 1) // count)

    def __str__(self) -> str:
        return f"rows (dated by {self.step})" if self.kind == "rows" else self.step


def parse_frequency(name: str) -> str:
    """A pandas frequency by its present name; names from before pandas 2.2 work too."""
    count, unit = _split_name(name.strip())
    base, dash, anchor = unit.partition("-")
    modern = f"{count if count != 1 else ''}{_NEW_NAMES.get(base, base)}{dash}{anchor}"
    try:
        if not count:
            raise ValueError("a step of nothing")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pandas warns of spellings such as w-mon, and understands them
            return str(pd.tseries.frequencies.to_offset(modern).freqstr)
    except (ValueError, AttributeError, OverflowError) as error:
        raise ConfigError(
            f"freq {name!r} is not known: use one such as '15min', 'h', 'D', 'B', 'W', 'MS', 'ME', or 'rows'"
        ) from error


def _date_range(start: pd.Timestamp, step: str, **extent: Any) -> pd.DatetimeIndex:
    """Steps from `start`; where the clocks skip a wall time it moves on, where they repeat one it is the first."""
    finer = _split_name(step)[1]
    extent["unit"] = max(start.unit, finer if finer in UNITS else UNITS[0], key=UNITS.index)
    try:
        return pd.date_range(start, freq=step, **extent)
    except (pd.errors.OutOfBoundsDatetime, OverflowError) as error:
        raise DataError(
            f"steps of {step!r} from {start} leave the calendar: correct the times, or pass another freq="
        ) from error
    except Exception:  # a ValueError; pandas 2 raises what pytz has
        if start.tz is None:
            raise
    if "end" in extent:
        extent["end"] = extent["end"].tz_localize(None)
    wall = pd.date_range(start.tz_localize(None), freq=step, **extent)
    first = np.ones(len(wall), dtype=bool)
    return wall.tz_localize(start.tz, nonexistent="shift_forward", ambiguous=first)


def find_frequency(times: pd.Index, given: str | None = None) -> Frequency:
    """The frequency of sorted, distinct times: the one given, or the grid they lie on."""
    if pd.api.types.is_integer_dtype(times.dtype):
        return _integer_frequency(times, given)
    if len(times) < 2 and given in (None, "rows"):
        raise DataError(f"the frequency cannot be found from {len(times)} row: pass more rows, or freq= (such as 'h')")
    if given == "rows":
        return Frequency(_infer(times).step, "rows")
    if given and given.isdigit():
        raise ConfigError(f"the time column has dates, so freq {given!r}, a step of whole numbers, does not fit")
    found = Frequency(parse_frequency(given)) if given else _infer(times)
    _check_on_grid(times, found)
    return found


def _integer_frequency(times: pd.Index, given: str | None) -> Frequency:
    if given is not None and given != "rows" and not re.fullmatch("[1-9][0-9]{0,17}", given):
        raise ConfigError(f"the time column has whole numbers, so freq {given!r} does not fit: leave freq out")
    steps, counts = np.unique(np.diff(times.to_numpy()), return_counts=True)
    usual = str(steps[counts.argmax()]) if len(steps) else "1"
    if given == "rows":
        return Frequency(usual, "rows")
    found = Frequency(given or usual, "integer")
    _check_on_grid(times, found)
    return found


def _infer(times: pd.DatetimeIndex) -> Frequency:
    """The coarsest usual grid through the times."""
    if _is_business(times):
        return Frequency("B")
    months = np.diff(times.year * 12 + times.month)
    if np.median(_days_between(times)) >= 28 and months.min() > 0:
        count = int(np.gcd.reduce(months))
        for unit in ("MS", "ME", "BMS", "BME"):
            if times.isin(_date_range(times[0], f"{count}{unit}", end=times[-1])).all():
                return Frequency(parse_frequency(f"{count}{unit}"))
    return Frequency(_usual_step(times))


def _is_business(times: pd.DatetimeIndex) -> bool:
    """One stamp a day at most, none on a weekend, over at least one weekend."""
    steps = _days_between(times.tz_localize(None).normalize())
    return len(steps) >= 5 and bool((times.day_of_week < 5).all()) and np.median(steps) == 1 and steps.max() >= 3


def _days_between(times: pd.DatetimeIndex) -> NDArray[np.float64]:
    return np.diff(times.tz_localize(None).to_numpy()) / np.timedelta64(1, "D")


def _usual_step(times: pd.DatetimeIndex) -> str:
    """The most frequent difference, as a frequency name."""
    wall = times.tz_localize(None)  # a day is a day, also when the clocks change
    steps, counts = np.unique(np.diff(wall.asi8), return_counts=True)
    step = pd.Timedelta(int(steps[counts.argmax()]), unit=wall.unit)
    if step % DAY == pd.Timedelta(0):
        return parse_frequency(f"{step // DAY}D")
    return parse_frequency(str(pd.tseries.frequencies.to_offset(step).freqstr))


def _check_on_grid(times: pd.DatetimeIndex, frequency: Frequency) -> None:
    """Refuse times that leave the grid, or a grid of which most is missing."""
    span, step = times[-1] - times[0], frequency.after(times[0], 1)[0] - times[0]
    way_out = WAY_OUT + (", or time_format= if the numbers are dates" if frequency.kind == "integer" else "")
    if span / step > 10 * len(times):  # before a grid of any size is laid
        row = int((times[1:] - times[:-1] > step).argmax())
        raise DataError(
            f"most rows of a grid of {frequency.step!r} are missing, the first after {times[row]}: {way_out}"
        )
    grid = frequency.grid(times)
    off: NDArray[np.intp] = np.flatnonzero(~times.isin(grid))
    if len(off):
        raise _irregular(times, int(off[0]), frequency.step, way_out)
    if len(grid) - len(times) > MOST_MISSING * len(grid):
        row = int(np.flatnonzero(np.diff(grid.get_indexer(times)) > 1)[0])
        raise DataError(
            f"{len(grid) - len(times)} of the {len(grid)} rows of a grid of {frequency.step!r} are missing, "
            f"the first after {times[row]}: {way_out}"
        )


def _irregular(times: pd.Index, row: int, step: str, way_out: str) -> DataError:
    before = f"follows {times[row - 1]}" if row else "comes first"
    return DataError(f"the time axis is irregular: {times[row]} {before}, which is not a step of {step!r}: {way_out}")


def _split_name(name: str) -> tuple[int, str]:
    match = re.fullmatch(r"(\d*)\s*([A-Za-z]+(?:-[A-Za-z0-9]+)?)", name)
    if match is None:
        raise ConfigError(
            f"freq {name!r} is not known: use one such as '15min', 'h', 'D', 'B', 'W', 'MS', 'ME', or 'rows'"
        )
    return int(match[1] or 1), match[2]
