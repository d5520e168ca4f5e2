"""Downloads of the datasets that have an address: resumed if they were stopped, checked before they count."""

import gzip
import ssl
import sys
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import TYPE_CHECKING

from olinear.core import DataError, OutputError
from olinear.data.datasets.checking import file_sha256
from olinear.data.datasets.entries import Dataset
from olinear.data.datasets.lookup import how_to_get

if TYPE_CHECKING:
    from rich.progress import Progress

TIMEOUT = 30.0  # seconds without a byte
CHUNK = 2**16
QUIET_SECONDS = 2.0  # a shorter download needs no bar


def fetch(dataset: Dataset, folder: str | Path, progress: bool = True) -> Path:
    """Download a dataset's file into a folder and give its path.

    What has come is kept in `<file>.part`, where a later call goes on. The file gets its name only after its checksum
    was found right. `progress` draws a bar on a terminal if it takes longer than two seconds.
    """
    folder = Path(folder).expanduser()
    if dataset.address is None:
        raise DataError(f"{dataset.name} has no address to fetch it from: {how_to_get(dataset, folder)}")
    target = folder / dataset.files[0]
    part = folder / f"{target.name}.part"
    try:
        if target.exists():
            return _keep(target, dataset)
        folder.mkdir(parents=True, exist_ok=True)
        with _plain_network_errors(dataset.address, target), _Bar(target.name, progress) as bar:
            _download(dataset.address, part, bar)
        _finish(dataset, dataset.address, part, target)
    except OSError as error:
        raise OutputError(f"{target} cannot be written: {error.strerror or error}") from error
    return target


def _keep(target: Path, dataset: Dataset) -> Path:
    """A file that is there already is never overwritten."""
    if file_sha256(target) != dataset.sha256:
        raise DataError(
            f"{target} is there already, and not as expected (`olinear data check {dataset.name}` reports it): "
            "move it away to fetch it again"
        )
    return target


def _download(address: str, part: Path, bar: "_Bar") -> None:
    """Add to the part what it lacks; all anew if the server cannot go on from there."""
    have = part.stat().st_size if part.exists() else 0
    with _open(address, have) as response:
        span = response.headers.get("Content-Range", "")
        if response.status == 416:
            if span == f"bytes */{have}":
                return  # all of it had come
        elif not have or response.status != 206 or span.startswith(f"bytes {have}-"):
            _save(response, part, have if response.status == 206 else 0, bar)
            return
    part.unlink()  # the server holds another file than the one the part was begun with
    _download(address, part, bar)


def _open(address: str, start: int) -> "HTTPResponse | urllib.error.HTTPError":
    """A file from a byte on. That there is nothing from there on (416) is an answer too."""
    headers = {"User-Agent": "olinear"} | ({"Range": f"bytes={start}-"} if start else {})
    try:
        response: HTTPResponse = urllib.request.urlopen(
            urllib.request.Request(address, headers=headers), timeout=TIMEOUT
        )
    except urllib.error.HTTPError as error:
        if start and error.code == 416:
            return error
        raise
    return response


def _save(response: "HTTPResponse | urllib.error.HTTPError", part: Path, have: int, bar: "_Bar") -> None:
    length = response.headers.get("Content-Length")
    total = have + int(length) if length else None
    with part.open("ab" if have else "wb") as file:
        while chunk := response.read(CHUNK):
            file.write(chunk)
            have += len(chunk)
            bar.show(have, total)
    if total is not None and have < total:
        raise HTTPException(f"the connection ended after {have} of {total} bytes")


def _finish(dataset: Dataset, address: str, part: Path, target: Path) -> None:
    """Unpack the part if its address says so, check it, and give it its name."""
    whole = part
    try:
        if address.endswith(".gz"):
            whole = part.with_name(f"{part.name}.unpacked")
            _unpack(part, whole)
        found = file_sha256(whole)
        if found != dataset.sha256:
            raise _spoilt(dataset, target, f"a file with sha256 {found}, expected {dataset.sha256}", part)
        whole.replace(target)
        part.unlink(missing_ok=True)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise _spoilt(dataset, target, f"a damaged .gz file ({error})", part) from error
    finally:
        if whole != part:
            whole.unlink(missing_ok=True)


def _unpack(part: Path, whole: Path) -> None:
    with gzip.open(part) as packed, whole.open("wb") as file:
        while chunk := packed.read(CHUNK):
            file.write(chunk)


def _spoilt(dataset: Dataset, target: Path, what: str, part: Path) -> DataError:
    part.unlink()
    return DataError(
        f"{dataset.address} gave {what}: it was removed; fetch it again, and if that does not help, the address has "
        f"changed: put {target.name} into {target.parent} by hand"
    )


@contextmanager
def _plain_network_errors(address: str, target: Path) -> Iterator[None]:
    """Turn network errors into one-line messages."""
    remedy = f"or put {target.name} into {target.parent} by hand"
    try:
        yield
    except urllib.error.HTTPError as error:
        error.close()
        raise DataError(f"{address} answered {error.code} {error.reason}: try again later, {remedy}") from error
    except (urllib.error.URLError, TimeoutError, ConnectionError, ssl.SSLError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise DataError(
            f"{address} could not be fetched ({reason}): check the network and run it again, what has come is kept; "
            f"{remedy}"
        ) from error


class _Bar:
    """Bytes and time left, on a terminal, once the download has taken a while."""

    def __init__(self, name: str, wanted: bool):
        self.name, self.wanted, self.start = name, wanted, time.monotonic()
        self.bar: Progress | None = None

    def __enter__(self) -> "_Bar":
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def show(self, done: int, total: int | None) -> None:
        if not self.wanted or time.monotonic() - self.start < QUIET_SECONDS:
            return
        if self.bar is None:
            self.bar = _make_bar()
            self.wanted = self.bar is not None
            if self.bar is None:
                return
            self.task = self.bar.add_task(self.name, total=total)
        self.bar.update(self.task, completed=done, total=total)


def _make_bar() -> "Progress | None":
    """A started bar on standard error, or None if that is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(file=sys.stderr)
    if not console.is_terminal:
        return None
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    bar.start()
    return bar
