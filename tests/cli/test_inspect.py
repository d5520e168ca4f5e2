"""`olinear inspect`: what it says of a data file and of a model."""

import re

import numpy as np
import pandas as pd
import pytest
from cli_parts import SMALL, done, refused, strict_json, to_long, waves
from rich.cells import cell_len

from olinear.evaluation.analysis import mixing_matrices
from olinear.forecaster import Forecaster

PNG = b"\x89PNG"


def test_a_data_file_for_machines(tmp_path):
    """Rows, span, frequency, gaps and one record a series, as pandas has them."""
    frame = waves().drop(index=30)
    frame.loc[[5, 6, 7], "b"] = np.nan
    frame.to_csv(tmp_path / "data.csv", index=False)
    summary = strict_json(done("inspect", tmp_path / "data.csv", "--json").out)
    assert (summary["rows"], summary["series"], summary["missing"]) == (150, 3, 6)
    assert (summary["first"], summary["last"]) == ("2024-01-01 00:00:00", "2024-01-07 05:00:00")
    assert (summary["frequency"], summary["season"], summary["lookback"]) == ("h", 24, 37)
    text = "1 rows are missing from the h grid and count as gaps"
    assert summary["notes"] == [{"code": "grid-filled", "text": text, "about": []}]
    for row in summary["details"]:
        column = frame[row["series"]]
        assert row["missing"] == 150 - column.count()
        assert row["mean"] == pytest.approx(column.mean())
        assert row["std"] == pytest.approx(column.std(ddof=0))
        assert (row["min"], row["max"]) == (column.min(), column.max())


def test_orthotrans_decorrelates(data):
    """The point of the paper on one's own data: features of later rows are less correlated than their steps."""
    summary = strict_json(done("inspect", data, "--json", "--lookback", 20).out)
    assert summary["lookback"] == 20
    assert 0 < summary["correlation_of_features"] < 0.5 * summary["correlation_of_steps"] < 0.5


def test_the_correlation_of_steps_by_numpy(data):
    """Mean |correlation| between two steps of the windows of the newest 30 %, over the three series."""
    frame, size = waves(), 8
    newest = frame[["a", "b", "c"]].to_numpy()[105:]
    matrices = [np.corrcoef(np.lib.stride_tricks.sliding_window_view(column, size).T) for column in newest.T]
    expected = np.abs(np.mean(matrices, axis=0)[~np.eye(size, dtype=bool)]).mean()
    found = strict_json(done("inspect", data, "--json", "--lookback", size).out)["correlation_of_steps"]
    assert found == pytest.approx(expected, rel=1e-3)


def test_a_data_file_for_people(data):
    printed = done("inspect", data).out
    for word in ("rows", "2024-01-07 05:00:00", "correlation of steps", "std"):
        assert word in printed
    assert [line.split()[0] for line in printed.splitlines()[-3:]] == ["a", "b", "c"]


def test_a_long_file_is_as_good(tmp_path, data):
    to_long(waves()).to_csv(tmp_path / "long.csv", index=False)
    assert done("inspect", tmp_path / "long.csv", "--json").out == done("inspect", data, "--json").out


def test_columns_can_be_named(tmp_path):
    waves().rename(columns={"time": "t"}).assign(t=np.arange(150)).to_csv(tmp_path / "data.csv", index=False)
    assert "name it with --time" in refused("inspect", tmp_path / "data.csv")
    assert strict_json(done("inspect", tmp_path / "data.csv", "--time", "t", "--json").out)["frequency"] == "1"
    summary = strict_json(done("inspect", tmp_path / "data.csv", "--time", "t", "--freq", "rows", "--json").out)
    assert summary["rows"] == 150


def test_many_series_are_counted_not_listed(tmp_path):
    values = np.random.default_rng(0).normal(size=(60, 33))
    frame = pd.DataFrame(values, columns=[f"s{i}" for i in range(33)])
    frame.insert(0, "time", pd.date_range("2024-01-01", periods=60, freq="D"))
    frame.to_csv(tmp_path / "data.csv", index=False)
    printed = done("inspect", tmp_path / "data.csv").out
    assert "s19" in printed
    assert "s20" not in printed
    assert "... and 13 more series" in printed
    assert len(strict_json(done("inspect", tmp_path / "data.csv", "--json").out)["details"]) == 33


def test_the_correlation_is_drawn(data, tmp_path):
    outcome = done("inspect", data, "--plot-correlation", tmp_path / "c.png")
    assert (tmp_path / "c.png").read_bytes().startswith(PNG)
    assert "drawn to" in outcome.err


def test_the_series_are_drawn_besides(data, tmp_path):
    """`--plot` draws the series, and both pictures can be had at once; one file for both is refused."""
    both = ["--plot", tmp_path / "s.png", "--plot-correlation", tmp_path / "c.png"]
    assert done("inspect", data, *both).err.count("drawn to") == 2
    assert (tmp_path / "s.png").read_bytes() != (tmp_path / "c.png").read_bytes()
    again = ["--plot", tmp_path / "s.png", "--plot-correlation", tmp_path / "." / "s.png"]
    assert "give two files" in refused("inspect", data, *again)


