"""How a text file is written: its encoding, what separates its cells, where its header is."""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from olinear.core import ConfigError, DataError, Note

SAMPLE = 2**16  # characters by which the dialect is found
LINES, LEAST_LINES = 200, 20
SEPARATORS = (",", ";", "\t", "|")
SPACES = r"\s+"
WORDS = {r"\t": "\t", "tab": "\t", "space": SPACES, " ": SPACES, "comma": ",", "semicolon": ";", "pipe": "|"}
NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", SPACES: "spaces"}
BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
ASIAN = ("gb18030", "cp932", "euc_kr", "big5")
FOREIGN = re.compile(r"[À-ÿ]{4}|[\x80-\x9f]{2}")  # four letters with accents in a row are of no Western word
TIME_NAMES = {"time", "date", "datetime", "timestamp", "ds", "date_time", "zeit", "datum", "zeitstempel", "zeitpunkt"}
TIME_NAMES |= {"fecha", "data", "heure", "hora", "tempo", "period", "unix", "epoch"}
TIME_NAMES |= {"时间", "日期", "日时", "年月日", "日時", "日付", "時刻", "時間", "날짜", "시간", "일시"}
HEADERLESS = (
    "the first row looks like data ({}), so there is no header and columns are called column_1 and so on: pass "
    "header=True if it is one"
)
NUMBER = re.compile(r"[$€£]?[+\-−(]?[$€£]?\s*\d[\d.,'’_  \u202f ]*([eE][+-]?\d+)?\s*%?[€$£]?\)?-?")
WHEN = re.compile(
    r"\d{1,4}[-/. ] ?(\d{1,2}|[^\W\d]{3,9}\.?)[-/. ] ?\d{1,4}([T ][^;|\t]*)?|\d{1,2}:\d\d(:\d\d[^;|\t]*)?|"
    r"\d{8}T\d{4,6}\S*|\d{4}-?(Q\d|W\d+(-\d)?)|\d{4}年.*"
)
MONTH = re.compile(r"\d{4}[-/]\d\d?|\d\d?[-/]\d{4}")


def is_data(cell: str) -> bool:
    """Whether a cell holds a number or a time, as a name does not."""
    cell = cell.strip()
    return bool(NUMBER.fullmatch(cell) or WHEN.fullmatch(cell) or MONTH.fullmatch(cell))


@dataclass(frozen=True)
class Dialect:
    """Of a text: the separator, where its data begins, the names in its header, if it has one, and its width."""

    sep: str
    begin: int  # the place of the first character of the first row of data
    line: int  # the number of lines above it
    names: list[str] | None
    width: int


def decode(content: bytes, encoding: str | None, name: str, notes: list[Note]) -> str:
    """Bytes as text: as given, by their mark, as UTF-8, or else in the code page of Western Windows."""
    if encoding is not None:
        try:
            return content.decode(encoding).removeprefix("\ufeff")
        except LookupError as error:
            raise ConfigError(f"encoding {encoding!r} is not known: use one such as 'utf-8' or 'cp1252'") from error
        except UnicodeError as error:
            raise DataError(f"{name} is not {encoding}: {error}; leave encoding= out, or pass another") from error
    for mark, kind in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if content.startswith(mark):
            try:
                text = content.decode(kind)
            except UnicodeError as error:
                raise DataError(f"{name} begins as {kind} but is none: {error}") from error
            if kind == "utf-16":
                notes.append(Note("read-encoding", f"{name} was read as UTF-16, by the mark at its beginning"))
            return text
    if BINARY.search(content[:4096]):
        raise DataError(f"{name} is not a CSV file: it holds binary data")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        pass
    text, kind = _in_code_page(content, name)
    shown = next((line for line in text.splitlines() if not line.isascii()), "")[:40]
    notes.append(
        Note(
            "read-encoding", f"{name} is not UTF-8 and was read as {kind} ({shown!r}): pass encoding= if that is wrong"
        )
    )
    return text


def _in_code_page(content: bytes, name: str) -> tuple[str, str]:
    """Text of an older encoding: one of Asia if it then has a usual name of a time, or that of Western Europe."""
    for kind in ASIAN:
        try:
            text = content.decode(kind)
        except UnicodeDecodeError:
            continue
        if any(word in TIME_NAMES and not word.isascii() for word in re.split(r'[,;\t|"\r\n]+', text[:2000])):
            return text, kind
    try:
        text, kind = content.decode("cp1252"), "cp1252"
    except UnicodeDecodeError:
        text, kind = content.decode("latin-1"), "latin-1"
    if FOREIGN.search(text):
        raise DataError(
            f"{name} is not UTF-8, and not of Western Europe either: pass encoding=, such as encoding='cp1251' for "
            "Cyrillic, or 'gbk' for Chinese"
        )
    return text, kind


