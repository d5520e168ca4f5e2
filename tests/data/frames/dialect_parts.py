"""120 CSV dialects with the right answer of each, written down before the reader that has to read them.

The cases stand in `dialects/*.toml` and are an exam: whoever changes the reader does not change them. An answer is what
a careful analyst would say the file holds, whatever any program makes of it. Each `[[case]]` has

- `name`, and `why` it exists in the world;
- its bytes: `text` (or `made`, a function below) with line ends `newline`, in `encoding`, with a byte order mark if
  `mark`, packed if `file` ends in .gz, .zip or .xz; `file` is the name it has on disk;
- one of three verdicts: an `answer` (it must be read without options); `ambiguous`, the setting that the refusal must
  name since two readings fit equally; `refused`, the words that the refusal must contain, in any case of letters;
- `given`: answers under settings, which are keyword arguments of `read_panel(path, ...)`.

An answer is a grid (`first`, `step` as a pandas frequency or a whole number, `rows`; or `times` where rows are steps
whatever the clock says, with `step = "rows"`) and `series`: name and values in order, NaN where missing, or the `first`
value and the `step` to the next. A name that begins with ? is free: the file has none. With `wall` only the clock on
the wall counts, with a zone or without; else times without an offset have no zone and times with one are instants.
`zone`: the times must be in that zone. `left_out`: columns that are no series, each the subject of a note (one without
a name is not looked for); `noted`: columns that a note must be about; `notes`: codes that must be among the notes.
"""

import datetime
import gzip
import io
import lzma
import re
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

FOLDER = Path(__file__).parent / "dialects"
# The settings of the reader that a case may be given.
SETTINGS = {
    *("series", "drop", "time", "time_format", "dayfirst", "tz", "utc", "sep", "decimal", "thousands", "encoding"),
    *("na", "skip_rows", "header", "id", "value", "freq"),
}
HOUR = datetime.timedelta(hours=1)


