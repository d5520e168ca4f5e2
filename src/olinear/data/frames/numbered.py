"""Times that are whole numbers: seconds since 1970, days of Excel, 20240131, or a counter."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from olinear.core import DataError, Note
from olinear.data.frames.clock import REGULAR, Clock, regularity

USUAL = str(pd.DatetimeIndex(["2024-01-01"]).unit)  # in which this pandas counts times of text
LARGEST = 2**62  # the difference of any two smaller numbers is a whole number of 64 bits
STEPS = "steps"
EPOCHS = {"epoch_s": "s", "epoch_ms": "ms", "epoch_us": "us", "epoch_ns": "ns"}
WRITTEN = {"yyyymmdd": "%Y%m%d", "yyyymm": "%Y%m", "yyyymmddhh": "%Y%m%d%H", "yyyymmddhhmm": "%Y%m%d%H%M"}
WRITTEN |= {"yyyymmddhhmmss": "%Y%m%d%H%M%S"}
UNITS = (*EPOCHS, "excel", *WRITTEN, STEPS)
MEANT = {"epoch_s": "seconds since 1970", "epoch_ms": "milliseconds since 1970", "epoch_us": "microseconds since 1970"}
MEANT |= {"epoch_ns": "nanoseconds since 1970", "excel": "Excel's days", STEPS: "steps of a counter"}
FIRST, LAST = 1900, 2100  # years of which dates may be meant
SECONDS = (10**8, 4_102_444_800)  # 1973 to 2100
DAYS = (30_000, 60_000)  # of Excel: 1982 to 2064
DATED = re.compile(r"date|datum|day|fecha|data|tag|giorno|jour|timestamp|excel|serial", re.IGNORECASE)


def read_numbers(numbers: NDArray[Any], name: str, clock: Clock, notes: list[Note]) -> tuple[pd.Index, Clock]:
    """Numbers as times: in the unit that is given or that all of them fit, or as they are."""
    unit = clock.time_format
    if unit is None:
        unit = find_unit(numbers, name, notes)
    whole = np.issubdtype(numbers.dtype, np.integer)
    if (unit == STEPS or unit in WRITTEN) and not whole:
        raise DataError(f"the time column {name!r} holds fractions: use dates or whole numbers")
    if unit == STEPS:
        if len(numbers) and max(int(numbers.max()), -int(numbers.min())) >= LARGEST:
            raise DataError(f"the time column {name!r} has numbers too large to count with: use dates or small steps")
        return pd.Index(numbers.astype(np.int64)), replace(clock, time_format=STEPS)
    try:
        times = _in_unit(numbers, unit)
    except (ValueError, OverflowError, pd.errors.OutOfBoundsDatetime) as error:
        raise DataError(f"the time column {name!r} is not {unit} throughout: {error}") from error
    return times, replace(clock, time_format=unit)


def find_unit(numbers: NDArray[Any], name: str, notes: list[Note]) -> str:
    """The unit in which all numbers are dates, with a note; else they count steps."""
    if not np.issubdtype(numbers.dtype, np.integer) or not len(numbers):
        return STEPS if not _days_with_hours(numbers) else _noted("excel", name, numbers, notes)
    low, high = int(numbers.min()), int(numbers.max())
    if low >= 10**5 and high < 10**6 and _are_dates(numbers, "%Y%m") and _are_dates(numbers, "%y%m%d"):
        return _noted(_of_six_digits(numbers, name), name, numbers, notes)
    for unit, pattern in WRITTEN.items():
        year = 10 ** (len(unit) - 4)
        if low // year >= FIRST and high // year <= LAST and _are_dates(numbers, pattern):
            return _noted(unit, name, numbers, notes)
    for power, unit in enumerate(EPOCHS):
        scale = 10 ** (3 * power)
        if SECONDS[0] * scale <= low and high <= SECONDS[1] * scale and _are_instants(numbers, scale):
            return _noted(unit, name, numbers, notes)
    if DAYS[0] <= low and high <= DAYS[1] and len(numbers) > 1:
        if DATED.search(name):
            return _noted("excel", name, numbers, notes)
        first = f"{_in_unit(numbers[:1], 'excel')[0]:%Y-%m-%d}"
        raise DataError(
            f"the times in {name!r} can be steps of a counter or days of Excel, from {first} on: pass "
            f"time_format={STEPS!r} or time_format='excel'"
        )
    return STEPS


def _of_six_digits(numbers: NDArray[Any], name: str) -> str:
    """200101 is a month of 2001 or a day of 2020: whichever follow each other regularly."""
    months = regularity(pd.DatetimeIndex(_in_unit(numbers, "yyyymm")), None)
    days = regularity(pd.DatetimeIndex(pd.to_datetime(numbers.astype(str), format="%y%m%d")), None)
    if months <= days:
        raise DataError(
            f"{numbers[0]} in {name!r} can be a month or a day: pass time_format='yyyymm' or time_format='%y%m%d'"
        )
    return "yyyymm"


def could_be_dates(numbers: NDArray[Any], name: str) -> bool:
    """Whether numbers read as dates, in a column that nothing else marks as the time."""
    if len(numbers) < 2 or len(np.unique(numbers[:1000])) < 2:
        return False
    try:
        unit = find_unit(numbers, name, [])
    except DataError:
        return False
    return unit != STEPS and bool(regularity(pd.DatetimeIndex(_in_unit(numbers, unit)), None) == (REGULAR, 1))


def _noted(unit: str, name: str, numbers: NDArray[Any], notes: list[Note]) -> str:
    meant = MEANT.get(unit, unit)
    first = _in_unit(numbers[:1], unit)[0]
    text = f"numbers in {name!r} were read as {meant}, from {first} on: pass time_format={STEPS!r} if they count steps"
    notes.append(Note("time-unit", text, [name]))
    return unit


def _in_unit(numbers: NDArray[Any], unit: str) -> pd.DatetimeIndex:
    if unit in EPOCHS:
        if not np.issubdtype(numbers.dtype, np.integer):
            return pd.DatetimeIndex(pd.to_datetime(numbers, unit=EPOCHS[unit])).round("us")
        times = pd.DatetimeIndex(numbers.astype(np.int64).astype(f"datetime64[{EPOCHS[unit]}]"))
        return times if unit == "epoch_ns" else times.as_unit(USUAL)
    if unit == "excel":
        seconds = np.round(np.asarray(numbers, dtype=np.float64) * 86_400)
        return pd.DatetimeIndex(np.datetime64("1899-12-30", "s") + seconds.astype("timedelta64[s]")).as_unit(USUAL)
    distinct, at = np.unique(numbers, return_inverse=True)
    times = pd.to_datetime([str(number).zfill(len(unit)) for number in distinct.tolist()], format=WRITTEN[unit])
    return pd.DatetimeIndex(times)[at]


def _are_dates(numbers: NDArray[Any], pattern: str) -> bool:
    try:
        pd.to_datetime([str(number) for number in np.unique(numbers).tolist()], format=pattern)
    except (ValueError, OverflowError):
        return False
    return True


def _are_instants(numbers: NDArray[Any], scale: int) -> bool:
    """Any that differ; before September 2001, when counters may be as large, whole minutes apart."""
    steps = np.unique(np.diff(np.sort(numbers)))
    return bool(steps.any()) and (int(numbers.min()) >= 10**9 * scale or bool((steps % (60 * scale) == 0).all()))


def _days_with_hours(numbers: NDArray[Any]) -> bool:
    """Days of Excel with fractions that are whole minutes."""
    if not len(numbers) or not np.isfinite(numbers).all() or numbers.min() < DAYS[0] or numbers.max() > DAYS[1]:
        return False
    minutes = numbers * 1440
    return bool(np.abs(minutes - np.round(minutes)).max() < 1e-3)
