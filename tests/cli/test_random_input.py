"""Whatever is in a file: an answer or a refusal, never a crash."""

import shutil
from datetime import date, timedelta
from pathlib import Path

import pytest
from cli_parts import SMALL, call, strict_json
from hypothesis import given, settings
from hypothesis import strategies as st

modest = settings(max_examples=25)
FIRST = date(2024, 1, 1)
DAYS = [str(FIRST + timedelta(days=day)) for day in range(40)]
GOOD = "time,a,b\n" + "".join(f"{day},{row % 7}.5,{(row * row) % 11}\n" for row, day in enumerate(DAYS))

# Times stay near each other: a grid between far ones is another test (test_bad_input.py).
number = st.one_of(st.integers(-5, 60).map(str), st.floats(-1e6, 1e6).map(repr), st.floats().map(repr))
word = st.one_of(st.sampled_from(["", "NaN", "-", "x y", '"', "'", "[b]", "1,5", "True", "é"]), st.text(max_size=3))
name = st.one_of(st.sampled_from(["time", "ds", "unique_id", "y", "a", "b", "", "1"]), st.text(max_size=3))


@st.composite
def tables(draw: st.DrawFn) -> str:
    """A table that begins well: some columns of numbers beside a time, with a few cells of anything."""
    columns = draw(st.lists(name, min_size=1, max_size=4))
    separator = draw(st.sampled_from([",", ";", "\t"]))
    rows = draw(st.integers(0, 25))
    first = draw(st.sampled_from([DAYS, [str(row) for row in range(40)], ["7"] * 40]))
    lines = [separator.join(["time", *columns])]
    for row in range(rows):
        cells = [draw(number) if draw(st.integers(0, 5)) else draw(word) for _ in columns]
        lines.append(separator.join([first[row] if draw(st.integers(0, 20)) else draw(word), *cells]))
    return draw(st.sampled_from(["\n", "\r\n"])).join(lines)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A good table in which a few bytes were changed or lost."""
    content = bytearray(GOOD.encode())
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(content) - 1))
        lost = draw(st.integers(0, 2))
        content[place : place + lost] = draw(st.sampled_from([b"", b",", b"\n", b'"', b"\xff", b"-", b"e"]))
    return bytes(content)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("random")


def answered(folder: Path, name: str, content: bytes) -> None:
    """Both commands that read any file end with 0 or 2; a refusal is one line and leaves no model."""
    path, model = folder / name, folder / "model"
    path.write_bytes(content)
    shutil.rmtree(model, ignore_errors=True)
    options = ["--horizon", 2, "--out", model, *SMALL[2:], "--lookback", 4]
    for arguments in (["inspect", path], ["fit", path, *options, "--json"]):
        outcome = call(*arguments)
        assert outcome.code in (0, 2), outcome.err
        assert "Traceback" not in outcome.err
        if outcome.code == 2:
            assert outcome.err.splitlines()[-1].startswith("olinear: ")
            assert outcome.out == "" or strict_json(outcome.out)["error"]["message"] in outcome.err
    assert model.exists() == (outcome.code == 0)


@modest
@given(st.binary(max_size=300), st.sampled_from(["d.csv", "d.parquet", "d.csv.gz", "d"]))
def test_random_bytes(folder, content, name):
    answered(folder, name, content)


@modest
@given(st.sampled_from([b"PAR1", b"\x1f\x8b\x08", b"\xef\xbb\xbf", b"PK\x03\x04", b"time,a\n"]), st.binary(max_size=60))
def test_random_bytes_after_a_known_beginning(folder, start, content):
    answered(folder, "d.csv", start + content)


@modest
@given(tables())
def test_random_tables(folder, text):
    answered(folder, "d.csv", text.encode("utf-8", "surrogatepass"))


@modest
@given(damaged())
def test_a_good_table_with_damage(folder, content):
    answered(folder, "d.csv", content)
