"""`olinear pretrain`, and what its folder then does on the command."""

import json
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from cli_parts import call, done, refused

SMALL = ["--context", 24, "--patch-length", 6, "-h", 8, "--model-dim", 8, "--blocks", 1, "--batch-size", 16]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Two files to train on, and one of other series."""
    folder = tmp_path_factory.mktemp("pretrain")
    rng = np.random.default_rng(0)
    for name, series in (("one", "ab"), ("two", "cde"), ("new", "xyz")):
        waves = np.sin(np.arange(150)[:, None] * rng.uniform(0.2, 0.6, len(series)))
        frame = pd.DataFrame(waves, columns=list(series))
        frame.insert(0, "time", pd.date_range("2024-01-01", periods=150, freq="D"))
        frame.to_csv(folder / f"{name}.csv", index=False)
    return folder


def test_from_files_to_a_forecast_of_series_it_has_never_seen(place):
    data = f"{place}/one.csv, {place}/two.csv"
    outcome = done("pretrain", "--data", data, *SMALL, "--steps", 4, "--every", "1,2", "--out", place / "model")
    assert "trained on" in outcome.out
    assert "mixer normlin" in outcome.out
    assert f"saved to {place / 'model'}; next: olinear predict" in outcome.err
    outcome = done("predict", place / "model", place / "new.csv")
    assert "note: a pre-trained model has no intervals for series that it was not fitted to" in outcome.err
    found = pd.read_csv(StringIO(outcome.out))
    assert list(found.columns) == ["time", "x", "y", "z"]
    assert len(found) == 8
    assert "seasonal naive" in done("backtest", place / "model", place / "new.csv", "--windows", 3).out
    assert "pretrained on" in done("inspect", place / "model").out
    assert "pass yours, predict(data)" in refused("predict", place / "model")


def test_json_and_other_sizes(place):
    sizes = ["--mixer", "attention", "--option", "heads=2", "--learning-rate", 1e-4, "--precision", "float32"]
    out = ["--steps", 2, "--out", place / "other", "--json", "--seed", 3]
    report = json.loads(done("pretrain", "--data", f"{place}/one.csv", *SMALL, *sizes, *out).out)
    assert report["options"] | {"mixer": "attention", "heads": 2, "context": 24} == report["options"]
    assert (report["learning_rate"], report["seed"], report["precision"]) == (1e-4, 3, "float32")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data", "nothing"], "no dataset is called 'nothing'"),
        (["--data", " , "], "no data: name some datasets or files"),
        (["--data", "ETTh1", "--leave-out", "ETTm1"], "nothing is left to train on: ETTh1 is left out with ETTm1"),
        (
            ["--data", "ETTh1", "--context", "100"],
            "context must be whole patches of 96 rows, found 100: pass --context",
        ),
        (["--data", "ETTh1", "--every", "1,x"], "must be different whole numbers"),
        (["--data", "ETTh1", "--data-folder", "nowhere"], "--data-folder must be a folder, found nowhere"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(place, arguments, message):
    assert message in call("pretrain", *arguments, "--out", place / "refused").err
    assert not (place / "refused").exists()


def test_a_file_that_is_not_there_is_no_dataset(tmp_path):
    assert "there is no file" in refused("pretrain", "--data", str(tmp_path / "no.csv"))
