"""The file of a run: exact, atomic, and never a way to run foreign code."""

import ast
import json
import os
import threading
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from safetensors.torch import save_file

import olinear
from olinear.core.errors import CheckpointError, OutputError
from olinear.training import checkpoints
from olinear.training.checkpoints import claim_checkpoint, load_checkpoint, save_checkpoint

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


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "file"
    tensors = {"a": torch.arange(3.0), "b": torch.tensor(7), "c": torch.ones(2, 0), "d": torch.tensor([True, False])}
    save_checkpoint(path, tensors, {"loss": float("inf"), "config": {"seed": 3}})
    return path.read_bytes()


def contents(path: Path) -> tuple[dict[str, list], dict]:
    tensors, record = load_checkpoint(path)
    return {name: [tensor.dtype, tensor.shape, tensor.tolist()] for name, tensor in tensors.items()}, record


@settings(max_examples=300)
@given(data=st.data())
def test_any_bit_that_is_turned_is_refused_or_changes_nothing(tmp_path_factory, whole, data):
    """A space in the header may change; a number, a name, a shape and the record may not."""
    path = tmp_path_factory.getbasetemp() / "bit"
    path.write_bytes(whole)
    expected = contents(path)
    place = data.draw(st.integers(0, 8 * len(whole) - 1))
    turned = bytearray(whole)
    turned[place // 8] ^= 1 << place % 8
    path.write_bytes(turned)
    found = contents_or_refusal(path)
    if isinstance(found, str):
        assert "start again without resume=True" in found
        assert "--resume" in found
        assert "\n" not in found
    else:
        assert found == expected


def contents_or_refusal(path: Path) -> tuple[dict[str, list], dict] | str:
    try:
        return contents(path)
    except CheckpointError as error:
        return str(error)


def header_of(content: bytes) -> tuple[dict, bytes]:
    size = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + size]), content[8 + size :]


def with_header(header: dict, rest: bytes) -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + rest


def swap_tensors(header: dict) -> None:
    header["a"], header["e"] = header["e"], header["a"]


def change_record(header: dict) -> None:
    header["__metadata__"]["record"] = header["__metadata__"]["record"].replace("3", "4")


def reshape(header: dict) -> None:
    header["a"]["shape"] = [3, 1]


def reread(header: dict) -> None:
    header["a"]["dtype"] = "I32"


def drop_checksum(header: dict) -> None:
    del header["__metadata__"]["checksum"]


@pytest.mark.parametrize("change", [swap_tensors, change_record, reshape, reread, drop_checksum])
def test_an_edited_header_is_refused(tmp_path, change):
    """Each is a sound file of its kind."""
    path = tmp_path / "file"
    save_checkpoint(path, {"a": torch.zeros(3), "e": torch.ones(3)}, {"seed": 3})
    header, rest = header_of(path.read_bytes())
    path.write_bytes(with_header(header, rest))
    load_checkpoint(path)
    change(header)
    path.write_bytes(with_header(header, rest))
    with pytest.raises(CheckpointError, match="start again"):
        load_checkpoint(path)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CheckpointError, match="cannot be read"):
        load_checkpoint(tmp_path / "pipe")


# One run at a time


def test_a_second_run_is_refused_and_leaves_the_file_alone(kept):
    content = kept.read_bytes()
    caught: list[Exception] = []

    def second() -> None:
        try:
            with claim_checkpoint(kept):
                save_new(kept)
        except OutputError as error:
            caught.append(error)

    with claim_checkpoint(kept):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
    assert str(caught[0]).startswith(f"{kept} is in use by a fit that is still running: wait for it, or")
    assert kept.read_bytes() == content
    with claim_checkpoint(kept):
        save_new(kept)
    assert list(kept.parent.iterdir()) == [kept]


def test_a_run_within_the_claim_is_part_of_it(kept):
    """A fit claims its checkpoint until the model is saved; the training in it claims it too."""
    with claim_checkpoint(kept):
        with claim_checkpoint(kept):
            save_new(kept)
        assert (kept.parent / "file.lock").exists()
    with claim_checkpoint(None):
        pass


def test_what_a_killed_run_left_blocks_nobody_and_is_cleared(kept):
    (kept.parent / "file.lock").touch()
    (kept.parent / f".file.{'0' * 12}.part").write_bytes(b"half")
    with claim_checkpoint(kept):
        save_new(kept)
    assert list(kept.parent.iterdir()) == [kept]


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
