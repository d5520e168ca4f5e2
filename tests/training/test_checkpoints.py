"""The file of a run: exact, atomic, and never a way to run foreign code."""

import ast
import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from safetensors.torch import save_file

import olinear
from olinear.core.errors import CheckpointError
from olinear.training import checkpoints
from olinear.training.checkpoints import load_checkpoint, save_checkpoint

tensors = st.sampled_from([np.float32, np.float64, np.int64, np.uint8, np.bool_]).flatmap(
    lambda dtype: arrays(dtype, array_shapes(min_dims=0, max_dims=3, max_side=4))
)
numbers = st.one_of(st.integers(), st.floats(allow_nan=False), st.booleans(), st.none(), st.text())
records = st.dictionaries(st.text(), st.one_of(numbers, st.lists(numbers, max_size=3)), max_size=4)


@settings(max_examples=40)
@given(held=st.dictionaries(st.sampled_from("abcd"), tensors, max_size=4), record=records)
def test_the_round_trip_is_exact(tmp_path_factory, held, record):
    """Infinite floats (no best loss yet) and every last bit included."""
    path = tmp_path_factory.mktemp("round") / "file"
    save_checkpoint(path, {name: torch.from_numpy(array) for name, array in held.items()}, record)
    tensors, found = load_checkpoint(path)
    assert found == record
    assert tensors.keys() == held.keys()
    for name, array in held.items():
        assert tensors[name].numpy().dtype == array.dtype
        assert tensors[name].shape == array.shape
        assert tensors[name].numpy().tobytes() == array.tobytes()


def test_views_and_gradients_are_stored_plainly(tmp_path):
    matrix = torch.arange(6.0).view(2, 3).requires_grad_()
    save_checkpoint(tmp_path / "file", {"transposed": matrix.T}, {})
    loaded = load_checkpoint(tmp_path / "file")[0]["transposed"]
    assert torch.equal(loaded, matrix.T)
    assert not loaded.requires_grad


def test_missing_folders_are_made_and_no_other_file_is_left(tmp_path):
    path = tmp_path / "runs" / "first" / "file.safetensors"
    save_checkpoint(path, {"a": torch.ones(2)}, {})
    assert list(path.parent.iterdir()) == [path]


class Crash(BaseException):
    pass


def half_written(tensors, path, metadata):
    path.write_bytes(b"half of a fi")
    raise Crash


@pytest.fixture
def kept(tmp_path) -> Path:
    path = tmp_path / "file"
    save_checkpoint(path, {"a": torch.ones(2)}, {"version": "old"})
    return path


def save_new(path: Path) -> None:
    save_checkpoint(path, {"a": torch.zeros(2)}, {"version": "new"})


@pytest.mark.parametrize("moment", ["writing", "syncing", "renaming"])
def test_a_crash_while_saving_leaves_the_old_file(kept, monkeypatch, moment):
    """A run must never lose what it had to what it was about to have."""

    def crash(*_):
        raise Crash

    with monkeypatch.context() as patch:
        if moment == "writing":
            patch.setattr(checkpoints, "save_file", half_written)
        elif moment == "syncing":
            patch.setattr(os, "fsync", crash)
        else:
            patch.setattr(Path, "replace", crash)
        with pytest.raises(Crash):
            save_new(kept)
    tensors, record = load_checkpoint(kept)
    assert record == {"version": "old"}
    assert torch.equal(tensors["a"], torch.ones(2))
    save_new(kept)  # the remains of the crash are no hindrance
    assert load_checkpoint(kept)[1] == {"version": "new"}


def test_data_is_on_disk_before_the_name_is(kept, monkeypatch):
    """A rename that reaches the disk before the data would leave an empty file after a power cut."""
    order = []
    replace, fsync = Path.replace, os.fsync
    monkeypatch.setattr(os, "fsync", lambda number: (order.append("sync"), fsync(number)))
    monkeypatch.setattr(Path, "replace", lambda self, to: (order.append("rename"), replace(self, to))[1])
    save_new(kept)
    assert order == ["sync", "rename"]


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.6, 0.99])
def test_a_truncated_file_is_refused(kept, share):
    content = kept.read_bytes()
    kept.write_bytes(content[: int(share * len(content))])
    with pytest.raises(CheckpointError, match="cannot be read as a checkpoint"):
        load_checkpoint(kept)


def test_an_absent_file_is_refused(tmp_path):
    with pytest.raises(CheckpointError, match="nowhere"):
        load_checkpoint(tmp_path / "nowhere")


@pytest.mark.parametrize(
    "content", [b"time,value\n1,2\n", b"\x80\x04K\x01.", b"\0" * 64], ids=["csv", "pickle", "zero"]
)
def test_a_foreign_file_is_refused(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match="cannot be read"):
        load_checkpoint(path)


@pytest.mark.parametrize("header", [None, {"format": "pt"}, {"format": "olinear-checkpoint-0", "record": "{}"}])
def test_foreign_safetensors_are_refused(tmp_path, header):
    save_file({"a": torch.ones(2)}, tmp_path / "file", metadata=header)
    with pytest.raises(CheckpointError, match="not a checkpoint of this version"):
        load_checkpoint(tmp_path / "file")


@pytest.mark.parametrize("header", [{"record": "{half"}, {}], ids=["broken", "absent"])
def test_a_damaged_record_is_refused(tmp_path, header):
    save_file({"a": torch.ones(2)}, tmp_path / "file", metadata={"format": checkpoints.FORMAT} | header)
    with pytest.raises(CheckpointError):
        load_checkpoint(tmp_path / "file")


def test_the_record_is_plain_json(kept):
    size = int.from_bytes(kept.read_bytes()[:8], "little")
    header = json.loads(kept.read_bytes()[8 : 8 + size])
    assert json.loads(header["__metadata__"]["record"]) == {"version": "old"}


def test_nothing_in_the_package_unpickles():
    """A checkpoint from a stranger must not be able to run code."""
    package = Path(olinear.__file__).parent
    files = list(package.rglob("*.py"))
    assert len(files) > 10
    unpicklers = {"pickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
    forbidden_calls = {"torch.load", "torch.save", "pd.read_pickle", "np.load", "numpy.load"}
    for file in files:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        unpickling_off = {
            node.func
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and ast.unparse(node.func) == "np.load"
            and "allow_pickle=False" in map(ast.unparse, node.keywords)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                imported = {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported = {(node.module or "").split(".")[0]}
                assert not (node.module == "torch" and {alias.name for alias in node.names} & {"load", "save"}), file
            else:
                imported = set()
            assert not imported & unpicklers, file
            if isinstance(node, ast.Attribute) and node not in unpickling_off:
                assert ast.unparse(node) not in forbidden_calls, file
