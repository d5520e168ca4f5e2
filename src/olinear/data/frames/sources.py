"""From a path or a pipe to the bytes of a table, unpacked, and the kind of table that they are."""

import bz2
import gzip
import io
import lzma
import sys
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Literal

from olinear.core import DataError

Kind = Literal["text", "parquet", "feather", "excel"]
KINDS: dict[str, Kind] = {
    **{".csv": "text", ".tsv": "text", ".tab": "text", ".txt": "text"},
    **{".parquet": "parquet", ".pq": "parquet", ".feather": "feather", ".arrow": "feather", ".xlsx": "excel"},
    ".xlsm": "excel",
}
PACKED = (".gz", ".zip", ".xz", ".bz2")
OTHERS = {".json", ".jsonl", ".ndjson", ".xls", ".ods", ".xml", ".html", ".yaml", ".yml"}
OTHERS |= {".h5", ".hdf5", ".sqlite", ".db"}
ENDINGS = ".csv, .tsv, .txt (each also .gz, .zip, .xz), .parquet, .feather or .xlsx"
DAMAGED = (OSError, EOFError, ValueError, RuntimeError, KeyError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
MAGIC: tuple[tuple[bytes, Kind, str], ...] = (
    (b"PAR1", "parquet", ".parquet"),
    (b"ARROW1", "feather", ".feather"),
    (b"FEA1", "feather", ".feather"),
)


@dataclass(frozen=True)
class Source:
    """The bytes of a table, what kind they are, and the name that messages give it."""

    content: bytes
    kind: Kind
    name: str


def open_source(path: str) -> Source:
    """A file by its ending, unpacked by its content; `-` is text from standard input."""
    if path == "-":
        return _unpacked(sys.stdin.buffer.read(), "text", "standard input")
    file = Path(path)
    try:
        if not file.exists():
            raise DataError(f"there is no file {path}")
        if file.is_dir():
            raise DataError(f"{path} is a folder, not a data file")
        kind = kind_of(file)
        if kind is None:
            raise DataError(f"{path} is not a kind of table that can be read: expected {ENDINGS}")
        content = file.read_bytes()
    except (OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    return _unpacked(content, kind, path)


def kind_of(path: PurePath) -> Kind | None:
    """What the ending says, that of a packer aside; what is not known is taken for text, unless it is surely not."""
    endings = [each.lower() for each in path.suffixes]
    while endings and endings[-1] in PACKED:
        endings.pop()
    last = endings[-1] if endings else ""
    return None if last in OTHERS else KINDS.get(last, "text")


def _unpacked(content: bytes, kind: Kind, name: str) -> Source:
    """What packed bytes hold; a table of another kind called text is refused with the ending that it should have."""
    if kind != "text":
        return Source(_unpack(content, name) if not _is_excel(content) else content, kind, name)
    if content.startswith(b"\xd0\xcf\x11\xe0"):
        raise DataError(f"{name} is an Excel file of the kind before 2007: save it as .xlsx, or as CSV")
    if _is_excel(content):
        raise DataError(f"{name} is an Excel file by its content: give it the ending .xlsx")
    content = _unpack(content, name)
    for first, _, ending in MAGIC:
        if content.startswith(first):
            raise DataError(
                f"{name} is a {ending[1:].capitalize()} file by its first bytes: give it the ending {ending}"
            )
    return Source(content, kind, name)


def _is_excel(content: bytes) -> bool:
    if content[:4] != b"PK\x03\x04":
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            return "[Content_Types].xml" in packed.namelist()
    except (zipfile.BadZipFile, OSError, ValueError):
        return False


def _unpack(content: bytes, name: str) -> bytes:
    packers = (
        (b"\x1f\x8b", "gzip", gzip.decompress),
        (b"\xfd7zXZ\x00", "xz", lzma.decompress),
        (b"BZh", "bzip2", bz2.decompress),
        (b"PK\x03\x04", "zip", _only_member),
    )
    for first, kind, unpack in packers:
        if content.startswith(first):
            try:
                return unpack(content)
            except DataError as error:
                raise DataError(f"{name} {error}") from error
            except DAMAGED as error:
                raise DataError(f"{name} is a damaged {kind} file: {error}") from error
    return content


def _only_member(content: bytes) -> bytes:
    """The one file of a zip; folders and what macOS adds do not count."""
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        members = [each for each in packed.namelist() if not each.endswith("/") and not each.startswith("__MACOSX")]
        if len(members) != 1:
            raise DataError(f"is a zip of {len(members)} files: expected one table, found {', '.join(members[:5])}")
        return packed.read(members[0])
