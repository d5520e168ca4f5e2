"""A model folder: what is in it, that it is whole or not there, and what is refused on the way back."""

import contextlib
import hashlib
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from forecaster_parts import KINDS, assert_same_frames, same_weights, small, to_long, waves, weights_of
from safetensors.torch import load_file, save, save_file

from olinear import __version__
from olinear.errors import CheckpointError, DataError, OutputError
from olinear.forecaster import Forecaster

CONFIG, WEIGHTS = "config.json", "weights.safetensors"
ABSENT = object()


@pytest.fixture(scope="module")
def saved(fitted, tmp_path_factory) -> Path:
    """The folder of `fitted`; nobody may change it."""
    folder = tmp_path_factory.mktemp("saved") / "model"
    fitted.save(folder)
    return folder


@pytest.fixture
def copy(saved, tmp_path) -> Path:
    """A folder to do damage to."""
    return Path(shutil.copytree(saved, tmp_path / "model"))


def edit(folder: Path, **changes: object) -> None:
    """Change keys of config.json; ABSENT takes one out."""
    config = json.loads((folder / CONFIG).read_text()) | changes
    (folder / CONFIG).write_text(json.dumps({key: value for key, value in config.items() if value is not ABSENT}))


def put_weights(folder: Path, tensors: dict[str, torch.Tensor]) -> None:
    """Other weights with the right checksum."""
    content = save(tensors)
    (folder / WEIGHTS).write_bytes(content)
    edit(folder, weights_sha256=hashlib.sha256(content).hexdigest())


def refusal(folder: Path) -> str:
    with pytest.raises(CheckpointError) as caught:
        Forecaster.load(folder)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400
    return message


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
    assert not [name for name in load_file(tmp_path / "model" / WEIGHTS) if name.startswith("context")]
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
    assert (config["format"], config["format_version"]) == ("olinear-model", 1)
    assert config["settings"] == fitted.fitted.settings.model_dump()
    assert config["settings"]["training"]["seed"] == 0
    assert config["series"] == ["a", "b", "c"]
    assert config["frequency"] == {"step": "h", "kind": "calendar"}
    trained = config["trained"]
    assert (trained["first"], trained["last"], trained["rows"]) == ("2024-01-01 00:00:00", "2024-01-06 09:00:00", 130)
    assert trained["validation_loss"] == fitted.report()["validation_loss"]
    assert config["versions"]["olinear"] == __version__
    assert {"torch", "numpy", "python"} <= config["versions"].keys()
    assert config["weights_sha256"] == hashlib.sha256((saved / WEIGHTS).read_bytes()).hexdigest()


def test_nothing_is_pickled(saved):
    """Two files: JSON, and tensors in the safetensors format, which holds nothing else."""
    assert sorted(path.name for path in saved.iterdir()) == [CONFIG, WEIGHTS]
    content = (saved / WEIGHTS).read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    size = max(entry["data_offsets"][1] for entry in header.values())
    assert len(content) == 8 + int.from_bytes(content[:8], "little") + size


def test_others_may_read_it(saved):
    assert saved.stat().st_mode & 0o777 == 0o755
    assert all(path.stat().st_mode & 0o044 == 0o044 for path in saved.iterdir())


# Saving


def test_an_older_model_is_replaced(copy, frame):
    other = small(seed=1).fit(frame)
    other.save(copy)
    assert_same_frames(Forecaster.load(copy).predict(), other.predict())
    assert [path.name for path in copy.parent.iterdir()] == ["model"]


def test_missing_parents_are_made(tmp_path, fitted):
    fitted.save(tmp_path / "some" / "where" / "model")
    assert_same_frames(Forecaster.load(tmp_path / "some" / "where" / "model").predict(), fitted.predict())


