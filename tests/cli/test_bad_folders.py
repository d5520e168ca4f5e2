"""A model folder that is none, an output that cannot be written: exit code 2, one line, nothing written."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from cli_parts import SMALL, call, listing, refused

from olinear.forecaster import Forecaster

# Model folders


def weights_in(folder: Path) -> Path:
    return next(folder.glob("weights-*.safetensors"))


def damage_nothing_there(folder: Path) -> None:
    shutil.rmtree(folder)


def damage_weights_cut(folder: Path) -> None:
    path = weights_in(folder)
    path.write_bytes(path.read_bytes()[:-100])


def damage_weights_absent(folder: Path) -> None:
    weights_in(folder).unlink()


def damage_config_absent(folder: Path) -> None:
    (folder / "config.json").unlink()


def damage_config_foreign(folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "other"}')


def damage_config_broken(folder: Path) -> None:
    (folder / "config.json").write_text('{"format": "olin')


def damage_config_newer(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"format_version": 99}))


def damage_config_edited(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    config["settings"]["model"]["model_dim"] = 9
    (folder / "config.json").write_text(json.dumps(config))


DAMAGES = {
    damage_nothing_there: "not a model folder",
    damage_weights_cut: "damaged",
    damage_weights_absent: "no weights-",
    damage_config_absent: "config.json",
    damage_config_foreign: "not an olinear model",
    damage_config_broken: "cannot be read",
    damage_config_newer: "upgrade",
    damage_config_edited: "not as it was saved",
}


@pytest.mark.parametrize("command", ["predict", "backtest", "inspect"])
@pytest.mark.parametrize(("damage", "words"), DAMAGES.items(), ids=lambda value: getattr(value, "__name__", None))
def test_a_folder_that_is_no_model(tmp_path, model, data, command, damage, words):
    folder = shutil.copytree(model, tmp_path / "model")
    damage(folder)
    arguments = {"predict": ["--out", tmp_path / "f.csv"], "backtest": [data], "inspect": []}[command]
    message = refused(command, folder, *arguments)
    if not (command == "inspect" and damage is damage_nothing_there):  # that is taken for a data file
        assert words in message
    assert not (tmp_path / "f.csv").exists()


# Outputs that cannot be written, found before any work is done


@pytest.mark.parametrize("option", ["--out", "--plot"])
@pytest.mark.parametrize("where", ["none/f.png", "."])
def test_predict_looks_at_its_outputs_first(tmp_path, option, where):
    """Before it looks at the model, which is not there either."""
    message = refused("predict", tmp_path / "no model", option, tmp_path / where)
    assert "cannot be written" in message


def test_backtest_and_inspect_look_at_their_outputs_first(tmp_path):
    assert "cannot be written" in refused(
        "backtest", tmp_path / "no", tmp_path / "no", "--out", tmp_path / "none" / "f.csv"
    )
    assert "cannot be written" in refused("inspect", tmp_path / "no", "--plot", tmp_path / "none" / "f.png")


@pytest.mark.parametrize("ending", ["xyz", "csv"])
@pytest.mark.parametrize("command", ["predict", "inspect"])
def test_a_picture_of_no_known_kind(tmp_path, model, command, ending):
    """And then the forecast is not written either."""
    outputs = ["--out", tmp_path / "f.csv"] if command == "predict" else []
    message = refused(command, model, "--plot", tmp_path / f"f.{ending}", *outputs)
    assert ".png" in message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("where", ["file", "file/model", "folder", "/", "x" * 300], ids=lambda name: name[:10])
def test_fit_looks_at_its_output_first(tmp_path, data, monkeypatch, where):
    """An hour of training must not end in 'cannot be written'."""
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "thesis.txt").write_text("mine")
    before = listing(tmp_path)

    def fail(*_, **__):
        raise AssertionError("training began")

    monkeypatch.setattr(Forecaster, "fit", fail)
    refused("fit", data, "-h", 4, "--out", tmp_path / where)
    assert listing(tmp_path) == before


def test_a_checkpoint_that_cannot_be_written(tmp_path, data):
    """A folder has its name; a full disk comes the same way."""
    (tmp_path / "model.checkpoint").mkdir()
    (tmp_path / "model.checkpoint" / "thesis.txt").write_text("mine")
    before = listing(tmp_path)
    refused("fit", data, "-h", 4, "--out", tmp_path / "model", *SMALL)
    assert listing(tmp_path) == before


@pytest.mark.parametrize("command", ["inspect", "predict"])
def test_a_name_no_file_can_have(tmp_path, command):
    """A pasted paragraph instead of a path."""
    refused(command, tmp_path / ("x" * 300))


def test_a_demo_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("mine")
    assert "cannot be made" in refused("demo", "--out", tmp_path / "file")


def test_a_picture_cannot_go_to_standard_output(tmp_path, model, monkeypatch):
    """`-` is standard output for a table; it must not become a file of that name."""
    monkeypatch.chdir(tmp_path)
    call("predict", model, "--plot", "-")
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_nothing_is_written(tmp_path, model, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    message = refused("predict", model, "--plot", tmp_path / "f.png", "--out", tmp_path / "f.csv")
    assert "pip install 'olinear[plot]'" in message
    assert list(tmp_path.iterdir()) == []
