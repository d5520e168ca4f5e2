"""Files in: every usual CSV, Parquet, pipes; one readable line where it fails."""

import gzip
import io
import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from file_parts import TABLE, TEXT, TIMES, names, saved
from hypothesis import given, settings
from hypothesis import strategies as st

from olinear.core.errors import DataError, MissingDependencyError, OLinearError
from olinear.data.frames import read_file, read_panel, write_file


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


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", b"time,a\n2024,\x00\x01\n"])
def test_binary_content(tmp_path, content):
    assert "binary data" in refused(saved(tmp_path, content))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le"])
def test_the_mark_at_the_beginning_tells_utf16(tmp_path, encoding):
    """Excel writes it as "Unicode text"."""
    mark = "" if encoding == "utf-16" else "\ufeff"
    pd.testing.assert_frame_equal(read_file(saved(tmp_path, (mark + TEXT).encode(encoding))), TABLE)


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


@settings(max_examples=60)
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
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = project["dependencies"] + project["optional-dependencies"].get("parquet", [])
    assert any(line.startswith("pyarrow") for line in wanted)


# --- any bytes at all

marks = [b"\xef\xbb\xbf", b"\xff\xfe", b"PAR1", b"ARROW1", b"\x1f\x8b\x08\x00", b"PK\x03\x04", b"BZh9", b"\xfd7zXZ\x00"]
starts = st.sampled_from([b"", b"time,a\n", *marks])
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


@settings(max_examples=150)
@given(
    tables() | st.tuples(starts, st.binary(max_size=200)).map(b"".join),
    st.sampled_from(["csv", "csv", "parquet", "xlsx"]),
)
def test_any_bytes_are_read_or_refused_as_an_error_of_olinear(tmp_path_factory, content, ending):
    """Whatever file a user names, no other library's error comes out, and nothing unsound gets through."""
    folder = tmp_path_factory.getbasetemp()
    path = saved(folder, content, f"data.{ending}")
    for read_as in (read_panel, lambda file: read_panel(read_file(file))):
        try:
            read = read_as(path)
        except OLinearError:
            continue
        assert read.times.is_monotonic_increasing
        assert read.times.is_unique
        assert not np.isinf(read.values).any()