def test_a_link_to_a_model_can_be_saved_to_or_is_refused(copy, fitted):
    """In both cases nothing is left lying beside it."""
    link = copy.parent / "link"
    link.symlink_to(copy)
    with contextlib.suppress(OutputError):
        fitted.save(link)
    assert sorted(path.name for path in copy.parent.iterdir()) == ["link", "model"]
    assert_same_frames(Forecaster.load(link).predict(), fitted.predict())


@pytest.mark.parametrize("moment", ["write_bytes", "write_text", "chmod", "rename", "replace"])
def test_a_failure_midway_leaves_the_old_model_whole(copy, frame, saved, monkeypatch, moment):
    """A full disk at any step: the old model is still there, and nothing beside it."""
    other = small(seed=1).fit(frame)

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    real = getattr(Path, moment)
    with monkeypatch.context() as patch:
        calls = []

        def once(path, *arguments, **options):
            calls.append(path)
            return fail() if len(calls) == 1 else real(path, *arguments, **options)

        patch.setattr(Path, moment, once)
        with pytest.raises(OutputError, match="No space left on device"):
            other.save(copy)
    assert [path.name for path in copy.parent.iterdir()] == ["model"]
    for name in (CONFIG, WEIGHTS):
        assert (copy / name).read_bytes() == (saved / name).read_bytes()


def test_an_interrupt_midway_leaves_the_old_model_whole(copy, fitted, saved, monkeypatch):
    """Ctrl-C in the moment between the old folder's leaving and the new one's coming."""
    real, calls = Path.rename, []

    def once(path, target):
        calls.append(path)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return real(path, target)

    monkeypatch.setattr(Path, "rename", once)
    with pytest.raises(KeyboardInterrupt):
        fitted.save(copy)
    assert (copy / WEIGHTS).read_bytes() == (saved / WEIGHTS).read_bytes()
    assert [path.name for path in copy.parent.iterdir()] == ["model"]


def test_a_new_model_is_whole_or_not_there(tmp_path, fitted, monkeypatch):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(OutputError):
        fitted.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_is_taken(tmp_path, fitted):
    (tmp_path / "model").mkdir()
    fitted.save(tmp_path / "model")
    assert_same_frames(Forecaster.load(tmp_path / "model").predict(), fitted.predict())


@pytest.mark.parametrize("files", [["thesis.txt"], ["config.json", "thesis.txt"]])
def test_somebodys_folder_is_never_replaced(tmp_path, fitted, files):
    """config.json is a usual name: only one that says it is of this library makes a folder a model."""
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in files:
        (folder / name).write_text('{"name": "mine"}')
    with pytest.raises(OutputError, match="not a model folder"):
        fitted.save(folder)
    assert sorted(path.name for path in folder.iterdir()) == sorted(files)


def test_a_file_is_never_replaced(tmp_path, fitted):
    (tmp_path / "model").write_text("mine")
    with pytest.raises(OutputError, match="it is a file"):
        fitted.save(tmp_path / "model")
    with pytest.raises(OutputError):
        fitted.save(tmp_path / "model" / "inside")
    assert (tmp_path / "model").read_text() == "mine"


# Loading what is not whole


def test_no_folder(tmp_path):
    assert "not a model folder" in refusal(tmp_path / "nothing")


def test_an_empty_folder(tmp_path):
    assert re.search(r"not a model folder.*config\.json", refusal(tmp_path))


def test_a_file_instead_of_a_folder(tmp_path):
    (tmp_path / "model").write_text("x")
    assert "not a model folder" in refusal(tmp_path / "model")


@pytest.mark.parametrize("name", [CONFIG, WEIGHTS])
def test_a_missing_file_is_named(copy, name):
    (copy / name).unlink()
    assert name in refusal(copy)


@pytest.mark.parametrize("keep", [0, 7, 300, -1])
def test_truncated_weights(copy, keep):
    content = (copy / WEIGHTS).read_bytes()
    (copy / WEIGHTS).write_bytes(content[:keep])
    assert "damaged or from another model" in refusal(copy)


