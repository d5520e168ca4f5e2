"""Worker processes: what they send, how they end, and who runs beside whom; none of them knows of forecasting."""

import json
import logging
import multiprocessing
import os
import signal
import struct
import time
from contextlib import closing
from typing import Any

import pytest
import torch

from olinear.core.errors import DataError
from olinear.core.runtime import (
    Assignment,
    Ended,
    LogForwarder,
    LogLine,
    Send,
    Started,
    Worker,
    WorkerPool,
    fork_server,
)
from olinear.core.runtime.workers import describe_error, run_function

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
LOGGER = "olinear.tests"


@pytest.fixture(scope="module")
def context():
    """Processes that start in a moment."""
    return fork_server(["olinear.core.runtime.workers", "torch"])


def speak(word: str, send: Send) -> None:
    logging.getLogger(LOGGER).info("about to say %s", word)
    send(word)
    send(torch.get_num_threads())
    send(signal.getsignal(signal.SIGINT) == signal.SIG_IGN)


def fail(kind: str, send: Send) -> None:
    if kind == "ours":
        raise DataError("no\nrows")
    if kind == "another":
        raise ZeroDivisionError("by zero")
    if kind == "half":
        os.write(send.__self__.fileno(), struct.pack("!i", 1000) + b"half a message")
    if kind in ("half", "killed"):
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(3)


def sleep(send: Send) -> None:
    send("asleep")
    time.sleep(60)


def hear(worker: Worker) -> list[object]:
    """Everything it sends, to the end."""
    heard: list[object] = []
    while not heard or not isinstance(heard[-1], Ended):
        heard.append(worker.receive(120))
    worker.stop()
    return heard


def test_what_it_sends_and_logs_comes_in_order(context):
    """It has so many threads, and Ctrl-C is for its parent."""
    worker = Worker(speak, ("hello",), threads=3, logger=LOGGER, context=context)
    assert hear(worker) == [LogLine("about to say hello"), "hello", 3, True, Ended()]


@pytest.mark.parametrize(
    ("kind", "error", "killed"),
    [
        ("ours", "no rows", False),
        ("another", "ZeroDivisionError: by zero", False),
        ("half", "its process ended with code -9 (killed, or out of memory?)", True),
        ("killed", "its process ended with code -9 (killed, or out of memory?)", True),
        ("silent", "its process ended with code 3 (killed, or out of memory?)", True),
    ],
)
def test_however_it_ends_it_is_said(context, kind, error, killed):
    assert hear(Worker(fail, (kind,), context=context)) == [Ended(error, killed)]


def change_everything(send: Send) -> None:
    """Say what this process began with, and leave all of it otherwise, with memory taken and threads at work."""
    send((torch.get_num_threads(), torch.initial_seed(), os.environ.get("OLINEAR_TEST"), json.loads))
    torch.ones(20 * 2**18)
    torch.set_num_threads(3)
    torch.rand(512, 512) @ torch.rand(512, 512)
    torch.manual_seed(5)
    os.environ["OLINEAR_TEST"] = "another"
    json.loads = repr


def test_nothing_of_one_worker_reaches_the_next(context):
    first, second = (hear(Worker(change_everything, context=context)) for _ in range(2))
    assert first == second
    assert first[-1] == Ended()


def test_the_environment_is_that_of_now(context, monkeypatch):
    """Not that of when the server was started."""
    for value in ("one", "two"):
        monkeypatch.setenv("OLINEAR_TEST", value)
        assert hear(Worker(change_everything, context=context))[0][2] == value


def test_silence_is_an_error_and_a_stopped_worker_is_gone(context):
    worker = Worker(sleep, context=context)
    assert worker.receive(120) == "asleep"
    with pytest.raises(TimeoutError, match=r"silent for 0\.01 seconds"):
        worker.receive(0.01)
    worker.stop()
    assert not multiprocessing.active_children()


def test_a_process_from_nothing():
    """The usual way, which needs no fork: it imports what it runs."""
    assert hear(Worker(speak, ("hello",)))[0:1] == ["hello"]


