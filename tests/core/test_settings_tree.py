"""One tree: the signature, the options, the file and the page all say the same, and all of it arrives."""

import inspect
import string
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from olinear.core import ConfigError
from olinear.core.settings import (
    REQUIRED,
    check_given,
    flatten,
    leaves,
    make_settings,
    read_settings,
    settings_page,
    write_settings,
)
from olinear.core.settings.sections import Loss, Optimizer, Schedule
from olinear.forecaster import Forecaster
from olinear.training import LOSSES, OPTIMIZERS, SCHEDULES

ROOT = Path(__file__).parents[2]
# A value of each setting that is not its default.
OTHERS = {
    "horizon": 5,
    "lookback": 9,
    "freq": "h",
    "time": "when",
    "id": "name",
    "value": "level",
    "series": ("a", "b, c"),
    "drop": ("d",),
    "time_format": "%d.%m.%Y",
    "dayfirst": True,
    "tz": "Europe/Berlin",
    "utc": True,
    "sep": ";",
    "decimal": ",",
    "thousands": ".",
    "encoding": "cp1252",
    "na": ("-9999", "x"),
    "skip_rows": 2,
    "header": False,
    "missing": "error",
    "model": "DLinear",
    "options": {"heads": 2, "norm": "layer", "deep": True, "share": 0.5},
    "basis": "haar",
    "model_dim": 6,
    "ff_dim": 7,
    "embed_dim": 3,
    "blocks": 0,
    "dropout": 0.0,
    "mixer": "linear",
    "rank": 2,
    "pre_linear": False,
    "post_linear": False,
    "temporal": "normlin",
    "head": "linear",
    "affine": False,
    "fold": False,
    "loss": "l2",
    "optimizer": "sgd",
    "weight_decay": 0.25,
    "learning_rate": 1e-3,
    "schedule": "cosine",
    "batch_size": 11,
    "max_epochs": 2,
    "epoch_steps": 5,
    "patience": 1,
    "clip_norm": 1.0,
    "average_decay": 0.9,
    "members": 2,
    "seed": 7,
    "device": "cpu",
    "precision": "bfloat16",
    "checkpoint_seconds": 1.5,
    "validation": 0.3,
    "refit": True,
    "holdout": 12,
    "bounds": "0,100",
    "point": "mean",
}


def test_the_signature_of_a_forecaster_is_the_tree():
    """Written out for people and editors, and never behind what can be set."""
    arguments = dict(list(inspect.signature(Forecaster).parameters.items()))
    arguments.pop("progress")  # how a fit is shown is no setting of it
    arguments.pop("renamed")
    assert arguments.keys() == leaves().keys()
    for name, leaf in leaves().items():
        default = inspect.Parameter.empty if leaf.default is REQUIRED else leaf.default
        assert arguments[name].default == (None if leaf.name == "options" else default), name


def test_choices_are_what_there_is():
    assert set(get_args(Loss)) == set(LOSSES)
    assert set(get_args(Schedule)) == set(SCHEDULES)
    assert set(get_args(Optimizer)) == set(OPTIMIZERS)


def test_every_setting_has_another_value_here():
    assert OTHERS.keys() == leaves().keys()
    for name, leaf in leaves().items():
        assert leaf.check(OTHERS[name]) == OTHERS[name] != leaf.default, name


def test_flat_and_nested_are_the_same():
    assert flatten(make_settings(OTHERS)) == OTHERS


def test_a_file_says_what_was_written(tmp_path):
    path = tmp_path / "fit.toml"
    write_settings(path, OTHERS)
    assert read_settings(path) == OTHERS
    write_settings(path, {"horizon": 4, "lookback": None})
    assert read_settings(path) == {"horizon": 4}


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
values = st.one_of(st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), text)


@given(st.dictionaries(st.text(string.ascii_letters + "_- é", min_size=1), values, max_size=4), text)
def test_any_option_and_any_name_survive_a_file(tmp_path_factory, options, name):
    path = tmp_path_factory.getbasetemp() / "any.toml"
    write_settings(path, {"horizon": 1, "time": name, "options": options})
    assert read_settings(path) == {"horizon": 1, "time": name} | ({"options": options} if options else {})


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("horizon = 3", ["'horizon' at its top", "task, reading, model"]),
        ("[tusk]\nhorizon = 3", ["'tusk'", "task"]),
        ("[task]\nhorizn = 3", ["task.horizn", "takes horizon, lookback"]),
        ("[task]\nhorizon = 0", ["horizon must be at least 1, found 0"]),
        ('[training]\nloss = "l3"', ["loss must be one of", "'l1'", "found 'l3'"]),
        ("[training]\nseed = true", ["seed must be a whole number, found True"]),
        ("[task", ["not TOML"]),
        ("task = 3", ["'task' at its top"]),
    ],
)
def test_a_file_that_is_wrong_says_where(tmp_path, content, words):
    path = tmp_path / "fit.toml"
    path.write_text(content)
    with pytest.raises(ConfigError) as caught:
        read_settings(path)
    assert str(path) in str(caught.value)
    for word in words:
        assert word in str(caught.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        read_settings(tmp_path / "none.toml")


def test_an_unknown_setting_is_told_the_known_ones():
    with pytest.raises(ConfigError, match="no setting is called lookbak, found 3: there are horizon, lookback"):
        check_given({"lookbak": 3})


def test_the_page_is_made_from_the_tree():
    """`olinear settings --markdown > docs/settings.md` renews it."""
    assert (ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == settings_page()
