"""How times are to be read: what was asked for, what earlier rows decided, and the zone they are placed in."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from olinear.core import ConfigError, DataError, Note
from olinear.data.frames.frequency import find_frequency

IRREGULAR, GAPPY, REGULAR = 0, 1, 2


@dataclass(frozen=True)
class Clock:
    """What is known of how times are written, before a column is read and, with what its cells decided, after it.

    Args:
        time_format: a pattern, or what whole numbers are (`numbered`).
        dayfirst: whether days stand before months.
        dayfirst_given: whether a user asked for that order; cells that contradict it are errors.
        tz: the zone that a user names.
        utc: whether times without an offset are UTC.
        zone: the zone of the rows that a model was fitted on.
        wall: whether offsets were left out there, and clock times kept.
        freq: the step, where it is given.
    """

    time_format: str | None = None
    dayfirst: bool | None = None
    dayfirst_given: bool = False
    tz: str | None = None
    utc: bool = False
    zone: str | None = None
    wall: bool = False
    freq: str | None = None

    @property
    def pattern(self) -> str | None:
        """The pattern of strptime, if there is one."""
        return self.time_format if self.time_format and "%" in self.time_format else None

    @property
    def target(self) -> str | None:
        """The zone that a user wants."""
        return self.tz or ("UTC" if self.utc else None)


def place(times: pd.DatetimeIndex, name: str, clock: Clock, from_text: bool) -> pd.DatetimeIndex:
    """Times in the zone that is wanted: instants are converted, clock times without an offset belong to it.

    Instants of text have no zone of their own, only offsets, and take that of the rows a model was fitted on.
    """
    try:
        if times.tz is not None:
            zone = clock.target or (clock.zone if from_text else None)
            return times if zone is None else times.tz_convert(zone)
        if clock.utc:
            return times.tz_localize("UTC").tz_convert(clock.target)
        return times if clock.tz is None else _localised(times, name, clock.tz)
    except (KeyError, LookupError, ModuleNotFoundError, OSError, pd.errors.OutOfBoundsDatetime) as error:
        raise ConfigError(f"tz {clock.target or clock.zone!r} is not known: use one such as 'Europe/Berlin'") from error
    except (TypeError, ValueError) as error:
        if isinstance(error, DataError | ConfigError):
            raise
        raise ConfigError(f"tz {clock.target!r} is not possible: {error}") from error


def _localised(times: pd.DatetimeIndex, name: str, zone: str) -> pd.DatetimeIndex:
    """Clock times of a zone; an hour that comes twice is found by the order of the rows, or is the first."""
    missing = times.tz_localize(zone, nonexistent="NaT", ambiguous=np.ones(len(times), dtype=bool)).isna()
    if missing.any():
        row = int(missing.argmax())
        raise DataError(
            f"the time {times[row]} in {name!r}, row {row + 1}, does not exist in {zone}, where the clocks skip it: "
            "pass another tz=, or utc=True if the times are UTC"
        )
    if times.is_unique:
        return times.tz_localize(zone, ambiguous=np.ones(len(times), dtype=bool))
    second = pd.Series(np.arange(len(times))).groupby(times.asi8).cumcount().to_numpy() % 2 == 1
    placed = times.tz_localize(zone, ambiguous=~second)
    return placed if placed.is_unique and placed.is_monotonic_increasing else _inferred(times, zone)


def _inferred(times: pd.DatetimeIndex, zone: str) -> pd.DatetimeIndex:
    """By the order of the rows where it decides; else the first of two, so that repeated times are refused as such."""
    try:
        return times.tz_localize(zone, ambiguous="infer")
    except Exception:  # pandas 2 raises what pytz has
        return times.tz_localize(zone, ambiguous=np.ones(len(times), dtype=bool))


def repeats_of_an_autumn(times: pd.Index) -> bool:
    """Whether an hour stands twice as in the night when clocks go back, in times without a zone."""
    if not isinstance(times, pd.DatetimeIndex) or times.tz is not None or times.equals(times.normalize()):
        return False
    twice = times[times.duplicated()]
    return (
        bool(len(twice)) and twice.is_unique and bool((twice.hour <= 3).all()) and len(twice.normalize().unique()) < 40
    )


def instants_or_wall(
    instants: pd.DatetimeIndex, wall: pd.DatetimeIndex, name: str, clock: Clock, notes: list[Note]
) -> tuple[pd.DatetimeIndex, Clock]:
    """Times with changing offsets: instants, unless only the clock times lie on a grid, as days of a zone do."""
    if clock.target or (clock.zone and not clock.wall):
        return instants, clock
    if clock.wall or (regularity(instants, clock.freq)[0] == IRREGULAR < regularity(wall, clock.freq)[0]):
        text = f"times in {name!r} have changing UTC offsets and were read as local wall time"
        notes.append(Note("time-zone", text, [name]))
        return wall, replace(clock, wall=True)
    text = f"times in {name!r} have changing UTC offsets and were read as UTC: pass tz= for the zone they are of"
    notes.append(Note("time-zone", text, [name]))
    return instants, clock


def regularity(times: pd.DatetimeIndex, freq: str | None) -> tuple[int, int]:
    """How well times lie on a grid, and whether the rows stand in their order."""
    distinct = times.unique()
    ordered = distinct.sort_values()
    in_order = int(distinct.is_monotonic_increasing)
    try:
        frequency = find_frequency(ordered, freq)
    except (DataError, ConfigError):
        return IRREGULAR, in_order
    return (REGULAR if len(frequency.grid(ordered)) == len(ordered) else GAPPY), in_order
