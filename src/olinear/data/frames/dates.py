"""From text to times: dates in any order of day, month and year, clock times, and offsets from UTC."""

import datetime
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from olinear.core import ConfigError, DataError, Note
from olinear.data.frames.clock import REGULAR, Clock, instants_or_wall, regularity

DIGITS = str.maketrans("0123456789", "0" * 10)
_CLOCK = r"00?(:00){1,2}(\.0+)?"
ISO = re.compile(rf"0000([-/.])00?(\1?00?)?([T ]{_CLOCK})?( ?([+-]00(:?00)?|Z))?|0{{8}}T0+")
OFFSET = re.compile(r"(:\d\d(?:[.,]\d+)?|\dT\d[\d.]+)\s*([+-]\d\d(?::?\d\d)?|Z)$")  # never the -2024 of 16-01-2024
NUMERIC = re.compile(r"(\d\d?)([-/. ]) ?(\d\d?)[-/. ] ?(\d{4}|\d\d)\.?")
INTERVAL = re.compile(r"\s+[-–—]\s+|\s+(?:to|bis|until)\s+|(?<=\d)/(?=0000-)|(?<=\d)/(?=\d{4}-\d\d-\d\dT)")
LETTERS = re.compile(r"(?<=\d) ([A-Z]{3,5})$")
NIGHT = re.compile(r"(T| )24:00(:00)?")
WEEK = re.compile(r"(\d{4})-?W(\d\d?)(?:-?([1-7]))?")
MONTH_YEAR = re.compile(r"([^\W\d]{3,9})\.?[-\s/']+(\d\d)")
SPLIT = re.compile(r"(.*?)(?:[T\s,]\s*(\d\d?:.*|\d\d?\s*[aApP]\.?[mM].*|\d\d?h\d\d.*))?", re.DOTALL)
BARE = re.compile(r"\d\d?:\d\d(:\d\d(\.\d+)?)?( ?[aApP]\.?[mM]\.?)?")
TIME = re.compile(r"(\d\d?)[:h](\d\d)(?::(\d\d)(?:[.,](\d+))?)?\s*([aApP])?(?:\.?[mM]\.?)?\s*(.*)")
ZONES = {"": "", "Z": "+00:00", "UTC": "+00:00", "GMT": "+00:00", "CET": "+01:00", "CEST": "+02:00", "h": "", "Uhr": ""}
ORDERS: dict[str, Callable[[int, int, int], tuple[int, int, int]]] = {  # how three numbers are year, month, day
    "dmy": lambda a, b, c: (c, b, a),
    "mdy": lambda a, b, c: (c, a, b),
    "ymd": lambda a, b, c: (a, b, c),
}
WORDS = {"dmy": "day/month/year", "mdy": "month/day/year", "ymd": "year/month/day"}
OPTIONS = {"dmy": "dayfirst=True", "mdy": "dayfirst=False", "ymd": "time_format='%y{0}%m{0}%d'"}
PIVOT = 69  # two digits from here on are of the last century


def parse_text(text: Sequence[str], name: str, clock: Clock, notes: list[Note]) -> tuple[pd.DatetimeIndex, Clock]:
    """Cells as times; an error names the first row that is none, and the options where two readings fit."""
    if ISO.fullmatch(text[0].translate(DIGITS)) and ISO.fullmatch(text[-1].translate(DIGITS)):
        try:
            return _parse_iso(list(text), text, name, clock, notes)
        except DataError:
            pass  # some other cell is of another kind
    shapes = {cell.translate(DIGITS) for cell in text}
    if all(map(BARE.fullmatch, shapes)):
        raise DataError(
            f"the column {name!r} has clock times without a date, such as {text[0]!r}: give them dates, or name "
            "another column with time="
        )
    if all(map(ISO.fullmatch, shapes)):
        return _parse_iso(list(text), text, name, clock, notes)
    cells = _without_ends(text, shapes, name, notes)
    if any("年" in shape for shape in shapes):
        cells = [re.sub("[年月时時点]", "-", re.sub("[日分秒]", " ", cell)).strip(" -") for cell in cells]
    cells, clock = _without_letters(cells, shapes, name, clock)
    iso, clock = _as_iso(cells, text, name, clock, notes)
    late = np.array([NIGHT.search(cell) is not None for cell in iso]) if any("24:00" in cell for cell in text) else None
    if late is None:
        return _parse_iso(iso, text, name, clock, notes)
    times, clock = _parse_iso([NIGHT.sub(r"\g<1>00:00", cell) for cell in iso], text, name, clock, notes)
    return times + pd.to_timedelta(late.astype(np.int64), unit="D"), clock


