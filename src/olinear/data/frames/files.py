"""Tables on disk to frames: text as it is written, Parquet, Feather and Excel with their types."""

import io
import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from olinear.core import DataError, MissingDependencyError, Note
from olinear.core.settings import ReadingSettings
from olinear.data.frames.decimals import read_columns
from olinear.data.frames.dialect import Dialect, decode, find_dialect, is_data
from olinear.data.frames.numbers import MARKS, MISSING, given_style
from olinear.data.frames.sources import Source, open_source

NEEDS = {
    "parquet": "Parquet files need pyarrow: pip install 'olinear[parquet]'",
    "feather": "Feather files need pyarrow: pip install 'olinear[parquet]'",
    "excel": "Excel files need openpyxl: pip install 'olinear[excel]'",
}
ENDLESS = ("inf", "infinity")
LONGEST_WHOLE = 18  # digits that surely fit into 64 bits
WHOLE = re.compile(r"-?(0|[1-9]\d*)")


def read_file(path: str, **settings: Any) -> pd.DataFrame:
    """A file as a frame: columns of numbers as numbers, all else as text; `settings` are those of reading."""
    wanted = ReadingSettings(**settings)
    frame, sep, _ = open_table(path, wanted)
    if sep is None:
        return frame
    cells = {name: frame[name].to_numpy() for name in frame}
    given = given_style(wanted.decimal, wanted.thousands, wanted.na or ())
    try:
        numbers, style = read_columns(cells, sep, given, wanted.na or (), None, [])
    except DataError:  # what could be read in two ways stays text
        return frame
    typed = {}
    for name, (values, bad) in numbers.items():
        texts = cells[name]
        if bad.any():
            missing = np.array([text.strip() in style.na for text in texts])
            typed[name] = pd.Series(np.where(missing, None, texts), dtype=object) if missing.any() else texts
        elif all_whole(texts):
            typed[name] = texts.astype(np.int64)
        else:
            typed[name] = values
    return pd.DataFrame(typed, columns=list(frame.columns))


def all_whole(texts: Sequence[str]) -> bool:
    """Whether all cells are whole numbers as they are usually written, none with a zero or a sign in front."""
    return all(WHOLE.fullmatch(text) and len(text) <= LONGEST_WHOLE for text in texts)


def open_table(path: str, settings: ReadingSettings) -> tuple[pd.DataFrame, str | None, list[Note]]:
    """A file as a frame, what separates its cells if it is text (which all cells then are), and notes on both."""
    source = open_source(path)
    notes: list[Note] = []
    if source.kind == "text":
        frame, sep = _open_text(source, settings, notes)
        return frame, sep, notes
    if source.kind == "excel":
        return _open_excel(source, settings, notes), None, notes
    kind, read = ("Parquet", pd.read_parquet) if source.kind == "parquet" else ("Feather", pd.read_feather)
    return _typed(source, kind, read), None, notes


def _typed(source: Source, kind: str, read: Any, **options: Any) -> pd.DataFrame:
    try:
        return read(io.BytesIO(source.content), **options)
    except ImportError as error:
        raise MissingDependencyError(NEEDS[source.kind]) from error
    except Exception as error:  # pyarrow and openpyxl raise kinds of their own
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise DataError(f"{source.name} is not a readable {kind} file: {reason}") from error


def _open_text(source: Source, settings: ReadingSettings, notes: list[Note]) -> tuple[pd.DataFrame, str]:
    if not source.content.strip():
        raise DataError(f"{source.name} is empty: expected a header line and rows")
    text = decode(source.content, settings.encoding, source.name, notes)
    if not text.strip():
        raise DataError(f"{source.name} is empty: expected a header line and rows")
    dialect, found = find_dialect(text, source.name, settings.sep, settings.skip_rows, settings.header)
    notes.extend(found)
    return _parse(text, dialect, source.name, notes), dialect.sep


