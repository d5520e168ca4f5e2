"""Fits in processes side by side equal fits alone, and one that fails leaves the others alone."""

import hashlib

import pytest
from forecaster_parts import waves, weights_in

from olinear import fit_side_by_side
from olinear.core import ConfigError
from olinear.forecaster import Forecaster
from olinear.forecaster.service import FitRequest, fit
from olinear.training import Callback

SMALL = {"horizon": 4, "lookback": 12, "model_dim": 8, "max_epochs": 3, "dropout": 0.3}


def weights(folder) -> str:
    return hashlib.sha256(weights_in(folder).read_bytes()).hexdigest()


def test_each_equals_the_fit_alone_bit_by_bit(tmp_path):
    """Also next to one that fails, and one with another model; what they log comes back with its request."""
    frame = waves()
    seeds = [{"seed": 1}, {"seed": 2}, {"seed": 1, "model": "iTransformer", "options": {"heads": 2}}]
    requests = [FitRequest(frame, tmp_path / f"side-{n}", SMALL | given) for n, given in enumerate(seeds)]
    failing = FitRequest(tmp_path / "none.csv", tmp_path / "failing", SMALL)
    lines = []
    results = fit_side_by_side(
        [*requests[:1], failing, *requests[1:]], workers=3, show=lambda request, line: lines.append((request.out, line))
    )
    assert [result.out.name for result in results] == ["side-0", "failing", "side-1", "side-2"]
    assert "none.csv" in results.pop(1).error
    for number, (given, result) in enumerate(zip(seeds, results, strict=True)):
        alone = fit(FitRequest(frame, tmp_path / f"alone-{number}", SMALL | given))
        assert result.error == ""
        assert weights(result.out) == weights(tmp_path / f"alone-{number}")
        same = {key: value for key, value in result.report.items() if key != "seconds"}
        assert same == {key: value for key, value in alone.report.items() if key != "seconds"}
        assert Forecaster.load(result.out).predict().equals(alone.forecaster.predict())
        assert sum(out == result.out and line.startswith("epoch") for out, line in lines) == result.report["epochs"]
    assert not (tmp_path / "failing").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda one, folder: [one, one], "a folder of its own"),
        (lambda one, folder: [FitRequest(one.data, None, SMALL)], "a folder of its own"),
        (lambda one, folder: [FitRequest(one.data, folder, SMALL, callbacks=[Callback()])], "callbacks cannot follow"),
    ],
)
def test_what_cannot_run_side_by_side_is_refused(tmp_path, change, words):
    with pytest.raises(ConfigError, match=words):
        fit_side_by_side(change(FitRequest(waves(), tmp_path / "one", SMALL), tmp_path / "two"))


def test_at_least_one_worker():
    with pytest.raises(ConfigError, match="workers must be at least 1, found 0"):
        fit_side_by_side([], workers=0)