def _without_ends(text: Sequence[str], shapes: Iterable[str], name: str, notes: list[Note]) -> list[str]:
    """Of intervals their beginnings."""
    if not all(INTERVAL.search(shape) for shape in shapes):
        return list(text)
    notes.append(Note("time-interval", f"{name!r} has intervals, which are dated by their beginning", [name]))
    return [INTERVAL.split(cell, maxsplit=1)[0].strip() for cell in text]


def _without_letters(text: Sequence[str], shapes: Iterable[str], name: str, clock: Clock) -> tuple[list[str], Clock]:
    """Times without the letters of a zone at their end, which several zones share; refused unless it is named."""
    letters = {match[1] for shape in shapes if (match := LETTERS.search(shape)) and match[1] not in ZONES}
    if not letters:
        return list(text), clock
    if clock.target is None and clock.zone is None:
        raise DataError(f"times in {name!r} are in {sorted(letters)[0]}, a name that several zones share: pass tz=")
    if clock.target is None:
        clock = replace(clock, tz=clock.zone)
    return [LETTERS.sub("", cell) for cell in text], clock


def parse_pattern(text: Sequence[str], name: str, pattern: str) -> pd.DatetimeIndex:
    """Cells by a pattern of strptime."""
    series = pd.Series(list(text), dtype=object)
    try:
        return pd.DatetimeIndex(pd.to_datetime(series, format=pattern, utc="%z" in pattern or None))
    except (ValueError, OverflowError, TypeError) as error:
        try:
            bad = pd.to_datetime(series, format=pattern, errors="coerce", utc="%z" in pattern or None).isna()
        except ValueError:  # no pattern at all, whatever the cells are
            bad = series.isna()
        if not bad.any():
            raise ConfigError(f"time_format {pattern!r} is not possible: {error}") from error
    raise _no_time(name, text, bad.to_numpy(), f" by time_format={pattern!r}: correct it, or pass another pattern")


def _parse_iso(
    iso: list[str], text: Sequence[str], name: str, clock: Clock, notes: list[Note]
) -> tuple[pd.DatetimeIndex, Clock]:
    cells = np.array(iso, dtype=object)
    found = [match[2] if match else "" for match in map(OFFSET.search, iso)] if OFFSET.search(iso[0]) else []
    offsets = set(found) or {""}
    if len(offsets) == 1 and "" not in offsets and clock.wall:
        cells, offsets = _without_offsets(iso, found), {""}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            times = pd.DatetimeIndex(pd.to_datetime(cells, format="ISO8601", utc=len(offsets) > 1 or None))
    except (ValueError, OverflowError, TypeError):
        raise _no_time(name, text, _unreadable(iso)) from None
    if times.hasnans:
        raise _no_time(name, text, times.isna())
    if len(offsets) == 1:
        return times, clock
    if "" in offsets:
        row = found.index("")
        raise DataError(f"column {name!r} has no UTC offset in row {row + 1} ({text[row]!r}), others have: add it")
    wall = pd.DatetimeIndex(pd.to_datetime(_without_offsets(iso, found), format="ISO8601"))
    return instants_or_wall(times, wall, name, clock, notes)


def _without_offsets(iso: Sequence[str], offsets: Sequence[str]) -> "np.ndarray[Any, Any]":
    """Cells without the offset that each has at its end."""
    cells = [cell[: len(cell) - len(offset)].rstrip() for cell, offset in zip(iso, offsets, strict=True)]
    return np.array(cells, dtype=object)


def _unreadable(iso: Sequence[str]) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    return pd.to_datetime(pd.Series(iso, dtype=object), errors="coerce", format="ISO8601", utc=True).isna().to_numpy()


