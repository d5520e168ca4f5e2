"""A file is written whole or not at all."""

from pathlib import Path

import pytest

from olinear.core.errors import OutputError
from olinear.core.runtime.files import replacing


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
