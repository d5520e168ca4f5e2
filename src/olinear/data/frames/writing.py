"""Tables to disk, in the kind that the ending names, whole or not at all; `-` prints CSV."""

import io
import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

from olinear.core import MissingDependencyError, OutputError
from olinear.core.runtime import replacing
from olinear.data.frames.files import NEEDS
from olinear.data.frames.sources import ENDINGS, KINDS
from olinear.data.frames.streaming import open_gzip

PACKING = {".gz": "gzip", ".zip": "zip", ".xz": "xz", ".bz2": "bz2"}


def write_file(frame: pd.DataFrame, path: str) -> None:
    """Write a table as the ending says: text, packed or not, Parquet, Feather or Excel."""
    if isinstance(frame.index, pd.DatetimeIndex):
        frame = frame.reset_index()
    if path == "-":
        frame.to_csv(sys.stdout, index=False)
        return
    target = Path(path)
    kind, sep, packing = _kind_of(target)
    try:
        with replacing(target) as part:
            if kind == "parquet":
                frame.to_parquet(part, index=False)
            elif kind == "feather":
                frame.to_feather(part)
            elif kind == "excel":
                part.write_bytes(_as_excel(frame))
            elif packing == "gzip":
                with open_gzip(part, target) as packed:
                    frame.to_csv(packed, index=False, sep=sep, mode="wb")
            else:
                options: dict[str, Any] = {"method": packing}
                if packing == "zip":
                    options["archive_name"] = target.stem
                frame.to_csv(part, index=False, sep=sep, compression=options if packing else None)
    except ImportError as error:
        raise MissingDependencyError(NEEDS[kind]) from error
    except ValueError as error:
        raise OutputError(f"{path} cannot be written: {error}") from error


def _kind_of(target: Path) -> tuple[str, str, str | None]:
    """Kind, separator and packing by the ending; none, as of a device, means CSV."""
    endings = [each.lower() for each in target.suffixes[-2:]]
    packing = PACKING[endings.pop()] if endings and endings[-1] in PACKING else None
    last = endings[-1] if endings else ""
    kind = KINDS.get(last)
    if last == "":
        kind = "text"
    if kind is None or (packing and kind != "text") or last == ".xlsm":
        raise OutputError(
            f"{target} cannot be written: no kind of table that can be written has this ending: expected {ENDINGS}"
        )
    return kind, "\t" if last in (".tsv", ".tab") else ",", packing


def _as_excel(frame: pd.DataFrame) -> bytes:
    """A workbook; times with a zone, which Excel has not, as text with their offset."""
    zoned = {name: frame[name].map(pd.Timestamp.isoformat) for name in frame.select_dtypes("datetimetz")}
    content = io.BytesIO()
    frame.assign(**zoned).to_excel(content, index=False, engine="openpyxl")
    return content.getvalue()


def check_writable(path: str, table: bool = False) -> None:
    """Refuse an output that could not be written, or a table of an unknown kind, before any work is done for it."""
    target = Path(path)
    if path == "-":
        return
    try:
        if target.is_dir():
            raise OutputError(f"{path} cannot be written: it is a folder")
        if table:
            _kind_of(target)
        target.exists()
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".olinear."):
            pass
    except (OSError, ValueError) as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"{path} cannot be written: {getattr(error, 'strerror', None) or error}") from error