@dataclass(frozen=True)
class Answer:
    """What a file holds, as the module's docstring describes."""

    series: dict[str, Any]
    step: str
    first: str | int = ""
    rows: int = 0
    times: tuple[str, ...] = ()
    wall: bool = False
    zone: str = ""
    left_out: tuple[str, ...] = ()
    noted: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def grid(self, further: int = 0) -> pd.Index:
        """Its times, and as many further ones as are asked for."""
        if self.times:
            return pd.DatetimeIndex(self.times)
        rows = self.rows + further
        if isinstance(self.first, int):
            return pd.RangeIndex(self.first, self.first + rows * int(self.step), int(self.step))
        first = pd.Timestamp(self.first)
        return pd.date_range(first.tz_convert(self.zone) if self.zone else first, freq=self.step, periods=rows)

    def values(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Values `[rows, series]`."""
        rows = len(self.grid())
        columns = [
            cells["first"] + cells["step"] * np.arange(rows) if isinstance(cells, dict) else cells
            for cells in self.series.values()
        ]
        return np.array(columns, dtype=np.float64).T


@dataclass(frozen=True)
class Case:
    """A file and the verdict on it."""

    name: str
    why: str
    content: bytes
    file: str
    answer: Answer | None
    ambiguous: str | None
    refused: tuple[str, ...]
    given: tuple[tuple[dict[str, Any], Answer], ...]

    def __str__(self) -> str:
        return self.name

    def saved(self, folder: Path) -> Path:
        """The file, in a folder."""
        path = folder / self.file
        path.write_bytes(self.content)
        return path

    def readings(self) -> Iterator[tuple[dict[str, Any], Answer]]:
        """Each answer with the settings that it needs, which are none for a file that speaks for itself."""
        if self.answer is not None:
            yield {}, self.answer
        yield from self.given


@cache
def cases() -> tuple[Case, ...]:
    """All cases, file by file."""
    tables = [tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.toml"))]
    return tuple(_case(**entry) for table in tables for entry in table["case"])


def check(answer: Answer, panel: Any) -> None:
    """Compare a panel that was read with the right answer, which was written down before the reader.

    It looks at `panel.series`, `times`, `values`, `frequency` (by the five times that follow, so that QS and 3MS are
    alike) and `notes`.
    """
    names = [found if name.startswith("?") else name for name, found in zip(answer.series, panel.series, strict=False)]
    assert list(panel.series) == names, f"series {panel.series}, not {list(answer.series)}"
    assert len(panel.series) == len(answer.series) == len(set(panel.series)), f"series {panel.series}"
    _check_times(answer, panel.times, answer.grid())
    np.testing.assert_allclose(panel.values, answer.values(), rtol=1e-14, atol=0, equal_nan=True)
    kind = "rows" if answer.step == "rows" else "integer" if isinstance(answer.first, int) else "calendar"
    assert panel.frequency.kind == kind
    if kind != "rows":
        _check_times(answer, panel.frequency.after(panel.times[-1], 5), answer.grid(5)[-5:])
    for name in {*answer.left_out, *answer.noted} - {""}:
        assert any(name in getattr(note, "about", ()) for note in panel.notes), f"no note about {name!r}"
    codes = {getattr(note, "code", "") for note in panel.notes}
    assert codes >= set(answer.notes), f"notes {codes}"


def check_refusal(case: Case, message: str) -> None:
    """A refusal names the setting that decides, as `setting=` or `--setting`, or what stands in the way."""
    if case.ambiguous:
        option = f"--(no-)?{case.ambiguous.replace('_', '-')}"
        assert re.search(rf"\b{case.ambiguous}=|{option}(?![\w-])", message), message
    for word in case.refused:
        assert word.lower() in message.lower(), message


def _check_times(answer: Answer, found: pd.Index, expected: pd.Index) -> None:
    assert len(found) == len(expected), f"{len(found)} times from {found[0]} to {found[-1]}, not {len(expected)}"
    if isinstance(answer.first, int):
        assert list(found) == list(expected)
        return
    assert isinstance(found, pd.DatetimeIndex)
    if answer.wall:
        found, expected = found.tz_localize(None), expected.tz_localize(None)
    assert (found.tz is None) == (expected.tz is None), f"zone {found.tz}, not {expected.tz}"
    wrong = np.flatnonzero(found != expected)
    assert not len(wrong), f"{found[wrong[0]]}, not {expected[wrong[0]]}, in row {wrong[0]}"
    if answer.zone:
        assert str(found.tz) == answer.zone


def _case(name: str, why: str, file: str = "data.csv", **entry: Any) -> Case:
    bytes_of = {key: entry.pop(key) for key in ("text", "made", "newline", "encoding", "mark") if key in entry}
    answer, given = entry.pop("answer", None), entry.pop("given", [])
    case = Case(
        name=name,
        why=why,
        content=_packed(_encoded(**bytes_of), file),
        file=file,
        answer=_answer(**answer) if answer else None,
        ambiguous=entry.pop("ambiguous", None),
        refused=tuple(entry.pop("refused", ())),
        given=tuple((each["settings"], _answer(**each["answer"])) for each in given),
    )
    if entry:
        raise ValueError(f"case {name!r} has unknown keys: {', '.join(entry)}")
    return case


def _answer(**entry: Any) -> Answer:
    return Answer(**{key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()})


def _encoded(text: str = "", made: str = "", newline: str = "\n", encoding: str = "utf-8", mark: bool = False) -> bytes:
    text = (MADE[made]() if made else text).replace("\n", newline)
    return ("\ufeff" * mark + text).encode(encoding)


def _packed(content: bytes, file: str) -> bytes:
    if file.endswith(".gz"):
        return gzip.compress(content, mtime=0)
    if file.endswith(".xz"):
        return lzma.compress(content)
    if file.endswith(".zip"):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(zipfile.ZipInfo("data.csv", (2024, 1, 1, 0, 0, 0)), content)
        return packed.getvalue()
    return content


def berlin_year() -> str:
    """Every hour of 2024 in Berlin with its offset, and the hour's number; summer begins and ends at 01:00 UTC."""
    lines = ["time,load"]
    for row in range(366 * 24):
        utc = datetime.datetime(2023, 12, 31, 23) + row * HOUR
        summer = datetime.datetime(2024, 3, 31, 1) <= utc < datetime.datetime(2024, 10, 27, 1)
        lines.append(f"{utc + (2 if summer else 1) * HOUR}+0{2 if summer else 1}:00,{row}")
    return "\n".join(lines) + "\n"


MADE = {"berlin_year": berlin_year}
