"""What one worker does with its job and says of it, seen from within; the processes are in test_pool."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bench_parts import POWER, result
from filelock import FileLock

from olinear.bench.run import worker
from olinear.bench.run.running import Outcome
from olinear.bench.run.worker import Message, work
from olinear.bench.spec.jobs import recipe
from olinear.bench.store.results import add_row, finished, read_errors, read_results
from olinear.core.errors import CheckpointError, DataError

RECIPE = recipe(POWER)
ROW = replace(result(POWER, 0.25), best_epoch=2, epochs=7, seconds=3.5)


@pytest.fixture
def sent() -> list[Message]:
    """What a worker has sent."""
    return []


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The checkpoints of the jobs that were run; each is done at once."""
    checkpoints: list[Path] = []

    def run(job, recipe, data, checkpoint):
        checkpoints.append(checkpoint)
        checkpoint.touch()
        return Outcome(ROW, {"windows": []}, np.float32([0.5, 0.25]))

    monkeypatch.setattr(worker, "run_job", run)
    return checkpoints


def test_done(tmp_path, sent, runs):
    """The row and the forecasts are there, the checkpoint is not."""
    work(POWER, RECIPE, tmp_path, None, sent.append)
    assert sent == [Message(POWER, "done", "MSE 0.2500, MAE 0.2500, epoch 2 of 7", 3.5)]
    assert read_results(tmp_path) == [ROW]
    assert (tmp_path / "forecasts" / f"{POWER.name}.json").read_text() == '{"windows": []}'
    assert read_errors(tmp_path, POWER).tolist() == [0.5, 0.25]
    assert not runs[0].exists()


def test_what_is_finished_is_not_done_again(tmp_path, sent, runs):
    add_row(tmp_path, ROW)
    work(POWER, RECIPE, tmp_path, None, sent.append)
    assert sent == [Message(POWER, "busy")]
    assert runs == []


def test_what_another_process_has_is_left_to_it(tmp_path, sent, runs):
    (tmp_path / ".runs").mkdir()
    with FileLock(tmp_path / ".runs" / f"{POWER.name}.lock"):
        work(POWER, RECIPE, tmp_path, None, sent.append)
    assert sent == [Message(POWER, "busy")]
    assert runs == []
    work(POWER, RECIPE, tmp_path, None, sent.append)
    assert sent[-1].kind == "done"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (DataError("no\nrows"), "no rows"),
        (ZeroDivisionError("division by zero"), "ZeroDivisionError: division by zero"),
        (MemoryError(), "MemoryError:"),
    ],
    ids=repr,
)
def test_failures(tmp_path, sent, monkeypatch, error, text):
    """Recorded and sent in the same words, ours as they are, others with their kind; tried again the next time."""

    def fail(*_):
        raise error

    monkeypatch.setattr(worker, "run_job", fail)
    work(POWER, RECIPE, tmp_path, None, sent.append)
    assert sent == [Message(POWER, "failed", text)]
    assert [(row.job, row.error, row.mse) for row in read_results(tmp_path)] == [(POWER, text, None)]
    assert finished(tmp_path) == set()


def test_a_checkpoint_that_cannot_be_used_is_begun_anew(tmp_path, sent, monkeypatch):
    """It would fail again at every start otherwise, and no option of the command could help."""
    seen = []

    def run(job, recipe, data, checkpoint):
        seen.append(checkpoint.exists())
        if checkpoint.exists():
            raise CheckpointError("it is of other data")
        return Outcome(ROW)

    monkeypatch.setattr(worker, "run_job", run)
    (tmp_path / ".runs").mkdir()
    (tmp_path / ".runs" / f"{POWER.name}.safetensors").touch()
    work(POWER, RECIPE, tmp_path, None, sent.append)
    assert seen == [True, False]
    assert sent[-1].kind == "done"
