"""Downloads, against a server on this machine: whole, resumed, damaged, refused, stopped."""

import gzip
import hashlib
import io
import socket
import sys

import pytest
from local_server import Server, serving

from olinear.core.errors import DataError, OutputError
from olinear.data.datasets import Dataset, catalogue, fetch, fetching

CONTENT = b"date,a\n" + b"".join(b"2020-01-%02d,%d\n" % (day, day * 7) for day in range(1, 29)) * 50


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(fetching, "CHUNK", 1000)  # several chunks in a small file


@pytest.fixture
def server():
    with serving(CONTENT) as running:
        yield running


def served(server: Server, name: str = "ETTh1.csv", content: bytes = CONTENT) -> Dataset:
    """ETTh1 with the content and address of a local server."""
    facts = {"address": server.address(name), "sha256": hashlib.sha256(content).hexdigest()}
    return catalogue()["ETTh1"].model_copy(update=facts)


def names(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_whole_file(server, tmp_path):
    """Into a folder that is made for it; nothing else is left there."""
    folder = tmp_path / "new" / "cache"
    assert fetch(served(server), folder) == folder / "ETTh1.csv"
    assert (folder / "ETTh1.csv").read_bytes() == CONTENT
    assert names(folder) == ["ETTh1.csv"]
    assert server.asked == [None]


def test_a_server_that_does_not_tell_the_length(server, tmp_path):
    server.tells_length = False
    assert fetch(served(server), tmp_path).read_bytes() == CONTENT


def test_what_is_there_is_not_fetched_again(server, tmp_path):
    dataset = served(server)
    assert fetch(dataset, tmp_path) == fetch(dataset, tmp_path)
    assert len(server.asked) == 1


def test_a_file_of_the_user_is_never_overwritten(server, tmp_path):
    (tmp_path / "ETTh1.csv").write_text("mine")
    with pytest.raises(DataError, match=r"there already, and not as expected .*move it away"):
        fetch(served(server), tmp_path)
    assert (tmp_path / "ETTh1.csv").read_text() == "mine"
    assert server.asked == []


# Resuming


def test_a_part_is_gone_on_with(server, tmp_path):
    (tmp_path / "ETTh1.csv.part").write_bytes(CONTENT[:5000])
    assert fetch(served(server), tmp_path).read_bytes() == CONTENT
    assert server.asked == ["bytes=5000-"]
    assert names(tmp_path) == ["ETTh1.csv"]


def test_a_server_without_ranges_starts_anew(server, tmp_path):
    server.ranges = False
    (tmp_path / "ETTh1.csv.part").write_bytes(b"x" * 5000)
    assert fetch(served(server), tmp_path).read_bytes() == CONTENT
    assert server.asked == ["bytes=5000-"]


def test_a_server_with_wrong_ranges_starts_anew(server, tmp_path):
    """Appending bytes from elsewhere would spoil the file."""
    server.wrong_span = True
    (tmp_path / "ETTh1.csv.part").write_bytes(CONTENT[:5000])
    assert fetch(served(server), tmp_path).read_bytes() == CONTENT
    assert server.asked == ["bytes=5000-", None]


def test_a_part_that_is_whole_is_only_checked(server, tmp_path):
    (tmp_path / "ETTh1.csv.part").write_bytes(CONTENT)
    assert fetch(served(server), tmp_path).read_bytes() == CONTENT
    assert server.asked == [f"bytes={len(CONTENT)}-"]


def test_a_part_that_is_too_long_starts_anew(server, tmp_path):
    (tmp_path / "ETTh1.csv.part").write_bytes(CONTENT + b"more")
    assert fetch(served(server), tmp_path).read_bytes() == CONTENT
    assert server.asked == [f"bytes={len(CONTENT) + 4}-", None]


def test_an_empty_part_starts_anew(server, tmp_path):
    (tmp_path / "ETTh1.csv.part").touch()
    assert fetch(served(server), tmp_path).read_bytes() == CONTENT
    assert server.asked == [None]


def test_ctrl_c_keeps_what_has_come(server, tmp_path, monkeypatch):
    def stop(_, done, total):
        assert total == len(CONTENT)
        if done >= 3000:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(fetching._Bar, "show", stop)
        with pytest.raises(KeyboardInterrupt):
            fetch(served(server), tmp_path)
    assert names(tmp_path) == ["ETTh1.csv.part"]
    have = (tmp_path / "ETTh1.csv.part").stat().st_size
    assert 3000 <= have < len(CONTENT)
    assert fetch(served(server), tmp_path).read_bytes() == CONTENT
    assert server.asked[1:] == [f"bytes={have}-"]


def test_a_connection_that_ends_early(server, tmp_path):
    server.lost = 700
    with pytest.raises(DataError, match=f"ended after {len(CONTENT) - 700} of {len(CONTENT)} bytes.*run it again"):
        fetch(served(server), tmp_path)
    server.lost = 0
    assert fetch(served(server), tmp_path).read_bytes() == CONTENT
    assert server.asked == [None, f"bytes={len(CONTENT) - 700}-"]


# What is wrong is told and not kept


def test_a_wrong_checksum(server, tmp_path):
    other = hashlib.sha256(CONTENT + b"changed").hexdigest()
    found = hashlib.sha256(CONTENT).hexdigest()
    with pytest.raises(DataError, match=rf"sha256 {found}, expected {other}: it was removed.*put ETTh1\.csv into"):
        fetch(served(server, content=CONTENT + b"changed"), tmp_path)
    assert names(tmp_path) == []


def test_a_part_of_another_file(server, tmp_path):
    """The server's file has changed since the part was begun: once refused, the next call has it."""
    (tmp_path / "ETTh1.csv.part").write_bytes(b"y" * 5000)
    with pytest.raises(DataError, match="fetch it again"):
        fetch(served(server), tmp_path)
    assert fetch(served(server), tmp_path).read_bytes() == CONTENT


def test_a_packed_file_is_unpacked(tmp_path):
    """The checksum is that of the file itself; the packed part can be resumed too."""
    packed = gzip.compress(CONTENT, mtime=0)
    with serving(packed) as server:
        (tmp_path / "ETTh1.csv.part").write_bytes(packed[:50])
        assert fetch(served(server, "ETTh1.csv.gz"), tmp_path).read_bytes() == CONTENT
        assert server.asked == ["bytes=50-"]
    assert names(tmp_path) == ["ETTh1.csv"]


@pytest.mark.parametrize("packed", [CONTENT, gzip.compress(CONTENT, mtime=0)[:-20], gzip.compress(b"other", mtime=0)])
def test_a_packed_file_that_is_damaged(tmp_path, packed):
    with serving(packed) as server, pytest.raises(DataError, match=r"a damaged \.gz file|sha256"):
        fetch(served(server, "ETTh1.csv.gz"), tmp_path)
    assert names(tmp_path) == []


# No way there


def test_not_found(server, tmp_path):
    server.status = 404
    with pytest.raises(DataError, match=r"ETTh1\.csv answered 404 Not Found: try again later, or put ETTh1\.csv into"):
        fetch(served(server), tmp_path)
    assert names(tmp_path) == []


def test_an_error_in_the_middle_keeps_the_part(server, tmp_path):
    server.status = 503
    (tmp_path / "ETTh1.csv.part").write_bytes(CONTENT[:5000])
    with pytest.raises(DataError, match="answered 503"):
        fetch(served(server), tmp_path)
    assert (tmp_path / "ETTh1.csv.part").read_bytes() == CONTENT[:5000]


def test_nobody_listens(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: refused for sure
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/ETTh1.csv"
        dataset = catalogue()["ETTh1"].model_copy(update={"address": address})
        with pytest.raises(DataError, match=r"could not be fetched \(.*efused.*\): check the network"):
            fetch(dataset, tmp_path)


def test_a_server_that_says_nothing(server, tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "TIMEOUT", 0.1)
    server.silent.set()
    with pytest.raises(DataError, match=r"could not be fetched \(timed out\)"):
        fetch(served(server), tmp_path)


def test_a_dataset_without_an_address(tmp_path):
    with pytest.raises(DataError, match=r"ECL has no address .*source unknown: put electricity\.csv into"):
        fetch(catalogue()["ECL"], tmp_path)
    with pytest.raises(DataError, match=r"NASDAQ has no address .*by hand from https://www\.kaggle\.com"):
        fetch(catalogue()["NASDAQ"], tmp_path)


def test_a_folder_that_cannot_be_made(server, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=r"ETTh1\.csv cannot be written: (Not a directory|File exists)"):
        fetch(served(server), tmp_path / "file" / "folder")


def test_a_full_disk(server, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(fetching, "_save", fail)
    with pytest.raises(OutputError, match="No space left"):
        fetch(served(server), tmp_path)


# The bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "wanted", "quiet", "drawn"),
    [
        (Terminal, True, 0.0, True),
        (Terminal, True, 60.0, False),
        (Terminal, False, 0.0, False),
        (io.StringIO, True, 0.0, False),
    ],
    ids=["slow", "quick", "not wanted", "no terminal"],
)
def test_a_bar_on_a_terminal_if_it_takes_long(server, tmp_path, monkeypatch, stream, wanted, quiet, drawn):
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(fetching, "QUIET_SECONDS", quiet)
    shown = stream()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", shown)
        fetch(served(server), tmp_path, progress=wanted)
    assert ("ETTh1.csv" in shown.getvalue()) == drawn
