"""A model folder: what is in it, and that it comes back as it was saved."""

import hashlib
import json

import numpy as np
import pandas as pd
import pytest
from forecaster_parts import (
    CONFIG,
    KINDS,
    assert_same_frames,
    edit,
    same_weights,
    small,
    to_long,
    waves,
    weights_in,
    weights_of,
)
from safetensors.torch import load_file

from olinear import __version__
from olinear.core.errors import DataError
from olinear.forecaster import Forecaster

# There and back


def models():
    frame = waves()
    days = pd.bdate_range("2024-01-01", periods=160).delete([10, 30, 31])[:150]
    gaps = frame.assign(a=frame["a"].where(frame.index % 9 != 0))
    yield "wide", {}, frame
    yield "index", {}, frame.set_index("time")
    yield "long", {}, to_long(frame)
    named = to_long(frame).set_axis(["when", "who", "v"], axis=1)
    yield "other names", {"id": "who", "time": "when", "value": "v"}, named
    yield "polars", {}, KINDS["polars"](frame)
    yield "pyarrow, long", {}, KINDS["pyarrow"](to_long(frame))
    yield "time zone", {}, waves(tz="America/New_York")
    yield "fixed offset", {}, waves(tz="UTC+05:30")
    yield "polars, time zone", {}, KINDS["polars"](waves(tz="Europe/Berlin"))
    yield "whole numbers", {}, frame.assign(time=10 * np.arange(150))
    yield "months", {}, waves(freq="ME")
    yield "rows", {"freq": "rows"}, frame.assign(time=days)
    yield "gaps", {}, gaps
    yield "a constant", {}, frame.assign(b=3.0)
    yield "only constants", {}, frame.assign(a=1.0, b=2.0, c=3.0)
    yield "never negative", {}, frame.assign(a=frame["a"].clip(lower=0.0))
    yield "refitted", {"refit": True}, frame
    yield "another basis, no blocks", {"basis": "fourier", "blocks": 0}, frame
    yield "long ago", {}, frame.assign(time=pd.date_range("1500-01-01", periods=150, freq="MS", unit="s"))


@pytest.mark.parametrize(("options", "data"), [pytest.param(*rest, id=name) for name, *rest in models()])
def test_a_loaded_model_predicts_the_same_bit_by_bit(tmp_path, options, data):
    """Without data and with it, intervals and kind of frame included; and it may be saved again."""
    forecaster = small(**options).fit(data)
    forecaster.save(tmp_path / "first")
    loaded = Forecaster.load(tmp_path / "first")
    loaded.save(tmp_path / "second")
    for again in (loaded, Forecaster.load(tmp_path / "second")):
        assert_same_frames(again.predict(levels=[80]), forecaster.predict(levels=[80]))
        assert_same_frames(again.predict(data, levels=[80]), forecaster.predict(data, levels=[80]))
        assert again.report() == forecaster.report()
        assert again.has_intervals
    here, there = (one.backtest(data, windows=2, levels=[80]) for one in (forecaster, loaded))
    assert_same_frames(here.forecasts, there.forecasts)
    assert here.in_sample == there.in_sample == 2


def test_the_time_column_comes_back_as_it_was(frame, saved, fitted):
    """The dtype too: a join of two forecasts must not fail for want of one unit."""
    pd.testing.assert_frame_equal(Forecaster.load(saved).predict(), fitted.predict())


def test_a_named_time_column_is_remembered(tmp_path):
    """The loaded model, and so the command line, reads new rows as the fit did."""
    data = waves().rename(columns={"time": "t"}).assign(t=np.arange(150))
    forecaster = small(time="t").fit(data)
    forecaster.save(tmp_path / "model")
    assert_same_frames(Forecaster.load(tmp_path / "model").predict(data), forecaster.predict(data))


def test_a_model_without_intervals_stays_so(tmp_path, frame):
    few = frame[:17]
    small().fit(few).save(tmp_path / "model")
    loaded = Forecaster.load(tmp_path / "model")
    assert not loaded.has_intervals
    with pytest.raises(DataError, match="no intervals"):
        loaded.predict(levels=[80])


