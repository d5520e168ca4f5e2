"""Records of one kind as a CSV file: a dataclass gives the columns, and its types say what a cell is."""

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

from olinear.core.errors import DataError
from olinear.core.runtime.files import replacing

Record = TypeVar("Record")


def column_names(kind: type[Any]) -> list[str]:
    return [field.name for field in fields(kind)]


def read_records(path: Path, kind: type[Record]) -> list[Record]:
    """The records of a file; a malformed line raises an error that names it."""
    return read_lines(path, column_names(kind), lambda line: kind(**parse_cells(line, kind)))


def write_records(path: Path, records: Iterable[Any], kind: type[Any]) -> None:
    """The file, whole or not at all: also where the machine stops meanwhile."""
    write_lines(path, column_names(kind), (astuple(record) for record in records))


def read_lines(path: Path, required: Sequence[str], parse: Callable[[dict[str, str]], Record]) -> list[Record]:
    """What `parse` makes of each line, given its cells by column; its ValueErrors become one that names the line."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            missing = [name for name in required if name not in (reader.fieldnames or [])]
            if missing:
                raise DataError(f"{path} lacks the columns {', '.join(sorted(missing))}: it is no file of results")
            return [_parse(line, parse, f"{path}, line {reader.line_num}") for line in reader]
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataError(f"{path} is damaged ({error}): correct it, or move it away") from error


def write_lines(path: Path, columns: Sequence[str], lines: Iterable[Iterable[object]]) -> None:
    """A file of cells, whole or not at all; floats with six digits, None as nothing."""
    with replacing(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([_text(value) for value in line] for line in lines)


def parse_cells(line: dict[str, str], kind: type[Any]) -> dict[str, Any]:
    """The cells whose columns are fields of a dataclass, as their types have them."""
    return {name: _value(line[name], hint) for name, hint in get_type_hints(kind).items() if name in line}


def _text(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value)


def _parse(line: dict[str, str], parse: Callable[[dict[str, str]], Record], place: str) -> Record:
    try:
        if None in line or None in line.values():  # so csv marks too many cells, and too few
            raise ValueError("it must have a cell for each column")
        return parse(line)
    except ValueError as error:
        raise DataError(f"{place} is damaged ({error}): correct it, or take the line out") from error


def _value(text: str, hint: Any) -> object:
    """A cell as its field has it: text, a number, or None where that is allowed and nothing is there."""
    kinds = get_args(hint) or (hint,)
    if not text and type(None) in kinds:
        return None
    return kinds[0](text)
