"""A user's mistake: exit code 2, one line on standard error that says what to do, no traceback, nothing written."""

import numpy as np
import pandas as pd
import pytest
from cli_parts import SMALL, call, listing, refused, strict_json, to_long, waves

GOOD = waves()


def text(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False).encode()


def with_cell(row: int, column: str, value: object) -> bytes:
    frame = GOOD.astype({column: object})
    frame.loc[row, column] = value
    return text(frame)


def parquet() -> bytes:
    return GOOD.to_parquet()


FILES = {
    "empty": ("d.csv", b"", ["empty"]),
    "only blank lines": ("d.csv", b"\n \n\n", ["empty"]),
    "only a header": ("d.csv", b"time,a,b\n", ["no rows"]),
    "no numeric column": ("d.csv", text(GOOD[["time"]]), ["no numeric column"]),
    "text in a numeric column": ("d.csv", with_cell(7, "b", "broken"), ["'b'", "row 8", "broken"]),
    "no time column": ("d.csv", text(GOOD[["a", "b"]]), ["no time column", "'a'"]),
    "a time that is none": ("d.csv", with_cell(7, "time", "yesterday"), ["'time'", "row 8", "yesterday"]),
    "a time that is absent": ("d.csv", with_cell(7, "time", ""), ["'time'", "row 8"]),
    "a time twice": ("d.csv", text(pd.concat([GOOD, GOOD[5:6]])), ["2024-01-01 05:00:00", "more than once"]),
    "a time twice in a long table": (
        "d.csv",
        text(pd.concat([to_long(GOOD), to_long(GOOD)[5:6]])),
        ["'a'", "2024-01-01 05:00:00", "more than once"],
    ),
    "an irregular grid": ("d.csv", with_cell(7, "time", "2024-01-01 07:13:00"), ["irregular", "07:13:00", "rows"]),
    "a grid that is mostly missing": ("d.csv", text(GOOD[(GOOD.index < 20) | (GOOD.index > 130)]), ["are missing"]),
    "an infinite value": ("d.csv", with_cell(7, "b", "inf"), ["'b'", "infinite", "2024-01-01 07:00:00"]),
    "a series without values": ("d.csv", text(GOOD.assign(a=np.nan, b=np.nan, c=np.nan)), ["'b'", "no value"]),
    "a number without end": ("d.csv", with_cell(7, "b", "1e999"), ["'b'", "2024-01-01 07:00:00"]),
    "rows of unequal length": ("d.csv", b"time,a\n2024-01-01,1\n2024-01-02,1,2,3\n2024-01-03\n", ["CSV"]),
    "Parquet by the name of CSV": ("d.csv", parquet(), ["Parquet"]),
    "CSV by the name of Parquet": ("d.parquet", text(GOOD), ["not a readable Parquet file"]),
    "half a Parquet file": ("d.parquet", parquet()[:500], ["not a readable Parquet file"]),
    "a picture": ("d.csv", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(64), ["binary"]),
    "half a gzip file": ("d.csv.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00" + bytes(8), ["gzip"]),
}


@pytest.mark.parametrize("command", ["fit", "inspect"])
@pytest.mark.parametrize(("name", "content", "words"), FILES.values(), ids=FILES)
def test_data_that_cannot_be_used(tmp_path, command, name, content, words):
    (tmp_path / name).write_bytes(content)
    before = listing(tmp_path)
    options = ["--horizon", 4, "--out", tmp_path / "model", *SMALL] if command == "fit" else []
    message = refused(command, tmp_path / name, *options)
    for word in words:
        assert word in message
    assert listing(tmp_path) == before


@pytest.mark.parametrize("command", ["predict", "backtest"])
def test_data_that_cannot_be_used_by_a_model(tmp_path, model, command):
    """The same words from the commands that read new rows."""
    for name, content, words in (FILES["empty"], FILES["a time twice"], FILES["CSV by the name of Parquet"]):
        (tmp_path / name).write_bytes(content)
        message = refused(command, model, tmp_path / name)
        assert all(word in message for word in words)