def test_steps_and_features_are_drawn_side_by_side(data, tmp_path):
    done("inspect", data, "--plot-decorrelation", tmp_path / "d.png", "--lookback", 12)
    assert (tmp_path / "d.png").read_bytes().startswith(PNG)
    both = ["--plot-decorrelation", tmp_path / "d.png", "--plot-correlation", tmp_path / "d.png"]
    assert "give two files" in refused("inspect", data, *both)


def test_the_energy_of_the_data_in_features(data):
    """How many features of the newer rows hold 90 % of their variance, from the covariance of windows."""
    summary = strict_json(done("inspect", data, "--json", "--lookback", 8).out)
    values = waves()[["a", "b", "c"]].to_numpy()
    older, newer = (
        np.mean([np.corrcoef(np.lib.stride_tricks.sliding_window_view(each, 8).T) for each in part.T], axis=0)
        for part in (values[:105], values[105:])
    )
    basis = np.linalg.eigh(older)[1].T[::-1]
    shares = np.cumsum(np.diag(basis @ newer @ basis.T)) / 8
    assert summary["features_for_90_percent"] == 1 + int((shares < 0.9).sum())


@pytest.mark.parametrize("option", [("--plot-mixing", "x.png"), ("--data", "y.csv")], ids=str)
def test_what_is_for_a_model_is_refused_for_data(data, option):
    assert "leave them out for data" in refused("inspect", data, *option)


def test_some_series_alone(data):
    """In the order asked for; names that are not there are answered with the nearest."""
    summary = strict_json(done("inspect", data, "--json", "--series", "c,a").out)
    assert (summary["series"], [row["series"] for row in summary["details"]]) == (2, ["c", "a"])
    assert refused("inspect", data, "--series", "A") == "there is no column 'A': did you mean 'a'?"
    assert refused("inspect", data, "--series", "zz") == "there is no column 'zz': there are 'time', 'a', 'b', 'c'"
    assert "there is no column ''" in refused("inspect", data, "--series", "")


def test_a_name_with_a_comma_stands_alone(tmp_path):
    waves().rename(columns={"a": "a, b"}).to_csv(tmp_path / "data.csv", index=False)
    summary = strict_json(done("inspect", tmp_path / "data.csv", "--json", "--series", "c", "--series", "a, b").out)
    assert [row["series"] for row in summary["details"]] == ["c", "a, b"]


def test_what_stopped_never_moved_or_is_far_off_is_counted(tmp_path):
    frame = waves()
    frame.loc[140:, "a"] = np.nan
    frame["b"] = 5.0
    frame.loc[::10, "c"] = -9999
    frame.to_csv(tmp_path / "data.csv", index=False)
    rows = {row["series"]: row for row in strict_json(done("inspect", tmp_path / "data.csv", "--json").out)["details"]}
    assert [rows[name]["stale"] for name in "abc"] == [10, 0, 0]
    assert [rows[name]["constant"] for name in "abc"] == [False, True, False]
    assert [rows[name]["outliers"] for name in "abc"] == [0, 0, 15]


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_no_number_is_cut_at_any_width(tmp_path, monkeypatch, columns):
    """Long and wide names are folded, and columns without room follow below: every number is there whole."""
    names = {"a": "室外温度（東京都千代田区霞が関）", "b": "a very long name " * 8, "c": "온도"}
    frame = waves()
    frame[["a", "b"]] *= [1.23456e-7, 1.23456e12]
    frame.rename(columns=names).to_csv(tmp_path / "data.csv", index=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(columns))
    printed = re.sub(r"\x1b\[[0-9;]*m", "", done("inspect", tmp_path / "data.csv").out)
    table = printed.split("series ", 2)[2]
    assert "…" not in printed
    assert all(cell_len(line) <= columns for line in printed.splitlines())
    for name in ("a", "b", "c"):
        for number in (frame[name].mean(), frame[name].std(ddof=0), frame[name].min(), frame[name].max()):
            assert f"{number:.4g}" in table.split()
    monkeypatch.delenv("FORCE_COLOR")
    piped = done("inspect", tmp_path / "data.csv").out
    assert names["b"].strip() in piped, "in a pipe a row is one line"


@pytest.mark.parametrize("case", ["constant", "two rows", "no room for the lookback"])
def test_nothing_to_correlate_is_said(tmp_path, case):
    frame = waves().assign(a=1.0, b=1.0, c=1.0) if case == "constant" else waves(2 if case == "two rows" else 150)
    frame.to_csv(tmp_path / "data.csv", index=False)
    options = ["--lookback", 100] if case.startswith("no") else []
    outcome = done("inspect", tmp_path / "data.csv", "--plot-correlation", tmp_path / "c.png", "--json", *options)
    assert "nothing to draw" in outcome.err
    assert "correlation_of_steps" not in strict_json(outcome.out)
    assert not (tmp_path / "c.png").exists()


# A model


