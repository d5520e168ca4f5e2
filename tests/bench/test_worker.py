"""What one worker does with its job and tells of it, seen from within; the processes are in test_pool."""

import logging
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from bench_parts import POWER, result
from filelock import FileLock

from olinear.bench.run import worker
from olinear.bench.run.running import Outcome
from olinear.bench.run.worker import Message, work
from olinear.bench.store.results import add_row, finished, read_errors, read_results
from olinear.core.errors import CheckpointError, DataError

LOGGER = logging.getLogger("olinear.training")
ROW = replace(result(POWER, 0.25), best_epoch=2, epochs=7, seconds=3.5)


class Channel(list[Message]):
    send = list.append


@pytest.fixture
def told():
    """The channel of a worker; what a process of its own would keep to itself is put back."""
    handler, handlers, level = signal.getsignal(signal.SIGINT), LOGGER.handlers[:], LOGGER.level
    yield Channel()
    signal.signal(signal.SIGINT, handler)
    LOGGER.handlers[:] = handlers
    LOGGER.setLevel(level)
    torch.set_num_threads(1)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The checkpoints of the jobs that were run; each is done at once."""
    checkpoints: list[Path] = []

    def run(job, data, checkpoint):
        checkpoints.append(checkpoint)
        checkpoint.touch()
        LOGGER.info("epoch 1/7")
        return Outcome(ROW, {"windows": []}, np.float32([0.5, 0.25]))

    monkeypatch.setattr(worker, "run_job", run)
    return checkpoints


def test_done(tmp_path, told, runs):
    """The row and the forecasts are there, the checkpoint is not, and every epoch was told."""
    work(POWER, tmp_path, None, 1, told)
    assert told == [
        Message(POWER, "epoch", "epoch 1/7"),
        Message(POWER, "done", "MSE 0.2500, MAE 0.2500, epoch 2 of 7", 3.5),
    ]
    assert read_results(tmp_path) == [ROW]
    assert (tmp_path / "forecasts" / f"{POWER.name}.json").read_text() == '{"windows": []}'
    assert read_errors(tmp_path, POWER).tolist() == [0.5, 0.25]
    assert not runs[0].exists()


def test_its_threads_and_signals(tmp_path, told, runs):
    """Ctrl-C is for the parent."""
    work(POWER, tmp_path, None, 2, told)
    assert torch.get_num_threads() == 2
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN


def test_what_is_finished_is_not_done_again(tmp_path, told, runs):
    add_row(tmp_path, ROW)
    work(POWER, tmp_path, None, 1, told)
    assert told == [Message(POWER, "busy")]
    assert runs == []


def test_what_another_process_has_is_left_to_it(tmp_path, told, runs):
    (tmp_path / ".runs").mkdir()
    with FileLock(tmp_path / ".runs" / f"{POWER.name}.lock"):
        work(POWER, tmp_path, None, 1, told)
    assert told == [Message(POWER, "busy")]
    assert runs == []
    work(POWER, tmp_path, None, 1, told)
    assert told[-1].kind == "done"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (DataError("no\nrows"), "no rows"),
        (ZeroDivisionError("division by zero"), "ZeroDivisionError: division by zero"),
        (MemoryError(), "MemoryError:"),
    ],
    ids=repr,
)
def test_failures(tmp_path, told, monkeypatch, error, text):
    """Recorded and told in the same words, ours as they are, others with their kind; tried again the next time."""

    def fail(*_):
        raise error

    monkeypatch.setattr(worker, "run_job", fail)
    work(POWER, tmp_path, None, 1, told)
    assert told == [Message(POWER, "failed", text)]
    assert [(row.job, row.error, row.mse) for row in read_results(tmp_path)] == [(POWER, text, None)]
    assert finished(tmp_path) == set()


def test_a_checkpoint_that_cannot_be_used_is_begun_anew(tmp_path, told, monkeypatch):
    """It would fail again at every start otherwise, and no option of the command could help."""
    seen = []

    def run(job, data, checkpoint):
        seen.append(checkpoint.exists())
        if checkpoint.exists():
            raise CheckpointError("it is of other data")
        return Outcome(ROW)

    monkeypatch.setattr(worker, "run_job", run)
    (tmp_path / ".runs").mkdir()
    (tmp_path / ".runs" / f"{POWER.name}.safetensors").touch()
    work(POWER, tmp_path, None, 1, told)
    assert seen == [True, False]
    assert told[-1].kind == "done"


def test_a_parent_that_listens_no_more_does_not_fail_the_job(tmp_path, told, runs):
    """The training must not end with a broken pipe: the worker is about to end, and its job to be taken up again."""

    class Broken(Channel):
        def send(self, message: Message) -> None:
            if message.kind == "epoch":
                raise BrokenPipeError
            self.append(message)

    channel = Broken()
    work(POWER, tmp_path, None, 1, channel)
    assert [message.kind for message in channel] == ["done"]