def _no_time(
    name: str,
    text: Sequence[str],
    bad: "np.ndarray[tuple[int], np.dtype[np.bool_]]",
    remedy: str = ": correct it, or name the time column with time=",
) -> DataError:
    row = int(bad.argmax())
    return DataError(f"column {name!r} is not a time in row {row + 1} ({text[row][:40]!r}){remedy}")


def _as_iso(
    cells: Sequence[str], text: Sequence[str], name: str, clock: Clock, notes: list[Note]
) -> tuple[list[str], Clock]:
    """Every cell as year-month-day and a clock of 24 hours, each different date and clock time looked at once."""
    parts = [(cell[:at], cell[at + 1 :].strip()) if (at := cell.find(" ")) > 0 else (cell, "") for cell in cells]
    if not all(map(NUMERIC.fullmatch, {date for date, _ in parts})):
        parts = [(match[1].strip(), match[2] or "") for match in map(SPLIT.fullmatch, cells) if match]
    dates = list(dict.fromkeys(date for date, _ in parts))
    rests = {rest: _iso_clock(rest) for rest in {rest for _, rest in parts}}
    numeric = {date: match for date in dates if (match := NUMERIC.fullmatch(date))}
    known = _months_of_years(dates, name, clock, notes) or {
        date: _iso_date(date) for date in dates if date not in numeric
    }
    bad = np.array([known.get(date, "") is None or rests[rest] is None for date, rest in parts])
    if bad.any():
        raise _no_time(name, text, bad)

    def joined(order: str) -> list[str]:
        iso = known | {date: _ordered(match, order) for date, match in numeric.items()}
        return [f"{iso[date]} {rests[rest]}" if rest else f"{iso[date]}" for date, rest in parts]

    if not numeric:
        return joined("dmy"), clock
    order, clock = _find_order(numeric, [date for date, _ in parts], joined, name, clock, notes)
    return joined(order), clock


def _months_of_years(dates: Sequence[str], name: str, clock: Clock, notes: list[Note]) -> dict[str, str | None]:
    """`Jan-24` as a month of 2024 if such months follow each other; it could be a day of January, too."""
    found = {date: match for date in dates if (match := MONTH_YEAR.fullmatch(date))}
    if len(found) < len(dates):
        return {}
    iso = {date: _iso_date(f"1 {match[1]} {full_year(int(match[2]))}") for date, match in found.items()}
    if None not in iso.values():
        times = pd.DatetimeIndex([pd.Timestamp(str(each)) for each in iso.values()])
        if len(times) < 2 or regularity(times, clock.freq) < (REGULAR, 1):
            raise DataError(f"{dates[0]!r} in {name!r} can be a month of a year or a day: pass time_format='%b-%y'")
        notes.append(
            Note("time-dayfirst", f"times such as {dates[0]!r} in {name!r} were read as month and year", [name])
        )
    return iso


def full_year(year: int) -> int:
    """A year of which two digits are written."""
    return year + (1900 if year >= PIVOT else 2000)


def _iso_clock(rest: str) -> str | None:
    """`1:05 PM` as `13:05:00`; None if it is no clock time."""
    if not rest:
        return ""
    match = TIME.fullmatch(rest if ":" in rest or "h" in rest else re.sub(r"^(\d\d?)", r"\1:00", rest))
    if match is None:
        return None
    hour, minute, second = int(match[1]), int(match[2]), int(match[3] or 0)
    if match[5]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if match[5] in "pP" else 0)
    zone = ZONES.get(match[6], match[6] if re.fullmatch(r"[+-]\d\d(:?\d\d)?", match[6]) else None)
    if zone is None or (hour > 23 and (hour, minute, second) != (24, 0, 0)) or minute > 59 or second > 59:
        return None
    return f"{hour:02}:{minute:02}:{second:02}{'.' + match[4] if match[4] else ''}{zone}"