def test_a_forwarder_that_nobody_hears_does_not_fail_the_work():
    def broken(message: object) -> None:
        raise BrokenPipeError

    LogForwarder(broken).emit(logging.makeLogRecord({"msg": "epoch 1"}))


def test_errors_in_one_line():
    assert describe_error(DataError("two\n  lines")) == "two lines"
    assert describe_error(MemoryError()) == "MemoryError:"


def test_the_end_is_sent_in_this_process_too():
    class Pipe(list[object]):
        send = list.append

    pipe, before = Pipe(), signal.getsignal(signal.SIGINT)
    try:
        run_function(lambda word, send: send(word), ("hello",), None, "", pipe)
    finally:
        signal.signal(signal.SIGINT, before)
    assert pipe == ["hello", Ended()]


# Pools


def note_times(send: Send) -> None:
    started = time.monotonic()
    time.sleep(0.3)
    send((started, time.monotonic()))


def spans(pool: WorkerPool[str], assignments: list[Assignment[str]]) -> dict[str, tuple[float, float]]:
    found = {}
    with closing(pool.run(assignments)) as messages:
        for message in messages:
            if message is not None and isinstance(message[1], tuple):
                found[message[0]] = message[1]
    return found


def overlap(first: tuple[float, float], second: tuple[float, float]) -> bool:
    return first[0] < second[1] and second[0] < first[1]


def test_some_at_once_and_some_alone(context):
    """Keys are whatever the caller calls its work by."""
    work = [Assignment(name, note_times, alone=name == "alone") for name in ("a", "b", "alone", "c")]
    found = spans(WorkerPool(2, context=context), work)
    assert set(found) == {"a", "b", "alone", "c"}
    assert not any(overlap(found["alone"], span) for name, span in found.items() if name != "alone")
    assert found["a"][0] < found["alone"][0] < found["c"][0]


def test_one_at_a_time(context):
    found = spans(WorkerPool(1, context=context), [Assignment(name, note_times) for name in "ab"])
    assert not overlap(found["a"], found["b"])


class SlowServer:
    """A fork server that takes a while to start."""

    def __init__(self, context: Any):
        self.context, self.until = context, time.monotonic() + 0.5

    def __getattr__(self, name: str) -> Any:
        return getattr(self.context, name)

    def Process(self, **options: Any) -> Any:  # as `multiprocessing` calls it
        time.sleep(max(self.until - time.monotonic(), 0.0))
        return self.context.Process(**options)


def test_a_pool_says_that_there_is_no_news_while_the_server_starts(context):
    """So that its caller can show something, stop when its time is up, and hear Ctrl-C."""
    if context.get_start_method() != "forkserver":
        pytest.skip("no fork server here")
    pool: WorkerPool[str] = WorkerPool(1, context=SlowServer(context))
    messages = list(pool.run([Assignment("a", speak, ("hello",))]))
    assert messages[:2] == [None, None]
    assert [message for message in messages if message][:2] == [("a", Started()), ("a", "hello")]
    assert list(pool.run([])) == []


def test_messages_are_between_start_and_end_and_a_killed_one_stops_nothing(context):
    pool: WorkerPool[int] = WorkerPool(1, logger=LOGGER, context=context)
    work = [Assignment(1, fail, ("killed",)), Assignment(2, speak, ("hello",), threads=1)]
    messages = [message for message in pool.run(work) if message is not None]
    assert [(key, type(message)) for key, message in messages[:2]] == [(1, Started), (1, Ended)]
    assert [message for key, message in messages if key == 2][1:] == [
        LogLine("about to say hello"), "hello", 1, True, Ended()
    ]  # fmt: skip
    assert pool.running == {}


def test_silence_is_passed_on_and_closing_ends_the_workers(context):
    pool: WorkerPool[str] = WorkerPool(2, context=context)
    with closing(pool.run([Assignment(name, sleep) for name in "ab"])) as messages:
        heard = []
        while heard[-1:] != [None] or len(heard) < 4:
            heard.append(next(messages))
        assert set(pool.running) == {"a", "b"}
    assert pool.running == {}
    assert not multiprocessing.active_children()
