"""`olinear demo`: the first thing a visitor runs."""

import re
import sys

import pandas as pd
from cli_parts import call, done, waves


def scores(name: str, printed: str) -> tuple[float, float]:
    found = re.search(rf"^{name} +([\d.]+) +([\d.]+)$", printed, re.MULTILINE)
    assert found is not None, printed
    return float(found[1]), float(found[2])


def test_demo_beats_the_naive_forecasts_and_leaves_what_it_says(tmp_path):
    """One epoch is enough to be better than the last value and the last day, on both scores."""
    out = tmp_path / "out"
    outcome = done("demo", "--max-epochs", 1, "--out", out)
    ours = scores("OLinear", outcome.out)
    for name in ("last value", "seasonal naive"):
        naive = scores(name, outcome.out)
        assert ours[0] < naive[0]
        assert ours[1] < naive[1]
    inside = re.search(r"90 % intervals hold ([\d.]+)%", outcome.out)
    assert inside is not None
    assert 80 < float(inside[1]) < 97
    assert sorted(path.name for path in out.iterdir()) == ["forecast.csv", "forecast.png", "model"]
    assert (out / "forecast.png").read_bytes().startswith(b"\x89PNG")
    table = pd.read_csv(out / "forecast.csv", parse_dates=["time"])
    assert len(table) == 24
    assert table.shape[1] == 1 + 7 * 5  # seven series, each with its forecast and two intervals
    assert call("predict", out / "model").code == 0


def test_without_matplotlib_there_is_everything_but_the_picture(tmp_path, monkeypatch):
    """It is an extra: whoever left it out gets the forecast, the model and a word on what to install."""
    monkeypatch.setattr("olinear.data.datasets.load_demo", lambda: waves(400))
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    outcome = done("demo", "--max-epochs", 1, "--out", tmp_path)
    assert "pip install 'olinear[plot]'" in outcome.err
    assert "wrote forecast.csv and model" in outcome.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["forecast.csv", "model"]
