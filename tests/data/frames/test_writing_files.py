"""Files out: CSV and Parquet whole or not there, and every output tried before the work."""

import os
import stat
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from file_parts import ENDINGS, TABLE, TEXT, TIMES, names, saved
from hypothesis import given, settings
from hypothesis import strategies as st

from olinear.core.errors import MissingDependencyError, OutputError
from olinear.data.frames import check_writable, open_stream, read_file, read_panel, write_file


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("zone", [None, "Europe/Berlin", "America/New_York"])
def test_what_is_written_reads_back(tmp_path, ending, zone):
    path = str(tmp_path / f"out.{ending}")
    frame = TABLE.assign(time=TIMES.tz_localize(zone))
    write_file(frame, path)
    read, again = read_panel(frame), read_panel(read_file(path))
    np.testing.assert_array_equal(again.values, read.values)
    assert list(again.times) == list(read.times)
    assert again.series == read.series
    assert names(tmp_path) == [f"out.{ending}"]


@settings(max_examples=40)
@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=5), st.sampled_from(["out.csv", "out.parquet"]))
def test_numbers_are_written_in_full(tmp_path_factory, numbers, name):
    path = str(tmp_path_factory.getbasetemp() / name)
    write_file(pd.DataFrame({"a": numbers}), path)
    np.testing.assert_array_equal(read_file(path)["a"].to_numpy(), numbers)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_an_index_of_times_is_written_too(tmp_path, ending):
    """Forecasts for a frame with its times as index have them there: a file without them is worthless."""
    path = str(tmp_path / f"out.{ending}")
    write_file(pd.DataFrame({"a": [1.0, 2.0, 3.0]}, index=TIMES.rename("when")), path)
    again = read_file(path)
    assert list(again.columns) == ["when", "a"]
    assert read_panel(again).times.equals(TIMES)


def test_the_ending_gz_is_written_as_gzip(tmp_path):
    """Other programs go by the ending."""
    path = str(tmp_path / "out.csv.gz")
    write_file(TABLE, path)
    pd.testing.assert_frame_equal(pd.read_csv(path), TABLE)


def test_a_packed_file_is_called_within_as_it_unpacks(tmp_path):
    """Some programs unpack to the name within, which was that of the hidden temporary file."""
    whole, pieces = tmp_path / "out.csv.gz", tmp_path / "pieces.csv.gz"
    write_file(TABLE, str(whole))
    with open_stream(str(pieces)) as add:
        add(TABLE)
    for path in (whole, pieces):
        assert path.read_bytes()[10:].startswith(path.stem.encode() + b"\0")
        pd.testing.assert_frame_equal(pd.read_csv(path), TABLE)


def test_a_dash_prints_csv(capsys):
    write_file(TABLE, "-")
    assert capsys.readouterr().out == TEXT


def test_a_file_is_replaced_as_a_whole(tmp_path):
    """Who reads the old one goes on reading it; the new one is readable by others."""
    path = Path(saved(tmp_path, "old"))
    with path.open(encoding="utf-8") as reader:
        write_file(TABLE, str(path))
        assert reader.read() == "old"
    assert path.read_text(encoding="utf-8") == TEXT
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("fault", "seen"), [(OSError(28, "No space left on device"), OutputError), (KeyboardInterrupt(), KeyboardInterrupt)]
)
def test_a_failure_midway_leaves_the_old_file_and_no_other(tmp_path, monkeypatch, ending, fault, seen):
    def break_down(self: pd.DataFrame, target: Path, **options: object) -> None:
        Path(target).write_text("half a f", encoding="utf-8")
        raise fault

    path = Path(saved(tmp_path, "old", f"out.{ending}"))
    monkeypatch.setattr(pd.DataFrame, f"to_{ending}", break_down)
    with pytest.raises(seen):
        write_file(TABLE, str(path))
    assert path.read_text(encoding="utf-8") == "old"
    assert names(tmp_path) == [path.name]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_or_device_is_written_to_and_not_replaced(tmp_path):
    """`--out /dev/null` by root must not turn the device into a file."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_file(TABLE, str(path))
        assert stat.S_ISFIFO(path.stat().st_mode)
        assert os.read(reader, 1000).decode() == TEXT
    finally:
        os.close(reader)


def unwritable(folder: Path, kind: str) -> str:
    if kind == "a folder":
        (folder / "out.csv").mkdir()
        return str(folder / "out.csv")
    if kind == "a file as parent":
        return saved(folder, "", "parent") + "/out.csv"
    return str(folder / {"no parent": "none/out.csv", "too long": "x" * 300}[kind])


KINDS = ["a folder", "a file as parent", "no parent", "too long"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("act", [check_writable, lambda path: write_file(TABLE, path)], ids=["checked", "written"])
def test_an_output_that_cannot_be_written_is_refused_by_name(tmp_path, kind, act):
    """Checked before any work is done for it; and if not, an error of olinear all the same."""
    path = unwritable(tmp_path, kind)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(OutputError) as caught:
        act(path)
    assert str(caught.value).startswith(f"{path} cannot be written: ")
    assert sorted(tmp_path.rglob("*")) == before


def test_an_output_that_can_be_written_is_left_as_it_is(tmp_path):
    path = saved(tmp_path, "old")
    check_writable(path)
    check_writable(str(tmp_path / "new.csv"))
    check_writable("-")
    assert Path(path).read_text(encoding="utf-8") == "old"
    assert names(tmp_path) == ["data.csv"]


@pytest.mark.parametrize("ending", ["json", "jsonl", "xls", "html", "pickle", "parquet.gz", "2024", "md"])
@pytest.mark.parametrize("act", [lambda path: check_writable(path, table=True), lambda path: write_file(TABLE, path)])
def test_an_ending_that_names_no_table_is_refused_with_those_that_do(tmp_path, ending, act):
    """CSV under such a name would be an error of whoever reads it, far from its cause."""
    with pytest.raises(OutputError, match=r"cannot be written: .*expected .csv, .*.parquet, .feather or .xlsx"):
        act(str(tmp_path / f"out.{ending}"))
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("ending", "read"),
    [
        ("tsv", lambda path: pd.read_csv(path, sep="\t")),
        *[(f"csv.{packed}", pd.read_csv) for packed in ("gz", "zip", "xz", "bz2")],
        ("feather", pd.read_feather),
        ("xlsx", pd.read_excel),
    ],
)
def test_other_programs_read_what_the_ending_says(tmp_path, ending, read):
    path = tmp_path / f"out.{ending}"
    write_file(TABLE, str(path))
    pd.testing.assert_frame_equal(read(path), TABLE)


def test_times_with_a_zone_survive_a_workbook(tmp_path):
    """Excel has no zones."""
    frame = TABLE.assign(time=TIMES.tz_localize("Asia/Kolkata"))
    write_file(frame, str(tmp_path / "out.xlsx"))
    assert list(read_panel(tmp_path / "out.xlsx").times) == list(frame["time"])


@pytest.mark.parametrize("module", ["openpyxl", "pyarrow"])
def test_what_is_not_installed_is_named(tmp_path, monkeypatch, module):
    ending, extra = ("xlsx", "excel") if module == "openpyxl" else ("feather", "parquet")
    write_file(TABLE, str(tmp_path / f"in.{ending}"))
    for name in [name for name in sys.modules if name.split(".")[0] == module]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, module, None)
    for act in (read_file, lambda path: write_file(TABLE, path.replace("in.", "out."))):
        with pytest.raises(MissingDependencyError, match=rf"pip install 'olinear\[{extra}\]'"):
            act(str(tmp_path / f"in.{ending}"))
