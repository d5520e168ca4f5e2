"""`olinear inspect`: what it says of a data file and of a model."""

import numpy as np
import pandas as pd
import pytest
from cli_parts import SMALL, done, refused, strict_json, to_long, waves

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
    outcome = done("inspect", data, "--plot", tmp_path / "c.png")
    assert (tmp_path / "c.png").read_bytes().startswith(PNG)
    assert "drawn to" in outcome.err


@pytest.mark.parametrize("case", ["constant", "two rows", "no room for the lookback"])
def test_nothing_to_correlate_is_said(tmp_path, case):
    frame = waves().assign(a=1.0, b=1.0, c=1.0) if case == "constant" else waves(2 if case == "two rows" else 150)
    frame.to_csv(tmp_path / "data.csv", index=False)
    options = ["--lookback", 100] if case.startswith("no") else []
    outcome = done("inspect", tmp_path / "data.csv", "--plot", tmp_path / "c.png", "--json", *options)
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
