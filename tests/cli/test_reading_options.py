"""The settings of reading as options, and what the command writes."""

import numpy as np
import pandas as pd
import pytest
from cli_parts import SMALL, done, refused, strict_json, waves

from olinear.data.frames import read_panel


def inspected(path, *options: object) -> dict[str, object]:
    return strict_json(done("inspect", path, *options, "--json").out)


@pytest.fixture
def german(tmp_path):
    """Days before months, decimal commas, and a title."""
    frame = waves()[:100].round(dict.fromkeys("abc", 3))
    frame["time"] = pd.date_range("2024-03-01", periods=100).strftime("%d/%m/%Y")
    text = frame.to_csv(index=False, sep=";", decimal=",")
    (tmp_path / "data.csv").write_text("Load of the town\n" + text)
    return tmp_path / "data.csv"


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--sep", ";", "--decimal", ",", "--dayfirst", "--skip-rows", 1, "--header", "--encoding", "utf-8"],
        ["--time-format", "%d/%m/%Y", "--thousands", "."],
    ],
)
def test_a_dialect_is_found_or_given(german, options):
    summary = inspected(german, *options)
    assert (summary["rows"], summary["first"], summary["frequency"]) == (100, "2024-03-01 00:00:00", "D")
    assert [row["series"] for row in summary["details"]] == ["a", "b", "c"]
    assert summary["details"][1]["mean"] == pytest.approx(waves()["b"][:100].round(3).mean())


@pytest.mark.parametrize("options", [["--series", "c,a"], ["--series", "c", "--series", "a"]])
def test_series_are_chosen_by_name(german, options):
    assert [row["series"] for row in inspected(german, *options)["details"]] == ["c", "a"]
    assert [row["series"] for row in inspected(german, "--drop", "b")["details"]] == ["a", "c"]
    assert "there is no column 'nope'" in refused("inspect", german, "--series", "nope")


def test_a_doubt_names_the_option(tmp_path):
    days = pd.date_range("2024-01-01", periods=12).strftime("%d/%m/%Y")
    pd.DataFrame({"time": days, "a": np.arange(12.0)}).to_csv(tmp_path / "data.csv", index=False)
    assert "pass --dayfirst or --monthfirst" in refused("inspect", tmp_path / "data.csv")
    assert inspected(tmp_path / "data.csv", "--dayfirst")["frequency"] == "D"
    assert inspected(tmp_path / "data.csv", "--monthfirst")["frequency"] == "MS"


def test_a_zone_is_given(tmp_path):
    waves().to_csv(tmp_path / "data.csv", index=False)
    assert inspected(tmp_path / "data.csv", "--tz", "Asia/Tokyo")["first"] == "2024-01-01 00:00:00+09:00"
    assert inspected(tmp_path / "data.csv", "--utc")["first"] == "2024-01-01 00:00:00+00:00"


def test_further_rows_are_read_with_the_settings_of_the_fit(tmp_path, german):
    """Also those from a file of settings."""
    (tmp_path / "fit.toml").write_text("[reading]\nseries = ['c', 'a']\nna = ['-9']\ndayfirst = true\n")
    out = tmp_path / "model"
    fit = done("fit", german, "-h", 4, "--config", tmp_path / "fit.toml", "--out", out, *SMALL, "--json")
    assert {note["code"] for note in strict_json(fit.out)["notes"]} >= {
        "read-delimiter",
        "read-decimal",
        "read-preamble",
    }
    done("predict", out, german, "--out", tmp_path / "f.csv")
    assert list(pd.read_csv(tmp_path / "f.csv").columns[:2]) == ["time", "c"]
    assert done("backtest", out, german, "--windows", 2, "--json").code == 0


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "csv.zip", "csv.xz", "parquet", "feather", "xlsx"])
def test_a_forecast_is_written_as_its_file_is_named(tmp_path, model, ending):
    path = tmp_path / f"forecast.{ending}"
    done("predict", model, "--out", path, "--levels", "")
    assert len(read_panel(path, freq="h")) == 4


@pytest.mark.parametrize("command", ["predict", "backtest"])
def test_a_table_of_no_known_kind_is_refused_before_the_work(tmp_path, model, data, command):
    rows = [data] if command == "backtest" else []
    assert "expected .csv" in refused(command, model, *rows, "--out", tmp_path / "f.json")
    assert not (tmp_path / "f.json").exists()