@pytest.mark.parametrize("command", ["fit", "inspect", "predict", "backtest"])
def test_a_file_that_is_not_there(tmp_path, model, command):
    first = [model] if command in ("predict", "backtest") else []
    options = ["-h", 4, "--out", tmp_path / "model"] if command == "fit" else []
    assert "there is no file" in refused(command, *first, tmp_path / "none.csv", *options)
    if command != "inspect":
        assert "folder" in refused(command, *first, tmp_path, *options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["fit", "inspect"])
@pytest.mark.parametrize(
    "rows",
    [
        [f"{i},{i % 5}" for i in [*range(60), 10**15]],
        [*(f"2024-01-01 00:00:00.{i:03d},{i % 5}" for i in range(60)), "2999-01-01,1"],
    ],
    ids=["whole numbers", "milliseconds"],
)
def test_a_time_far_away_is_a_mistake_and_no_grid(tmp_path, command, rows):
    """One digit too many in one stamp must not ask for petabytes of empty rows."""
    (tmp_path / "d.csv").write_text("time,a\n" + "\n".join(rows) + "\n")
    options = ["--horizon", 2, "--out", tmp_path / "model", *SMALL] if command == "fit" else []
    refused(command, tmp_path / "d.csv", *options)
    assert [path.name for path in tmp_path.iterdir()] == ["d.csv"]


def test_an_overflowing_time_is_a_mistake(tmp_path):
    """The last whole number a computer has: the grid must not wrap round."""
    (tmp_path / "d.csv").write_text("time,a\n" + "".join(f"{i},{i % 5}\n" for i in [*range(60), 2**63 - 1]))
    refused("inspect", tmp_path / "d.csv")


@pytest.mark.parametrize("command", ["fit", "inspect"])
@pytest.mark.parametrize("factor", [1e300, 1e160, 1e-160, 1e-300])
def test_values_whose_squares_no_computer_holds(tmp_path, command, factor):
    """An answer or a refusal; a warning of NumPy's (here an error) is neither."""
    GOOD.assign(a=GOOD["a"] * factor).to_csv(tmp_path / "d.csv", index=False)
    options = ["--horizon", 4, "--out", tmp_path / "model", *SMALL] if command == "fit" else []
    outcome = call(command, tmp_path / "d.csv", *options, "--json")
    assert outcome.code in (0, 2), outcome.err
    if outcome.code == 0:
        strict_json(outcome.out)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--horizon", 0], ["horizon must be at least 1", "0"]),
        (["--horizon", -5], ["horizon must be at least 1", "-5"]),
        (["--horizon", 400], ["need", "rows, found 150"]),
        (["--horizon", 4, "--lookback", 0], ["lookback"]),
        (["--horizon", 4, "--lookback", 147], ["need 151 rows, found 150"]),
        (["--horizon", 4, "--freq", "fortnight"], ["freq 'fortnight' is not known"]),
        (["--horizon", 4, "--freq", "D"], ["not a step of 'D'"]),
        (["--horizon", 4, "--time", "when"], ["there is no column 'when'", "'time'"]),
        (["--horizon", 4, "--id", "who"], ["there is no column 'who'"]),
        (["--horizon", 4, "--value", "a"], ["'unique_id'"]),
        (["--horizon", 4, "--missing", "ignore"], ["missing", "'bridge'", "'ignore'"]),
        (["--horizon", 4, "--basis", "sines"], ["basis", "'sines'"]),
        (["--horizon", 4, "--device", "abacus"], ["device 'abacus'"]),
        (["--horizon", 4, "--dropout", 1], ["dropout"]),
        (["--horizon", 4, "--model-dim", 0], ["--model-dim must"]),
        (["--horizon", 4, "--blocks", -1], ["blocks"]),
        (["--horizon", 4, "--batch-size", 0], ["--batch-size must"]),
        (["--horizon", 4, "--max-epochs", 0], ["--max-epochs must"]),
        (["--horizon", 4, "--seed", 2**64], ["seed"]),
        (["--horizon", 4, "--learning-rate", "nan"], ["--learning-rate must"]),
        (["--horizon", 4, "--learning-rate", "1e30"], ["learning_rate"]),
    ],
    ids=lambda value: " ".join(map(str, value)) if "--horizon" in value else None,
)
def test_options_of_fit(tmp_path, data, options, words):
    message = refused("fit", data, "--out", tmp_path / "model", *options)
    for word in words:
        assert word in message
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".checkpoint"] == []


