"""A file is written whole or not at all."""

import os
import threading
import time
from pathlib import Path

import pytest

from olinear.core.errors import OutputError
from olinear.core.runtime import clear_parts, files, open_patiently, replacing


def write(path: Path, text: str) -> None:
    with replacing(path) as part:
        part.write_text(text)


def test_it_takes_the_place_of_the_old_one_at_the_end(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("old")
    with replacing(path) as part:
        part.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def _write_half(path: Path, error: type[BaseException]) -> None:
    with replacing(path) as part:
        part.write_text("half")
        raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failure_leaves_the_old_one_and_nothing_else(tmp_path, error):
    path = tmp_path / "a.csv"
    path.write_text("old")
    with pytest.raises(error):
        _write_half(path, error)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written(tmp_path):
    with pytest.raises(OutputError, match="none/a cannot be written: No such file"):
        _write_half(tmp_path / "none" / "a", ValueError)


def test_a_device_is_written_to_itself():
    with replacing(Path("/dev/null")) as part:
        assert part == Path("/dev/null")
        part.write_text("x")


# Several writers


def test_each_writer_has_a_file_of_its_own(tmp_path):
    """What the later one writes is whole, whatever the earlier one does meanwhile."""
    path = tmp_path / "a.csv"
    with replacing(path) as first:
        first.write_text("first, half of it")
        with replacing(path) as second:
            assert first != second
            second.write_text("second")
        assert path.read_text() == "second"
        first.write_text("first")
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


def test_writers_in_threads_never_fail_and_never_mix(tmp_path):
    path, texts, failures = tmp_path / "a.csv", [letter * 50_000 for letter in "abcd"], []
    write(path, texts[0])

    def keep_writing(text: str) -> None:
        try:
            for _ in range(25):
                write(path, text)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=keep_writing, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert path.read_text() in texts
    assert failures == []
    assert list(tmp_path.iterdir()) == [path]


def test_what_killed_writers_left_is_cleared_in_time(tmp_path):
    """At once where nobody else can be writing, else when it has lain for an hour; other files are left alone."""
    path = tmp_path / "a.csv"
    left, others = [tmp_path / f".a.csv.{digit * 12}.part" for digit in "12"], tmp_path / f".b.csv.{'3' * 12}.part"
    for each in (*left, others):
        each.write_text("half")
    os.utime(left[0], (time.time() - 4000,) * 2)
    write(path, "new")
    assert sorted(tmp_path.iterdir()) == sorted([path, left[1], others])
    clear_parts(path)
    assert sorted(tmp_path.iterdir()) == sorted([path, others])


# Links, modes, names


def test_a_link_is_followed(tmp_path):
    (tmp_path / "there").mkdir()
    link, real = tmp_path / "link.csv", tmp_path / "there" / "real.csv"
    link.symlink_to(real)
    for text in ("first", "second"):  # there not yet, and there
        write(link, text)
        assert link.is_symlink()
        assert real.read_text() == text
    assert list((tmp_path / "there").iterdir()) == [real]


def test_a_link_to_itself_is_refused(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "link")
    with pytest.raises(OutputError, match="symbolic links"):
        write(tmp_path / "link", "x")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
def test_the_mode_of_an_existing_file_is_kept(tmp_path, mode):
    """And what a private file is to hold is never to be read by others."""
    path = tmp_path / "a.csv"
    path.write_text("old")
    path.chmod(mode)
    with replacing(path) as part:
        assert not part.stat().st_mode & 0o777 & ~(mode | 0o200)
        part.unlink()  # a writer may put a file of its own in its place
        part.write_text("new")
    assert path.stat().st_mode & 0o777 == mode


def test_a_new_file_has_the_usual_mode_or_that_of_another(tmp_path):
    (tmp_path / "usual").write_text("x")
    write(tmp_path / "new", "x")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode
    (tmp_path / "usual").chmod(0o640)
    with replacing(tmp_path / "like", like=tmp_path / "usual") as part:
        part.write_text("x")
    assert (tmp_path / "like").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("name", ["x" * 255, "é" * 127, "ж" * 115])
def test_a_long_name_can_be_written(tmp_path, name):
    write(tmp_path / name, "new")
    assert [path.name for path in tmp_path.iterdir()] == [name]


# The disk, and systems where readers block


def test_the_data_is_on_disk_before_its_name_and_then_the_name(tmp_path, monkeypatch):
    order = []
    replace, fsync = Path.replace, os.fsync
    monkeypatch.setattr(os, "fsync", lambda number: (order.append("sync"), fsync(number)))
    monkeypatch.setattr(Path, "replace", lambda self, to: (order.append("rename"), replace(self, to))[1])
    write(tmp_path / "a", "x")
    assert order == ["sync", "rename", "sync"]


@pytest.mark.parametrize(("patience", "written"), [(5.0, True), (0.0, False)])
def test_where_readers_block_a_rename_waits_for_them(tmp_path, monkeypatch, patience, written):
    """As on Windows, where a file that is open cannot be replaced."""
    path, tries = tmp_path / "a", []
    path.write_text("old")
    replace = Path.replace

    def blocked(self: Path, target: Path) -> Path:
        tries.append(target)
        if len(tries) < 3:
            raise PermissionError(13, "Access is denied")
        return replace(self, target)

    monkeypatch.setattr(files, "READERS_BLOCK", True)
    monkeypatch.setattr(files, "PATIENCE", patience)
    monkeypatch.setattr(Path, "replace", blocked)
    if written:
        write(path, "new")
    else:
        with pytest.raises(OutputError, match="Access is denied"):
            write(path, "new")
    assert path.read_text() == ("new" if written else "old")
    assert list(tmp_path.iterdir()) == [path]


def test_where_they_do_not_a_denial_is_one_at_once(tmp_path, monkeypatch):
    def denied(self: Path, mode: str) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    monkeypatch.setattr(files, "READERS_BLOCK", False)
    began = time.monotonic()
    with pytest.raises(PermissionError):
        open_patiently(tmp_path / "a")
    assert time.monotonic() - began < 1