def test_one_bit_of_the_weights(copy):
    content = bytearray((copy / WEIGHTS).read_bytes())
    content[-1] ^= 1
    (copy / WEIGHTS).write_bytes(content)
    assert "damaged or from another model" in refusal(copy)


def test_weights_of_another_model(copy, frame, tmp_path):
    small(seed=1).fit(frame).save(tmp_path / "other")
    shutil.copy(tmp_path / "other" / WEIGHTS, copy / WEIGHTS)
    assert "damaged or from another model" in refusal(copy)


def test_garbage_with_the_right_checksum(copy):
    (copy / WEIGHTS).write_bytes(b"garbage")
    edit(copy, weights_sha256=hashlib.sha256(b"garbage").hexdigest())
    assert "cannot be read as a model" in refusal(copy)


@pytest.mark.parametrize("content", ["", "{", "not json", "[" * 100_000, b"\xff\xfe\x00"])
def test_a_configuration_that_is_not_json(copy, content):
    (copy / CONFIG).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert "cannot be read as a model" in refusal(copy)


@pytest.mark.parametrize("content", ["{}", "[]", "null", '{"format": "other", "format_version": 1}'])
def test_a_configuration_of_another_kind(copy, content):
    (copy / CONFIG).write_text(content)
    assert "not an olinear model" in refusal(copy)


def test_a_later_format_says_upgrade(copy):
    """Also if it has keys that are not known yet: the version is looked at first."""
    edit(copy, format_version=2, invention=True)
    assert re.search(r"format 2.*up to 1.*upgrade", refusal(copy))


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"invention": 1}, "invention"),
        ({"series": ABSENT}, "series"),
        ({"active": "yes"}, "active"),
        ({"settings": {"horizon": 4}}, "lookback"),
        ({"format_version": "one"}, "format one"),
    ],
)
def test_a_configuration_that_does_not_fit_names_the_key(copy, changes, named):
    edit(copy, **changes)
    assert named in refusal(copy)


@pytest.mark.parametrize(
    "changes",
    [
        {"series": ["a", "b"]},
        {"series": ["a", "b", "c", "d"]},
        {"active": [True, True]},
        {"active": [True, True, False]},
        {"active": [True, True, True, True]},
        {"frequency": {"step": "fortnight", "kind": "calendar"}},
        {"frequency": {"step": "h", "kind": "lunar"}},
        {"frequency": {"pace": "h"}},
        {"style": {"backend": "excel"}},
        {"style": {"colour": "red"}},
        {"time_zone": "Mars/Olympus"},
    ],
    ids=str,
)
def test_parts_that_do_not_fit_together(copy, changes):
    """Found when it is loaded, not as a shape error in the middle of a forecast."""
    edit(copy, **changes)
    refusal(copy)


@pytest.mark.parametrize(
    "name",
    ["scaler.mean", "scaler.deviation", "model.extension", "intervals.quantiles", "context.values", "context.times"],
)
def test_tensors_of_another_shape(copy, name):
    """With the right checksum, as after a hand-made change."""
    tensors = load_file(copy / WEIGHTS)
    put_weights(copy, tensors | {name: tensors[name][:-1].clone()})
    refusal(copy)


@pytest.mark.parametrize("name", ["scaler.mean", "model.encoder.weight", "context.times"])
def test_an_absent_tensor_is_named(copy, name):
    tensors = load_file(copy / WEIGHTS)
    del tensors[name]
    put_weights(copy, tensors)
    assert name.removeprefix("model.") in refusal(copy)


def test_a_foreign_safetensors_file(copy, tmp_path):
    save_file({"weight": torch.zeros(2)}, tmp_path / "foreign")
    content = (tmp_path / "foreign").read_bytes()
    (copy / WEIGHTS).write_bytes(content)
    edit(copy, weights_sha256=hashlib.sha256(content).hexdigest())
    assert "does not fit together" in refusal(copy)