def find_dialect(
    text: str, name: str, sep: str | None, skip: int | None, header: bool | None
) -> tuple[Dialect, list[Note]]:
    """The dialect of a text as given, and as its first lines have it where it is not."""
    lines = first_lines(text)
    notes: list[Note] = []
    first = min(skip or 0, len(lines))
    declared = re.fullmatch(r"sep=(.)", lines[first].strip()) if first < len(lines) else None  # a line for Excel
    if declared and sep is None:
        sep, first = declared[1], first + 1
    sep = _find_separator(lines[first:], name) if sep is None else WORDS.get(sep, sep)
    if len(sep) != 1 and sep != SPACES:
        raise ConfigError(f"sep must be one character, such as ';', or 'tab' or 'space', found {sep!r}")
    if sep != ",":
        notes.append(Note("read-delimiter", f"cells are separated by {NAMES.get(sep, repr(sep))}"))
    rows = [(row, first + end) for row, end in cut(lines[first:], sep)]
    filled = [number for number, (row, _) in enumerate(rows) if any(row)]
    if not filled:
        raise DataError(f"{name} is empty: expected a header line and rows")
    width = _usual_width([rows[number][0] for number in filled])
    start = filled[0] if skip is not None else _first_of([row for row, _ in rows], filled, width)
    above = sum(number < start for number in filled)
    if above:
        plural = "1 line" if above == 1 else f"{above} lines"
        notes.append(Note("read-preamble", f"{plural} above the table were skipped: pass skip_rows=0 if that is wrong"))
    top = rows[start][0]
    if header is None:
        _refuse_counting(rows[start : start + 2], top)
        header = not _looks_like_data(top)
        if not header:
            notes.append(Note("read-header", HEADERLESS.format(", ".join(top)[:60])))
    end = rows[start][1] if header else rows[start - 1][1] if start else first
    return Dialect(sep, sum(map(len, lines[:end])), end, top if header else None, max(width, len(top))), notes


def first_lines(text: str) -> list[str]:
    """Lines by which the dialect is found, with their ends: enough characters, and enough lines."""
    lines: list[str] = []
    size, whole = 0, io.StringIO(text[: SAMPLE * LINES] if "\n" in text[: SAMPLE * LINES] else text, newline="")
    for line in whole:
        lines.append(line)
        size += len(line)
        if len(lines) >= LINES or (size > SAMPLE and len(lines) >= LEAST_LINES):
            break
    return lines


def cut(lines: Sequence[str], sep: str) -> list[tuple[list[str], int]]:
    """Lines as rows of cells, quotes taken off, each with the number of lines up to its end."""
    if sep == SPACES:
        return [(line.split(), number + 1) for number, line in enumerate(lines)]
    reader, rows = csv.reader(lines, delimiter=sep, skipinitialspace=True), []
    try:
        for row in reader:
            rows.append(([cell.strip() for cell in row], reader.line_num))
    except csv.Error:
        return [([cell.strip() for cell in line.split(sep)], number + 1) for number, line in enumerate(lines)]
    return rows


def _usual_width(rows: Sequence[Sequence[str]]) -> int:
    """The number of cells that most rows have; the larger of two that are as frequent."""
    counts = Counter(len(row) for row in rows)
    return max(counts, key=lambda width: (counts[width], width))


def _first_of(rows: Sequence[Sequence[str]], filled: Sequence[int], width: int) -> int:
    """The first row that is as wide as most, or one short of it: the header may lack the name of an index."""
    for number in filled:
        row = rows[number]
        if (len(row) >= max(width - 1, 2) and not row[0].startswith("#")) or len(row) >= width:
            full = sum(bool(cell) for cell in row)
            if full >= min(2, width) or len(row) == 1:
                return number
    return filled[0]


def _refuse_counting(first: Sequence[tuple[list[str], int]], top: Sequence[str]) -> None:
    """0, 1, 2 are names of columns that have none, or numbers."""
    counting = len(top) > 1 and list(top) == [str(number) for number in range(len(top))]
    if counting and len(first) > 1 and all(NUMBER.fullmatch(cell) for cell in first[1][0] if cell):
        raise DataError(
            f"the first row, {', '.join(top[:5])}, can be names or numbers: pass header=True or header=False"
        )


def _looks_like_data(row: Sequence[str]) -> bool:
    """A header has no time in it, and some cell that is a name."""
    cells = [cell for cell in row if cell]
    return (bool(cells) and all(map(is_data, cells))) or any(WHEN.fullmatch(cell) for cell in cells[:2])


def _find_separator(lines: Sequence[str], name: str) -> str:
    """The sign that cuts all lines into as many cells, most of which are numbers, times or nothing."""
    scores = {sep: _score([row for row, _ in cut(lines, sep)]) for sep in SEPARATORS}
    best = max(scores.values())
    found = [sep for sep, score in scores.items() if score == best]
    if best[0] <= 0:
        return SPACES if _score([row for row, _ in cut(lines, SPACES)])[0] > 0.5 else ","
    if len(found) > 1:
        ways = " or ".join(f"sep={sep!r}" for sep in found)
        raise DataError(f"{name} can be cut at {' and at '.join(NAMES[sep] for sep in found)} alike: pass {ways}")
    return found[0]


def _score(rows: Sequence[Sequence[str]]) -> tuple[float, int]:
    """How many rows have the usual width, times how many of their cells hold data, and the width."""
    rows = [row for row in rows if any(row)]
    if not rows:
        return 0.0, 0
    width = _usual_width(rows)
    if width < 2:
        return 0.0, 0
    fitting = [row for row in rows if len(row) == width]
    cells = [cell for row in fitting[1:] for cell in row]
    data = sum(not cell or is_data(cell) for cell in cells) / len(cells) if cells else 0.5
    plain = 0.25 + data if fitting else 0.0
    return round(len(fitting) / len(rows) * plain, 3), width
