"""A table written piece by piece, for what does not fit in memory: CSV and Parquet."""

import gzip
import io
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

import pandas as pd

from olinear.core import MissingDependencyError, OutputError
from olinear.core.runtime import replacing
from olinear.data.frames.files import NEEDS

Add = Callable[[pd.DataFrame], None]
PARQUET = (".parquet", ".pq")
IN_PIECES = (".csv", ".csv.gz", *PARQUET)


def check_streamable(path: str) -> None:
    """Refuse an output that can only be written whole."""
    if path != "-" and not Path(path).name.lower().endswith(IN_PIECES):
        raise OutputError(f"{path} cannot be written piece by piece: name a file that ends in {', '.join(IN_PIECES)}")


@contextmanager
def open_stream(path: str) -> Iterator[Add]:
    """A function that takes the next rows of a table, with the same columns each time; `-` prints CSV.

    The file takes its place at the end, whole or not at all.
    """
    check_streamable(path)
    if path == "-":
        yield _csv(sys.stdout)
        return
    with replacing(Path(path)) as part, ExitStack() as open_files:
        name = path.lower()
        if name.endswith(PARQUET):
            yield _parquet(part, open_files)
        elif name.endswith(".gz"):
            packed = open_files.enter_context(open_gzip(part, Path(path)))
            yield _csv(open_files.enter_context(io.TextIOWrapper(packed, encoding="utf-8", newline="")))
        else:
            yield _csv(open_files.enter_context(part.open("w", encoding="utf-8", newline="")))


@contextmanager
def open_gzip(part: Path, target: Path) -> Iterator[gzip.GzipFile]:
    """A packed file that bears the name of its target within: some programs unpack to that one."""
    with part.open("wb") as raw, gzip.GzipFile(target.stem, "wb", fileobj=raw) as packed:
        yield packed


def _csv(file: IO[str]) -> Add:
    started = False

    def add(frame: pd.DataFrame) -> None:
        nonlocal started
        frame.to_csv(file, index=False, header=not started)
        started = True

    return add


def _parquet(part: Path, open_files: ExitStack) -> Add:
    try:
        import pyarrow as pa  # type: ignore[import-untyped]
        from pyarrow import parquet
    except ImportError as error:
        raise MissingDependencyError(NEEDS["parquet"]) from error
    writer: Any = None

    def add(frame: pd.DataFrame) -> None:
        nonlocal writer
        if writer is None:
            table = pa.Table.from_pandas(frame, preserve_index=False)
            writer = open_files.enter_context(parquet.ParquetWriter(part, table.schema))
        else:
            table = pa.Table.from_pandas(frame, schema=writer.schema, preserve_index=False)
        writer.write_table(table)

    return add
