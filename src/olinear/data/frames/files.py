"""Tables on disk: CSV and Parquet, `-` for a pipe, written whole or not at all."""

import io
import sys
import tempfile
import warnings
from pathlib import Path

import pandas as pd

from olinear.core import DataError, MissingDependencyError, OutputError
from olinear.core.runtime import replacing

PARQUET = (".parquet", ".pq")


def read_file(path: str) -> pd.DataFrame:
    """A CSV or Parquet file by its ending; `-` reads CSV from standard input."""
    if path == "-":
        return _read_csv(sys.stdin.buffer.read(), "standard input")
    file = Path(path)
    try:
        if not file.exists():
            raise DataError(f"there is no file {path}")
        if file.is_dir():
            raise DataError(f"{path} is a folder, not a data file")
    except (OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path} cannot be read: {error}") from error
    if file.suffix.lower() in PARQUET:
        return _read_parquet(file)
    try:
        return _read_csv(file.read_bytes(), path)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from error


def _read_csv(content: bytes, name: str) -> pd.DataFrame:
    if content[:4] == b"PAR1":
        raise DataError(f"{name} is a Parquet file by its first bytes: give it the ending .parquet")
    if content[:2] == b"\x1f\x8b":
        import gzip
        import zlib

        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{name} is a damaged gzip file: {error}") from error
    if not content.strip():
        raise DataError(f"{name} is empty: expected a header line and rows")
    if b"\x00" in content[:4096]:
        raise DataError(f"{name} is not a CSV file: it holds binary data")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    header = text.lstrip().split("\n", 1)[0]
    separator = max(",;\t|", key=header.count)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # rows longer than the header
            options = {"skipinitialspace": True, "index_col": False, "low_memory": False}
            return pd.read_csv(io.StringIO(text), sep=separator, **options)
    except (pd.errors.ParserWarning, pd.errors.ParserError, pd.errors.EmptyDataError, ValueError) as error:
        raise DataError(f"{name} is not a readable CSV file: {str(error).strip()}") from error


def _read_parquet(file: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(file)
    except ImportError as error:
        raise MissingDependencyError("Parquet files need pyarrow: pip install 'olinear[parquet]'") from error
    except Exception as error:  # pyarrow raises kinds of its own
        raise DataError(f"{file} is not a readable Parquet file: {str(error).splitlines()[0]}") from error


def write_file(frame: pd.DataFrame, path: str) -> None:
    """Write CSV (compressed for .gz) or Parquet by the ending, whole or not at all; `-` prints CSV."""
    if isinstance(frame.index, pd.DatetimeIndex):
        frame = frame.reset_index()
    if path == "-":
        frame.to_csv(sys.stdout, index=False)
        return
    target = Path(path)
    try:
        with replacing(target) as part:
            if target.suffix.lower() in PARQUET:
                frame.to_parquet(part, index=False)
            else:
                frame.to_csv(part, index=False, compression="gzip" if target.suffix == ".gz" else None)
    except ImportError as error:
        raise MissingDependencyError("Parquet files need pyarrow: pip install 'olinear[parquet]'") from error
    except ValueError as error:
        raise OutputError(f"{path} cannot be written: {error}") from error


def check_writable(path: str) -> None:
    """Refuse an output that could not be written, before any work is done for it."""
    target = Path(path)
    if path == "-":
        return
    try:
        if target.is_dir():
            raise OutputError(f"{path} cannot be written: it is a folder")
        target.exists()
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".olinear."):
            pass
    except (OSError, ValueError) as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"{path} cannot be written: {getattr(error, 'strerror', None) or error}") from error
