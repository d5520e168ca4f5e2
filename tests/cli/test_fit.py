"""`olinear fit`: every option arrives, and what is stopped goes on."""

import re
import shutil
from inspect import signature

import pytest
from cli_parts import SMALL, call, done, read_csv, refused, strict_json

from olinear.cli.fit import fit
from olinear.cli.options import parse_options
from olinear.forecaster import Forecaster
from olinear.training import LOSSES, SCHEDULES, loop


def test_fit_for_machines(tmp_path, data):
    outcome = done("fit", data, "-h", 4, "--out", tmp_path / "model", "--json", "--seed", 5, "--refit", *SMALL)
    report = strict_json(outcome.out)
    assert (report["horizon"], report["lookback"], report["seed"], report["refit"]) == (4, 12, 5, True)
    assert report["model"] == str(tmp_path / "model")
    assert report["validation_loss"] > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model"]  # no checkpoint is left


def test_every_option_of_fit_arrives(tmp_path, data):
    options = {
        "lookback": 10,
        "missing": "error",
        "seed": 3,
        "model-dim": 6,
        "blocks": 2,
        "dropout": 0.0,
        "basis": "fourier",
        "max-epochs": 2,
        "batch-size": 20,
        "learning-rate": 0.002,
        "validation": 0.3,
        "patience": 1,
        "schedule": "cosine",
        "loss": "l2",
        "device": "cpu",
    }
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    done("fit", data, "-h", 4, "--out", tmp_path / "model", "--no-progress", "--freq", "h", *words)
    report = Forecaster.load(tmp_path / "model").report()
    for name, value in options.items():
        assert report[name.replace("-", "_")] == value


def test_options_of_another_model_arrive(tmp_path, data):
    """Whole numbers, others, yes or no, nothing, and names; with - or _, and beside an option of the command's own."""
    words = ["heads=2", "blocks=1", "patch-length=4", "stride=4", "head_dropout=1e-1", "residual_attention=false"]
    words += ["norm=layer", "final_norm=none", "patch_bias=True", "mixer = flowformer"]
    told = [part for word in words for part in ("--option", word)]
    folder = tmp_path / "model"
    done("fit", data, "-h", 4, "--model", "PatchTST", "--out", folder, *SMALL, *told)
    report = Forecaster.load(folder).report()
    assert report["model_dim"] == 8
    assert report["options"] == {
        "heads": 2,
        "blocks": 1,
        "patch_length": 4,
        "stride": 4,
        "head_dropout": 0.1,
        "residual_attention": False,
        "norm": "layer",
        "final_norm": None,
        "patch_bias": True,
        "mixer": "flowformer",
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8", 8),
        ("-1", -1),
        ("0.5", 0.5),
        (".5", 0.5),
        ("1e-4", 1e-4),
        ("2.", 2.0),
        ("TRUE", True),
        ("false", False),
        ("none", None),
        ("learnt", "learnt"),
        (" a b ", "a b"),
        ("x=y", "x=y"),
        ("", ""),
    ],
)
def test_what_an_option_says(text, value):
    found = parse_options([f"name={text}"])["name"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--model", "PatchTST", "--option", "heads"], ["NAME=VALUE", "heads=4", "found 'heads'"]),
        (["--model", "PatchTST", "--option", "=4"], ["NAME=VALUE", "found '=4'"]),
        (["--model", "PatchTST", "--option", "head=4"], ["PatchTST has no option 'head'", "patch_length, stride"]),
        (["--model", "PatchTST", "--option", "heads=2", "--option", "heads=4"], ["'heads' is given twice"]),
        (["--model", "PatchTST", "--model-dim", 8, "--option", "model_dim=4"], ["model_dim is given twice"]),
        (["--model", "PatchTST", "--option", "heads=0"], ["heads must be at least 1, found 0"]),
        (["--model", "PatchTST", "--option", "dropout=nan"], ["option 'dropout'", "cannot be saved"]),
        (["--model-dim", 8, "--option", "model_dim=4"], ["model_dim is given twice"]),
        (["--schedule", "never"], ["schedule", "'cosine'", "found 'never'"]),
        (["--loss", "l3"], ["loss", "'l1'", "found 'l3'"]),
        (["--patience", 0], ["patience", "found 0"]),
        (["--validation", 1], ["validation", "found 1"]),
    ],
    ids=lambda value: " ".join(map(str, value)) if value[0].startswith("--") else None,
)
def test_options_that_cannot_be(tmp_path, data, arguments, words):
    message = refused("fit", data, "-h", 4, "--lookback", 12, "--out", tmp_path / "model", *arguments)
    for word in words:
        assert word in message
    assert not list(tmp_path.iterdir())


def test_every_argument_of_a_forecaster_is_an_option():
    """What Python can choose, the command can."""
    arguments, options = signature(Forecaster).parameters, signature(fit).parameters
    assert {name for name in arguments if name not in options} == {"options", "renamed"}  # --option, one at a time
    assert "option" in options


def test_the_help_names_every_schedule_and_loss():
    """They are written there by hand: the help must not wait for torch to be imported."""
    shown = done("fit", "--help").out
    for name in (*SCHEDULES, *LOSSES):
        assert re.search(rf"\b{name}\b", shown), name


def test_the_default_folder_is_model(tmp_path, data, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done("fit", data, "-h", 4, *SMALL)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_an_older_model_is_replaced(tmp_path, data, model):
    folder = shutil.copytree(model, tmp_path / "model")
    done("fit", data, "-h", 2, "--out", folder, *SMALL)
    assert read_csv(done("predict", folder).out).shape[0] == 2


def test_without_context_the_rows_stay_at_home(tmp_path, data):
    done("fit", data, "-h", 4, "--no-context", "--out", tmp_path / "model", *SMALL)
    assert "without context" in refused("predict", tmp_path / "model")
    assert read_csv(done("predict", tmp_path / "model", data).out).shape == (4, 16)


def test_stopped_and_resumed(tmp_path, data, monkeypatch, caplog):
    """Ctrl-C exits with 130, leaves no model and says how to go on; --resume ends as if it never was."""
    arguments = ["fit", data, "-h", 4, "--out", tmp_path / "model", *SMALL[:4], "--max-epochs", 3]
    done(*arguments[:4], "--out", tmp_path / "whole", *arguments[6:])
    real, calls = loop._validate, []

    def stop(*values, **options):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*values, **options)

    with monkeypatch.context() as patch:
        patch.setattr(loop, "_validate", stop)
        stopped = call(*arguments)
    assert stopped.code == 130
    assert "--resume" in stopped.err
    assert "Traceback" not in stopped.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.checkpoint", "whole"]
    with caplog.at_level("INFO", "olinear.training"):
        done(*arguments, "--resume")
    assert "resumed" in caplog.text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "whole"]
    assert done("predict", tmp_path / "model").out == done("predict", tmp_path / "whole").out


def test_resume_of_another_run_is_refused(tmp_path, data, monkeypatch):
    arguments = ["fit", data, "-h", 4, "--out", tmp_path / "model", *SMALL[:4], "--max-epochs", 3]
    shuffled = loop._shuffled

    def stop(count, seed, epoch):
        if epoch == 2:
            raise KeyboardInterrupt
        return shuffled(count, seed, epoch)

    with monkeypatch.context() as patch:
        patch.setattr(loop, "_shuffled", stop)
        assert call(*arguments).code == 130
    assert "seed" in refused(*arguments, "--seed", 1, "--resume")
    assert [path.name for path in tmp_path.iterdir()] == ["model.checkpoint"]