def _iso_date(date: str) -> str | None:
    """A date with the name of its month, or the year first; None if it is none by itself, such as `Monday`."""
    week = WEEK.fullmatch(date)
    if week is not None:
        try:
            return datetime.date.fromisocalendar(int(week[1]), int(week[2]), int(week[3] or 1)).isoformat()
        except ValueError:
            return None
    if not re.search(r"\d{4}", date) and len(re.findall(r"\d+", date)) < 2:
        return None
    month = re.fullmatch(r"(\d\d?)[-/.](\d{4})", date)
    if month is not None:
        return f"{month[2]}-{int(month[1]):02}-01" if 1 <= int(month[1]) <= 12 else None
    if not re.search(r"[^\W\d]", date) and not re.match(r"\d{4}[-/. ]\d", date):
        return None  # numbers, of which pandas would make something
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            time = pd.to_datetime(date)
        except (ValueError, OverflowError, TypeError):
            return None
    return None if time is pd.NaT or time != time.normalize() else str(time.strftime("%Y-%m-%d"))


def _ordered(match: re.Match[str], order: str) -> str | None:
    """The numbers of a date in an order, as year-month-day; None if they are no date then."""
    year, month, day = ORDERS[order](int(match[1]), int(match[3]), int(match[4]))
    if len(match[4]) == 2:
        year = full_year(year)
    try:
        pd.Timestamp(year, month, day)
    except ValueError:
        return None
    return f"{year:04}-{month:02}-{day:02}"


def _find_order(
    dates: Mapping[str, re.Match[str]],
    rows: Sequence[str],
    joined: Callable[[str], list[str]],
    name: str,
    clock: Clock,
    notes: list[Note],
) -> tuple[str, Clock]:
    """The order of day, month and year: given, the only one possible, or the one on whose grid the rows lie."""
    orders = ["dmy", "mdy"]
    if all(len(match[4]) == 2 and len(match[1]) == 2 for match in dates.values()):
        orders.append("ymd")
    possible = [order for order in orders if all(_ordered(match, order) for match in dates.values())]
    wanted = {True: "dmy", False: "mdy", None: None}[clock.dayfirst]
    points = any(match[2] == "." for match in dates.values())
    if wanted is not None and clock.dayfirst_given:
        possible = [order for order in possible if order == wanted]
    if not possible:
        usual = wanted or ("dmy" if points or any(int(match[1]) > 12 for match in dates.values()) else "mdy")
        bad = {date for date, match in dates.items() if _ordered(match, usual) is None}
        error = _no_time(name, rows, np.array([date in bad for date in rows]))
        raise DataError(f"{error} (by {OPTIONS[usual]})") if clock.dayfirst_given else error
    if wanted in possible:
        return str(wanted), clock
    if points and "dmy" in possible:
        order, why = "dmy", "as dates with points are"
    elif len(possible) == 1:
        order, why = possible[0], "the only order that fits all rows"
    else:
        order, why = _by_grid(possible, joined, rows, name, clock)
    if why:
        way = f": pass {OPTIONS['mdy' if order == 'dmy' else 'dmy']} if that is wrong" if len(possible) > 1 else ""
        notes.append(Note("time-dayfirst", f"times in {name!r} were read as {WORDS[order]}, {why}{way}", [name]))
    return order, replace(clock, dayfirst=None if order == "ymd" else order == "dmy")


def _by_grid(
    possible: Iterable[str], joined: Callable[[str], list[str]], rows: Sequence[str], name: str, clock: Clock
) -> tuple[str, str]:
    """The order in which the rows lie on a grid, or follow each other, and in no other; refused if there is none."""
    times = {order: pd.DatetimeIndex(pd.to_datetime(joined(order), format="ISO8601", utc=True)) for order in possible}
    different = [order for order in times if order == "dmy" or not times[order].equals(times.get("dmy"))]
    if len(different) == 1:
        return different[0], ""
    scores = {order: regularity(times[order], clock.freq) for order in different}
    best = [one for one in scores if all(all(map(int.__ge__, scores[one], other)) for other in scores.values())]
    if len(best) == 1:
        return best[0], "the only order in which the rows follow each other regularly"
    row = int((times[different[0]] != times[different[1]]).argmax())
    readings = " or ".join(f"{times[order][row]:%Y-%m-%d}" for order in different)
    ways = " or ".join(OPTIONS[order].format(re.sub(r"\d", "", rows[row])[:1]) for order in different)
    raise DataError(f"the time {rows[row]!r} in {name!r} can be {readings}, and all rows fit each: pass {ways}")