def test_without_context_predict_needs_data(tmp_path, fitted, frame):
    """The last rows may be a secret: then they are not in the folder."""
    fitted.save(tmp_path / "model", context=False)
    assert not [name for name in load_file(weights_in(tmp_path / "model")) if name.startswith("context")]
    loaded = Forecaster.load(tmp_path / "model")
    with pytest.raises(DataError, match=r"saved without context: pass the last rows"):
        loaded.predict()
    assert_same_frames(loaded.predict(frame[:130], levels=[80]), fitted.predict(levels=[80]))
    loaded.save(tmp_path / "again")
    assert_same_frames(Forecaster.load(tmp_path / "again").predict(frame[:130]), fitted.predict())


def fits():
    frame = waves()
    named = to_long(frame).set_axis(["when", "who", "v"], axis=1)
    days = pd.bdate_range("2024-01-01", periods=160).delete([10, 30, 31])[:150]
    training = {"schedule": "cosine", "loss": "l2", "max_epochs": 2, "patience": 1, "batch_size": 20, "seed": 3}
    yield "OLinear", {"basis": "fourier", "blocks": 2, "dropout": 0.0, "refit": True}, frame
    yield "low rank", {"rank": 2, "missing": "error", "validation": 0.3, "device": "cpu"}, frame
    yield "training", {**training, "learning_rate": 1e-3}, frame
    yield "another model", {"model": "iTransformer", "options": {"heads": 2, "dropout": 0.0}}, frame
    yield "a closed form", {"model": "Ridge", "model_dim": None, "options": {"penalty": 1.0}}, frame
    yield "other names", {"id": "who", "time": "when", "value": "v"}, named
    yield "rows", {"freq": "rows"}, frame.assign(time=days)
    yield "whole numbers", {"time": "b"}, frame.assign(b=10 * np.arange(150)).drop(columns="time")


@pytest.mark.parametrize(("options", "data"), [pytest.param(*rest, id=name) for name, *rest in fits()])
def test_a_loaded_forecaster_fits_again_what_was_saved(tmp_path, options, data):
    """The same model with the same settings, from a frame of the same columns: on the same rows, the same weights."""
    forecaster = small(**options).fit(data)
    forecaster.save(tmp_path / "model")
    again = Forecaster.load(tmp_path / "model").fit(data)
    reports = [{**one.report(), "seconds": 0, "device": ""} for one in (forecaster, again)]
    assert reports[0] == reports[1]
    assert same_weights(weights_of(forecaster), weights_of(again))
    assert_same_frames(again.predict(data, levels=[80]), forecaster.predict(data, levels=[80]))


def test_a_loaded_forecaster_takes_the_device_of_its_new_machine(copy, frame):
    """The graphics card it was fitted on may not be here."""
    settings = json.loads((copy / CONFIG).read_text())["settings"]
    edit(copy, settings={**settings, "training": {**settings["training"], "device": "cuda:99"}})
    assert Forecaster.load(copy).fit(frame[:130]).report()["device"] == "auto"


# What is in it


def test_the_configuration_is_readable(saved, fitted):
    """Everything one wants to know of a model a year later, in JSON."""
    config = json.loads((saved / CONFIG).read_text())
    assert (config["format"], config["format_version"]) == ("olinear-model", 5)
    assert config["settings"] == fitted.fitted.settings.model_dump()
    assert config["settings"]["training"]["seed"] == 0
    assert config["series"] == ["a", "b", "c"]
    assert config["frequency"] == {"step": "h", "kind": "calendar"}
    trained = config["trained"]
    assert (trained["first"], trained["last"], trained["rows"]) == ("2024-01-01 00:00:00", "2024-01-06 09:00:00", 130)
    assert trained["validation_loss"] == fitted.report()["validation_loss"]
    assert config["versions"]["olinear"] == __version__
    assert {"torch", "numpy", "python"} <= config["versions"].keys()
    assert config["weights_sha256"] == hashlib.sha256((saved / config["weights"]).read_bytes()).hexdigest()
    assert config["weights"] == f"weights-{config['weights_sha256'][:16]}.safetensors"


def test_nothing_is_pickled(saved):
    """Two files: JSON, and tensors in the safetensors format, which holds nothing else."""
    assert sorted(path.name for path in saved.iterdir()) == [CONFIG, weights_in(saved).name]
    content = weights_in(saved).read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    size = max(entry["data_offsets"][1] for entry in header.values())
    assert len(content) == 8 + int.from_bytes(content[:8], "little") + size


def test_others_may_read_it(saved):
    assert saved.stat().st_mode & 0o777 == 0o755
    assert all(path.stat().st_mode & 0o044 == 0o044 for path in saved.iterdir())