def test_a_model_for_machines(model):
    summary = strict_json(done("inspect", model, "--json").out)
    report = Forecaster.load(model).report()
    for key in ("series", "frequency", "horizon", "lookback", "parameters", "validation_loss", "first", "last", "seed"):
        assert summary[key] == report[key]
    assert summary["names"] == ["a", "b", "c"]
    assert len(summary["spectrum"]) == 12
    share = np.cumsum(summary["spectrum"]) / np.sum(summary["spectrum"])
    needed = summary["features_for_90_percent"]
    assert share[needed - 1] >= 0.9
    assert needed == 1 or share[needed - 2] < 0.9


def test_a_model_for_people(model):
    printed = done("inspect", model).out
    for word in ("parameters", "validation loss", "model dim", "features for 90 percent"):
        assert word in printed


@pytest.mark.parametrize("blocks", [0, 2])
def test_a_model_is_drawn(tmp_path, data, blocks):
    done("fit", data, "-h", 4, "--blocks", blocks, "--out", tmp_path / "model", *SMALL)
    done("inspect", tmp_path / "model", "--plot", tmp_path / "m.png")
    assert (tmp_path / "m.png").read_bytes().startswith(PNG)


def test_what_a_model_mixes(model, data, tmp_path):
    """Each NormLin with ranks, entropy and likeness, the same from the rows of a file, for people and machines."""
    found = strict_json(done("inspect", model, "--json").out)["mixing"]
    matrices = mixing_matrices(Forecaster.load(model).fitted.model)
    assert len(found) == len(matrices) > 0
    for layer, matrix in zip(found, matrices, strict=True):
        assert (layer["kind"], layer["tokens"], layer["matrices"]) == ("matrix", 3, 1)
        assert layer["rank"] == np.linalg.matrix_rank(matrix, tol=0.01 * np.linalg.norm(matrix, 2))
        assert 0 < layer["entropy"] < 1
        assert -1 <= layer["likeness"] <= 1
    judged = strict_json(done("inspect", model, "--data", data, "--json").out)["mixing"]
    values = waves()[["a", "b", "c"]].to_numpy()
    target, off = np.exp(np.corrcoef(values.T)), ~np.eye(3, dtype=bool)
    target /= target.sum(1, keepdims=True)
    assert judged[0]["likeness"] == pytest.approx(np.corrcoef(matrices[0][off], target[off])[0, 1], abs=1e-4)
    outcome = done("inspect", model, "--plot-mixing", tmp_path / "m.png")
    assert (tmp_path / "m.png").read_bytes().startswith(PNG)
    assert "blocks.0.csl.mixer" in outcome.out
    assert "effective rank" in outcome.out


def test_attention_is_looked_at_on_rows(data, tmp_path):
    """A map for each window and head; a model saved without rows has nothing to look at, and says what to do."""
    options = ["--model", "iTransformer", "--lookback", 12, "--max-epochs", 1]
    done("fit", data, "-h", 4, "--out", tmp_path / "model", *options)
    layers = strict_json(done("inspect", tmp_path / "model", "--data", data, "--json").out)["mixing"]
    assert {layer["kind"] for layer in layers} == {"attention"}
    assert layers[0]["matrices"] % 8 == 0
    forecaster = Forecaster.load(tmp_path / "model")
    forecaster.save(tmp_path / "bare", context=False)
    outcome = done("inspect", tmp_path / "bare", "--plot-mixing", tmp_path / "m.png", "--json")
    assert strict_json(outcome.out)["mixing"] == []
    assert "--data names some" in outcome.err
    assert not (tmp_path / "m.png").exists()


@pytest.mark.parametrize("option", [("--series", "a"), ("--plot-correlation", "x.png"), ("--lookback", 5)], ids=str)
def test_what_is_for_data_is_refused_for_a_model(model, option):
    assert "leave them out for a model" in refused("inspect", model, *option)


def test_a_model_of_series_that_moved_late(tmp_path):
    """No spectrum could be computed in the training rows, and there are no blocks: still no crash."""
    frame = waves()
    frame.loc[:119, ["a", "b", "c"]] = 1.0
    frame.to_csv(tmp_path / "data.csv", index=False)
    done("fit", tmp_path / "data.csv", "-h", 4, "--blocks", 0, "--out", tmp_path / "model", *SMALL)
    outcome = done("inspect", tmp_path / "model", "--plot", tmp_path / "m.png")
    assert "fourier basis was used" in outcome.err
    assert "features_for_90_percent" not in strict_json(done("inspect", tmp_path / "model", "--json").out)


def test_a_model_of_constants(tmp_path):
    """There is no model to draw, and it says so."""
    waves().assign(a=1.0, b=2.0, c=3.0).to_csv(tmp_path / "flat.csv", index=False)
    done("fit", tmp_path / "flat.csv", "-h", 4, "--out", tmp_path / "model", *SMALL)
    outcome = done("inspect", tmp_path / "model", "--json", "--plot", tmp_path / "m.png")
    assert strict_json(outcome.out)["parameters"] == 0
    assert not (tmp_path / "m.png").exists()
    assert "nothing to draw" in outcome.err
