"""Files in and out: every usual CSV, Parquet, pipes; one readable line where it fails; nothing half written."""

import gzip
import io
import os
import stat
import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from olinear.errors import DataError, MissingDependencyError, OLinearError, OutputError
from olinear.frames import check_writable, read_file, read_panel, write_file

TIMES = pd.date_range("2024-01-01", periods=3)
TABLE = pd.DataFrame({"time": TIMES.strftime("%Y-%m-%d"), "a": [1.5, np.nan, 3.0], "b": [10, 20, 30]})
TEXT = "time,a,b\n2024-01-01,1.5,10\n2024-01-02,,20\n2024-01-03,3.0,30\n"
ENDINGS = ["csv", "parquet", "pq", "CSV", "Parquet"]


def saved(folder: Path, content: bytes | str, name: str = "data.csv") -> str:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def refused(path: str) -> str:
    """The message with which a file is refused: one line that names it."""
    with pytest.raises(DataError) as caught:
        read_file(path)
    message = str(caught.value)
    assert path in message
    assert "\n" not in message
    return message


# --- read


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", ", "])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_csv_of_any_usual_separator(tmp_path, separator, line_end):
    text = TEXT.replace(",", separator).replace("\n", line_end)
    pd.testing.assert_frame_equal(read_file(saved(tmp_path, text)), TABLE)


def test_a_gzip_is_known_by_its_content(tmp_path):
    packed = gzip.compress(TEXT.encode(), mtime=0)
    pd.testing.assert_frame_equal(read_file(saved(tmp_path, packed, "data.csv.gz")), TABLE)
    pd.testing.assert_frame_equal(read_file(saved(tmp_path, packed, "data.csv")), TABLE)


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path):
    """Excel writes one: the column would be called \\ufefftime."""
    pd.testing.assert_frame_equal(read_file(saved(tmp_path, TEXT.encode("utf-8-sig"))), TABLE)


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_names_beyond_ascii(tmp_path, encoding):
    content = TEXT.replace("a", "Größe").encode(encoding)
    assert list(read_file(saved(tmp_path, content)).columns) == ["time", "Größe", "b"]


@pytest.mark.parametrize("separator", [",", ";"])
def test_blank_lines_above_the_header_do_not_matter(tmp_path, separator):
    text = "\n\n" + TEXT.replace(",", separator)
    pd.testing.assert_frame_equal(read_file(saved(tmp_path, text)), TABLE)


@pytest.mark.parametrize("name", ["data.parquet", "data.pq", "data.PARQUET"])
def test_parquet_by_its_ending(tmp_path, name):
    TABLE.to_parquet(tmp_path / name)
    pd.testing.assert_frame_equal(read_file(str(tmp_path / name)), TABLE)


def test_an_index_of_times_in_parquet_is_read_as_the_time(tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0]}, index=TIMES.rename("when"))
    frame.to_parquet(tmp_path / "data.parquet")
    assert read_panel(read_file(str(tmp_path / "data.parquet"))).times.equals(TIMES)


class Pipe:
    def __init__(self, content: bytes):
        self.buffer = io.BytesIO(content)


@pytest.mark.parametrize("content", [TEXT.encode(), gzip.compress(TEXT.encode(), mtime=0)])
def test_a_dash_reads_standard_input(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", Pipe(content))
    pd.testing.assert_frame_equal(read_file("-"), TABLE)


def test_an_empty_pipe_is_called_by_its_name(monkeypatch):
    monkeypatch.setattr(sys, "stdin", Pipe(b""))
    with pytest.raises(DataError, match="standard input is empty: expected a header line and rows"):
        read_file("-")


def test_a_late_text_cell_in_a_large_file_is_no_warning(tmp_path):
    """pandas guesses types by blocks of a million cells and warns where they differ: a user cannot act on that."""
    frame = read_file(saved(tmp_path, "time,a\n" + "1,2\n" * 600_000 + "1,oops\n"))
    assert frame["a"].iloc[-1] == "oops"


# --- refused


@pytest.mark.parametrize("name", ["none.csv", "none.parquet", "folder/none.csv"])
def test_a_missing_file(tmp_path, name):
    assert "there is no file" in refused(str(tmp_path / name))


@pytest.mark.parametrize("name", ["folder", "folder.csv", "folder.parquet"])
def test_a_folder(tmp_path, name):
    (tmp_path / name).mkdir()
    assert "is a folder" in refused(str(tmp_path / name))


def test_a_name_longer_than_the_system_allows(tmp_path):
    refused(str(tmp_path / ("x" * 300 + ".csv")))


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    def deny(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    path = saved(tmp_path, TEXT)
    monkeypatch.setattr(Path, "read_bytes", deny)
    assert refused(path).endswith("cannot be read: Permission denied")


@pytest.mark.parametrize("content", ["", " \n\n\t \r\n", "\ufeff", gzip.compress(b"", mtime=0)])
def test_an_empty_file(tmp_path, content):
    refused(saved(tmp_path, content))


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "time,a\n2024,1\n".encode("utf-16")])
def test_binary_content(tmp_path, content):
    assert "binary data" in refused(saved(tmp_path, content))


