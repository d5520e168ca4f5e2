"""What is refused when a model folder is loaded: absent, damaged, foreign or edited by hand."""

import hashlib
import json
import os
import re
import shutil
from pathlib import Path

import pytest
import torch
from forecaster_parts import ABSENT, CONFIG, edit, small, weights_in
from safetensors.torch import load_file, save, save_file

from olinear.core.errors import CheckpointError, OutputError
from olinear.data.frames.numbered import USUAL
from olinear.forecaster import Forecaster


def put_weights(folder: Path, tensors: dict[str, torch.Tensor]) -> None:
    """Other weights with the right checksum."""
    put_content(folder, save(tensors))


def put_content(folder: Path, content: bytes) -> None:
    weights_in(folder).write_bytes(content)
    edit(folder, weights_sha256=hashlib.sha256(content).hexdigest())


def refusal(folder: Path) -> str:
    with pytest.raises(CheckpointError) as caught:
        Forecaster.load(folder)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400
    return message


def test_no_folder(tmp_path):
    assert "not a model folder" in refusal(tmp_path / "nothing")


def test_an_empty_folder(tmp_path):
    assert re.search(r"not a model folder.*config\.json", refusal(tmp_path))


def test_a_file_instead_of_a_folder(tmp_path):
    (tmp_path / "model").write_text("x")
    assert "not a model folder" in refusal(tmp_path / "model")


@pytest.mark.parametrize("which", ["config", "weights"])
def test_a_missing_file_is_named(copy, which):
    path = copy / CONFIG if which == "config" else weights_in(copy)
    path.unlink()
    assert path.name in refusal(copy)


@pytest.mark.parametrize("keep", [0, 7, 300, -1])
def test_truncated_weights(copy, keep):
    content = weights_in(copy).read_bytes()
    weights_in(copy).write_bytes(content[:keep])
    assert "damaged or from another model" in refusal(copy)


def test_one_bit_of_the_weights(copy):
    content = bytearray(weights_in(copy).read_bytes())
    content[-1] ^= 1
    weights_in(copy).write_bytes(content)
    assert "damaged or from another model" in refusal(copy)


def test_weights_of_another_model(copy, frame, tmp_path):
    small(seed=1).fit(frame).save(tmp_path / "other")
    shutil.copy(weights_in(tmp_path / "other"), weights_in(copy))
    assert "damaged or from another model" in refusal(copy)


def test_garbage_with_the_right_checksum(copy):
    put_content(copy, b"garbage")
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
    edit(copy, format_version=6, invention=True)
    assert re.search(r"format 6.*1 to 5.*upgrade", refusal(copy))


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"invention": 1}, "invention"),
        ({"series": ABSENT}, "series"),
        ({"active": "yes"}, "active"),
        ({"settings": {"task": {"horizon": 4}}}, "lookback"),
        ({"format_version": "one"}, "format one"),
        ({"format_version": True}, "format True"),
        ({"format_version": 0}, "format 0"),
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
    tensors = load_file(weights_in(copy))
    put_weights(copy, tensors | {name: tensors[name][:-1].clone()})
    refusal(copy)


@pytest.mark.parametrize("name", ["scaler.mean", "model.encoder.weight", "context.times"])
def test_an_absent_tensor_is_named(copy, name):
    tensors = load_file(weights_in(copy))
    del tensors[name]
    put_weights(copy, tensors)
    assert name.removeprefix("model.") in refusal(copy)


def test_a_foreign_safetensors_file(copy, tmp_path):
    save_file({"weight": torch.zeros(2)}, tmp_path / "foreign")
    put_content(copy, (tmp_path / "foreign").read_bytes())
    assert "does not fit together" in refusal(copy)


# What stands in the place of a file


def put_in_place(path: Path, kind: str) -> None:
    path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "endless":
        path.symlink_to("/dev/zero")
    else:
        path.touch()
        os.truncate(path, 2**40)  # takes no room on the disk


@pytest.mark.parametrize("kind", ["folder", "pipe", "endless", "enormous"])
@pytest.mark.parametrize("which", ["config", "weights"])
def test_what_is_no_file_of_a_model_is_neither_waited_for_nor_read(copy, fitted, which, kind):
    """Nor when a model is saved over it: that makes the folder whole, or is refused."""
    path = copy / CONFIG if which == "config" else weights_in(copy)
    put_in_place(path, kind)
    refusal(copy)
    try:
        fitted.save(copy)
    except OutputError:
        assert kind != "enormous" or which == "config"
    else:
        assert Forecaster.load(copy).predict().equals(fitted.predict())


def test_tensors_that_say_they_are_enormous_are_not_read(copy):
    header = json.dumps({"a": {"dtype": "F32", "shape": [2**36], "data_offsets": [0, 2**38]}}).encode()
    path = weights_in(copy)
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    os.truncate(path, 2**40)
    assert "too large" in refusal(copy)


# Edits with the right checksum


@pytest.mark.parametrize(
    "changes",
    [
        {"notes": [{"text": "without a code"}]},
        {"notes": [{"code": "a", "text": "b", "about": 3}]},
        {"trained": {}},
        {"trained": {"first": "2024-01-01", "last": "yesterday", "rows": 130}},
        {"trained": {"first": "2024-01-01", "last": [True], "rows": 130}},
        {"trained": {"first": "2024-01-01", "last": "2024-01-06 08:00:00", "rows": 130}},
        {"trained": {"first": "2024-01-01", "last": "2024-01-06 09:00:00", "rows": "many"}},
        {"trained": {"first": "2024-01-01", "last": "2024-01-06 09:00:00", "rows": 3}},
        {"time_zone": "Europe/Berlin"},
        {"time_unit": "us" if USUAL == "ns" else "ns"},
    ],
    ids=str,
)
def test_what_it_says_of_its_rows_is_compared_with_them(copy, changes):
    """Every one of these came through and raised, or forecast other times."""
    edit(copy, **changes)
    assert "does not fit together" in refusal(copy)


@pytest.mark.parametrize(("name", "value"), [("numbered", True), ("backend", "polars")])
def test_a_frame_that_cannot_be_made_is_found_when_it_is_loaded(copy, name, value):
    """Names that are no numbers; one that only pandas can hold."""
    config = json.loads((copy / CONFIG).read_text())
    style = config["style"] | {"layout": "long", name: value}
    edit(copy, style=style, series=["\ud800", *config["series"][1:]])
    assert "does not fit together" in refusal(copy)