def _parse(text: str, dialect: Dialect, name: str, notes: list[Note]) -> pd.DataFrame:
    """All cells as text, by pandas' parser; an error names the line of the file."""
    columns, blank = name_columns(dialect.names, dialect.width)
    body = text[dialect.begin :] if dialect.begin else text
    if not body.strip():
        return pd.DataFrame({column: np.array([], dtype=object) for column in columns})
    options: dict[str, Any] = {"sep": dialect.sep, "skipinitialspace": True, "index_col": False, "low_memory": False}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # rows longer than the header
            frame = pd.read_csv(
                io.StringIO(body), header=None, names=range(len(columns)), dtype=object, na_filter=False, **options
            )
    except (pd.errors.ParserWarning, pd.errors.ParserError, pd.errors.EmptyDataError, ValueError) as error:
        reason = re.sub(r"line (\d+)", lambda match: f"line {int(match[1]) + dialect.line}", str(error).strip())
        raise DataError(f"{name} is not a readable CSV file: {reason}") from error
    for at in blank:
        if not frame[at].isin(["", None]).all():
            raise DataError(
                f"{name} is not a readable CSV file: rows have {len(columns)} cells, the header has "
                f"{len(columns) - len(blank)}: correct the header, or pass header=False if there is none"
            )
    frame = _only_rows(frame, dialect.names, notes).drop(columns=blank)
    return frame.set_axis([column for at, column in enumerate(columns) if at not in blank], axis=1)


def _only_rows(frame: pd.DataFrame, header: Sequence[str] | None, notes: list[Note]) -> pd.DataFrame:
    """Without rows that are empty, a repeated header, and units under the header."""
    first = frame[0].to_numpy()
    kept = np.ones(len(frame), dtype=bool)
    suspects = np.flatnonzero(first == "")
    kept[suspects] = (frame.iloc[suspects] != "").any(axis=1).to_numpy()
    if header is not None:
        again = np.flatnonzero(first == header[0])
        again = again[[frame.iloc[row, : len(header)].str.strip().tolist() == list(header) for row in again]]
        kept[again] = False
        if len(again):
            notes.append(
                Note("rows-left-out", f"the header is repeated in {len(again)} of the rows, which were left out")
            )
        if len(frame) > 1 and _has_units(frame.iloc[0]) and any(map(is_data, frame.iloc[1])):
            kept[0] = False
            units = ", ".join(cell for cell in frame.iloc[0] if cell)[:60]
            notes.append(Note("rows-left-out", f"the row under the header ({units}) has units and was left out"))
    return frame if kept.all() else frame[kept].reset_index(drop=True)


def _has_units(cells: "pd.Series[Any]") -> bool:
    """Whether a row has words, and neither numbers nor times."""
    words = [cell.strip() for cell in cells]
    words = [word for word in words if word not in MISSING | MARKS and word.lower().lstrip("+-") not in ENDLESS]
    return bool(words) and not any(map(is_data, words))


def name_columns(header: Sequence[str] | None, width: int) -> tuple[list[str], list[int]]:
    """A name for each column, and those that the header does not reach, which must be empty.

    A column without a name, as an index is written, gets that of its place.
    """
    if header is None:
        return [f"column_{number + 1}" for number in range(width)], []
    names = [name.lstrip("#").strip() if at == 0 else name for at, name in enumerate(header)]
    names = [name or f"Unnamed: {at}" for at, name in enumerate(names)]
    blank = list(range(len(names), width))
    return [*names, *(f"Unnamed: {at}" for at in blank)], blank


def _open_excel(source: Source, settings: ReadingSettings, notes: list[Note]) -> pd.DataFrame:
    """The first sheet, whose header is found as that of a text file is."""
    sheets = _typed(source, "Excel", pd.read_excel, sheet_name=None, header=None, dtype=object, engine="openpyxl")
    sheets = {name: sheet.dropna(how="all") for name, sheet in sheets.items()}
    filled = [name for name, sheet in sheets.items() if len(sheet)]
    if not filled:
        raise DataError(f"{source.name} is empty: expected a header line and rows")
    if len(filled) > 1:
        others = ", ".join(map(repr, filled[1:4]))
        notes.append(Note("read-sheet", f"the sheet {filled[0]!r} was read, and not {others}", filled[1:]))
    sheet = sheets[filled[0]].loc[settings.skip_rows or 0 :].dropna(how="all", axis=1)
    widths = sheet.notna().sum(axis=1).to_numpy()
    first = 0 if settings.skip_rows is not None else int((widths >= min(2, widths.max())).argmax())
    if first:
        notes.append(
            Note("read-preamble", f"{first} rows above the table were skipped: pass skip_rows=0 if that is wrong")
        )
    top = ["" if pd.isna(cell) else str(cell).strip() for cell in sheet.iloc[first]]
    header = settings.header
    if header is None:
        header = not all(is_data(cell) for cell in top if cell)
    names, _ = name_columns(top if header else None, len(top))
    body = sheet.iloc[first + header :].set_axis(names, axis=1).reset_index(drop=True)
    if settings.na or body.map(lambda cell: isinstance(cell, str)).to_numpy().any():
        words = MISSING | set(settings.na or ())
        body = body.map(lambda cell: None if isinstance(cell, str) and cell.strip() in words else cell)
    return body.infer_objects()