def test_parquet_under_the_ending_of_csv_names_the_right_ending(tmp_path):
    TABLE.to_parquet(tmp_path / "data.csv")
    assert "give it the ending .parquet" in refused(str(tmp_path / "data.csv"))


@pytest.mark.parametrize("content", [TEXT, "", b"PAR1", b"PAR1" + b"\x00" * 40 + b"PAR1"])
def test_what_is_no_parquet(tmp_path, content):
    assert "is not a readable Parquet file" in refused(saved(tmp_path, content, "data.parquet"))


@pytest.mark.parametrize("rows", ["1,2\n3,4,5\n", '1,"2\n3,4\n'])
def test_a_ragged_csv_names_the_line(tmp_path, rows):
    assert "is not a readable CSV file" in refused(saved(tmp_path, "time,a\n" + rows))


def test_rows_that_are_all_longer_than_the_header_are_not_shifted(tmp_path):
    """pandas would take the first field of each for an index, and the second for the time."""
    assert "is not a readable CSV file" in refused(saved(tmp_path, "time,a\n2020,1,7\n2021,2,8\n2022,3,9\n"))


def test_a_separator_at_the_end_of_each_row_shifts_nothing(tmp_path):
    frame = read_file(saved(tmp_path, "time,a\n2020,1,\n2021,2,\n2022,3,\n"))
    assert frame["time"].tolist() == [2020, 2021, 2022]
    assert frame["a"].tolist() == [1, 2, 3]


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_a_damaged_gzip(tmp_path_factory, data):
    """Cut short or with a byte turned over: refused, unless nothing was lost."""
    whole = TEXT + TEXT.split("\n", 1)[1] * 20
    packed = bytearray(gzip.compress(whole.encode(), mtime=0))
    at = data.draw(st.integers(10, len(packed) - 1))
    if data.draw(st.booleans()):
        del packed[at:]
    else:
        packed[at] ^= data.draw(st.integers(1, 255))
    path = saved(tmp_path_factory.getbasetemp(), bytes(packed), "damaged.csv.gz")
    try:
        frame = read_file(path)
    except DataError:
        assert "damaged gzip" in refused(path)
    else:
        assert frame.to_csv(index=False) == whole


@pytest.mark.parametrize("act", [read_file, lambda path: write_file(TABLE, path)], ids=["read", "written"])
def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch, act):
    TABLE.to_parquet(tmp_path / "data.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "fastparquet", None)
    with pytest.raises(MissingDependencyError, match=r"need pyarrow: pip install 'olinear\[parquet\]'"):
        act(str(tmp_path / "data.parquet"))
    assert names(tmp_path) == ["data.parquet"]


def test_the_extra_that_is_named_exists():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = project["dependencies"] + project["optional-dependencies"].get("parquet", [])
    assert any(line.startswith("pyarrow") for line in wanted)


# --- any bytes at all

starts = st.sampled_from([b"", b"time,a\n", b"\xef\xbb\xbf", b"PAR1", b"\x1f\x8b\x08\x00"])
odd = st.sampled_from([b"2024-01-01", b"1", b"-2.5", b"", b"nan", b"inf", b'"', b"a", b"\xe9", b"9999999999999999"])


@st.composite
def tables(draw: st.DrawFn) -> bytes:
    """A CSV with some cells spoilt or left out."""
    names = draw(st.sampled_from([[b"time", b"a"], [b"date", b"a", b"b"], [b"unique_id", b"ds", b"y"]]))
    lines = [list(names)]
    for day in range(1, draw(st.integers(1, 6)) + 1):
        lines.append(
            [b"2024-01-0%d" % day if name in (b"time", b"date", b"ds") else b"%d" % (day // 4) for name in names]
        )
    for _ in range(draw(st.integers(0, 2))):
        row = draw(st.sampled_from(lines[1:]))
        row[draw(st.integers(0, len(names) - 1)) :] = draw(st.lists(odd, max_size=2))
    return b"\n".join(map(draw(st.sampled_from([b",", b";", b"\t"])).join, lines))


@settings(deadline=None, max_examples=150)
@given(tables() | st.tuples(starts, st.binary(max_size=200)).map(b"".join), st.sampled_from(["csv", "csv", "parquet"]))
def test_any_bytes_are_read_or_refused_as_an_error_of_olinear(tmp_path_factory, content, ending):
    """Whatever file a user names, no other library's error comes out, and nothing unsound gets through."""
    folder = tmp_path_factory.getbasetemp()
    try:
        read = read_panel(read_file(saved(folder, content, f"data.{ending}")))
    except OLinearError:
        return
    assert read.times.is_monotonic_increasing
    assert read.times.is_unique
    assert not np.isinf(read.values).any()


# --- written


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


@settings(deadline=None, max_examples=40)
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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="POSIX")
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