def test_gaps_when_they_are_not_wanted(tmp_path):
    (tmp_path / "d.csv").write_bytes(with_cell(7, "b", ""))
    message = refused("fit", tmp_path / "d.csv", "-h", 4, "--missing", "error", "--out", tmp_path / "model")
    assert "'b' has no value at 2024-01-01 07:00:00" in message


# predict and backtest


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--horizon", 0], ["horizon must be at least 1"]),
        (["--horizon", -2], ["horizon must be at least 1"]),
        (["--horizon", 5], ["trained for 4 steps", "recursive"]),
        (["--levels", "80,high"], ["levels must be numbers"]),
        (["--levels", "0"], ["between 1 and 99"]),
        (["--levels", "100"], ["between 1 and 99"]),
        (["--levels", "80,-5"], ["between 1 and 99"]),
        (["--levels", "nan"], ["between 1 and 99"]),
    ],
    ids=lambda value: " ".join(map(str, value)) if value[0].startswith("--") else None,
)
def test_options_of_predict(tmp_path, model, options, words):
    message = refused("predict", model, "--out", tmp_path / "f.csv", "--plot", tmp_path / "f.png", *options)
    for word in words:
        assert word in message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--windows", 0], "windows"),
        (["--stride", 0], "stride"),
        (["--levels", "x"], "levels"),
        (["--levels", 101], "99"),
    ],
)
def test_options_of_backtest(tmp_path, model, data, options, word):
    assert word in refused("backtest", model, data, "--out", tmp_path / "f.csv", *options)
    assert list(tmp_path.iterdir()) == []


def test_a_stride_beyond_all_rows(model, data):
    """One window, or a refusal; NumPy's largest number is no limit of ours."""
    assert call("backtest", model, data, "--stride", 10**30).code in (0, 2)


@pytest.mark.parametrize("command", ["predict", "backtest"])
@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (GOOD.assign(d=1.0), ["does not know", "'d'"]),
        (GOOD.drop(columns="b"), ["missing from the data", "'b'"]),
        (GOOD[:11], ["rows, found 11"]),
        (GOOD.assign(time=pd.date_range("2024-01-01", periods=150, freq="D")), ["'h'"]),
        (GOOD.assign(time=np.arange(150)), ["whole numbers"]),
    ],
    ids=["an unknown series", "a missing series", "too few rows", "another frequency", "another kind of time"],
)
def test_rows_that_do_not_fit_the_model(tmp_path, model, command, frame, words):
    frame.to_csv(tmp_path / "new.csv", index=False)
    message = refused(command, model, tmp_path / "new.csv", "--out", tmp_path / "out.csv")
    for word in words:
        assert word in message
    assert [path.name for path in tmp_path.iterdir()] == ["new.csv"]


def test_a_table_without_the_time_zone_of_the_model(tmp_path, data):
    """A DataError or an answer, but no crash."""
    zoned = GOOD.assign(time=pd.date_range("2024-01-01", periods=150, freq="h", tz="UTC"))
    zoned.to_csv(tmp_path / "zoned.csv", index=False)
    assert call("fit", tmp_path / "zoned.csv", "-h", 4, "--out", tmp_path / "model", *SMALL).code == 0
    for command in ("predict", "backtest"):
        outcome = call(command, tmp_path / "model", data)
        assert outcome.code in (0, 2), outcome.err
