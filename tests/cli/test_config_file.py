"""Settings from a file: what it sets arrives, the command line comes before it, and it can be written."""

import tomllib

from cli_parts import SMALL, done, refused, strict_json

from olinear.forecaster import Forecaster

FIT = """
[task]
horizon = 4
lookback = 12

[model]
model_dim = 8
embed_dim = 2
head = "linear"
options = { affine = false }

[training]
max_epochs = 1
clip_norm = 1.0
average_decay = 0.9
"""


def test_a_file_takes_the_place_of_options(tmp_path, data):
    config = tmp_path / "fit.toml"
    config.write_text(FIT)
    done("fit", data, "--config", config, "--out", tmp_path / "model", "--no-progress")
    report = Forecaster.load(tmp_path / "model").report()
    expected = {"horizon": 4, "lookback": 12, "embed_dim": 2, "head": "linear", "clip_norm": 1.0, "average_decay": 0.9}
    assert expected.items() <= report.items()
    assert report["options"] == {"affine": False}


def test_the_command_line_comes_before_the_file(tmp_path, data):
    config = tmp_path / "fit.toml"
    config.write_text(FIT)
    arguments = ("--config", config, "-h", 3, "--embed-dim", 1, "--out", tmp_path / "model", "--json")
    report = strict_json(done("fit", data, *arguments).out)
    assert (report["horizon"], report["embed_dim"], report["lookback"]) == (3, 1, 12)


def test_what_is_written_fits_the_same_model(tmp_path, data):
    """Chosen for the data, so that the file holds every choice; and nothing is fitted meanwhile."""
    config = tmp_path / "fit.toml"
    arguments = ("-h", 4, *SMALL, "--dropout", 0.3, "--mixer", "linear")
    done("fit", data, *arguments, "--write-config", config, "--out", tmp_path / "none")
    assert not (tmp_path / "none").exists()
    written = tomllib.loads(config.read_text())
    assert written["model"]["dropout"] == 0.3
    assert "batch_size" in written["training"]
    done("fit", data, *arguments, "--out", tmp_path / "one")
    done("fit", data, "--config", config, "--out", tmp_path / "two")
    assert done("predict", tmp_path / "one").out == done("predict", tmp_path / "two").out


def test_without_data_only_what_is_given_is_written(tmp_path):
    config = tmp_path / "fit.toml"
    done("fit", "-h", 4, "--refit", "--write-config", config)
    assert tomllib.loads(config.read_text()) == {"task": {"horizon": 4}, "validation": {"refit": True}}


def test_what_is_missing_is_named(tmp_path, data):
    assert "horizon" in refused("fit", data, "--out", tmp_path / "model")
    assert "no data" in refused("fit", "-h", 4)
    assert "cannot be read" in refused("fit", data, "--config", tmp_path / "none.toml")


def test_all_settings_are_listed():
    lines = done("settings").out.splitlines()
    assert any("training.clip_norm" in line and "--clip-norm" in line for line in lines)
    schema = strict_json(done("settings", "--json").out)
    assert schema["$defs"]["TaskSettings"]["properties"]["horizon"]["minimum"] == 1
