"""A checkpoint whose checksum is right and which no run has written, and one whose place is no place for a file."""

import os

import pytest
import torch
from test_resume import Stop, run
from training_parts import small_olinear

from olinear.core.errors import CheckpointError, OutputError
from olinear.training.checkpoints import claim_checkpoint, load_checkpoint, save_checkpoint


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """The checkpoint of a run that was stopped in its second epoch."""
    path = tmp_path_factory.mktemp("stopped") / "run"
    with pytest.raises(Stop):
        run(small_olinear(), path, stop_at=10)
    return path


@pytest.mark.parametrize(
    "changes",
    [
        {"epoch": -(10**9)},
        {"epoch": 10**9},
        {"step": 10**9},
        {"step": 0.5},
        {"total_steps": 10**400},
        {"loss_sum": [1.0]},
        {"best_epoch": 7},
        {"history": []},
        {"history": [{"epoch": 1.0}]},
        {"seconds": None},
    ],
    ids=str,
)
def test_a_place_where_no_run_can_stand_is_refused(stopped, tmp_path, changes):
    """It would go on for ever, or raise somewhere in the middle."""
    tensors, record = load_checkpoint(stopped)
    record["position"] |= changes
    save_checkpoint(tmp_path / "run", tensors, record)
    with pytest.raises(CheckpointError, match="start again"):
        run(small_olinear(), tmp_path / "run")


@pytest.mark.parametrize("record", [{}, {"config": 3}, {"config": {}, "data": [1]}, {"position": None}], ids=str)
def test_a_record_of_another_kind_is_refused(stopped, tmp_path, record):
    tensors, sound = load_checkpoint(stopped)
    save_checkpoint(tmp_path / "run", tensors, (sound | record) if record else record)
    with pytest.raises(CheckpointError, match="start again"):
        run(small_olinear(), tmp_path / "run")


def first_of(tensors, kind):
    return next(name for name in sorted(tensors) if name.startswith(kind) and tensors[name].dim())


@pytest.mark.parametrize("kind", ["model/", "best/", "average/", "optimizer."])
@pytest.mark.parametrize("change", ["empty", "longer", "gone"])
def test_tensors_of_another_shape_are_refused_before_it_goes_on(stopped, tmp_path, kind, change):
    """Also those that are only needed at the end of it."""
    tensors, record = load_checkpoint(stopped)
    name = first_of(tensors, kind)
    old = tensors.pop(name)
    if change != "gone":
        tensors[name] = old[:0].clone() if change == "empty" else torch.cat([old, old])
    save_checkpoint(tmp_path / "run", tensors, record)
    with pytest.raises(CheckpointError, match="start again"):
        run(small_olinear(), tmp_path / "run")


def test_an_enormous_file_is_not_read(stopped, tmp_path):
    """Though it takes no room on the disk, it would take room in memory."""
    (tmp_path / "run").write_bytes(stopped.read_bytes())
    os.truncate(tmp_path / "run", 2**40)
    with pytest.raises(CheckpointError, match="larger than it says"):
        load_checkpoint(tmp_path / "run")


def test_a_link_that_leads_nowhere_is_refused_when_it_is_written(tmp_path):
    """And nothing raises another kind of error before."""
    path = tmp_path / "file"
    path.symlink_to(path)
    with claim_checkpoint(path), pytest.raises(OutputError, match="symbolic links"):
        save_checkpoint(path, {"a": torch.zeros(2)}, {})
