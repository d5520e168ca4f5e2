"""Worker processes: a function of a module in a process of its own, which says how it goes through its own pipe."""

import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import Any, Generic, TypeVar

from olinear.core.errors import OLinearError
from olinear.core.runtime.script import script_hidden

POLL = 0.2  # seconds that a pool waits for news
Send = Callable[[Any], None]


@dataclass(frozen=True)
class LogLine:
    """A line that the worker logged."""

    text: str


@dataclass(frozen=True)
class Ended:
    """How a worker ended; `error` is empty if it ended well."""

    error: str = ""
    killed: bool = False  # it ended without a word, for want of memory for instance


class LogForwarder(logging.Handler):
    """Passes log lines on."""

    def __init__(self, send: Send):
        super().__init__(logging.INFO)
        self.send = send

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError):  # nobody listens any more: `end_with_the_parent` sees to that
            self.send(LogLine(record.getMessage()))


class Worker:
    """A function at work in a process of its own.

    Its pipe is its own too, so that one killed while it writes leaves the others unharmed.

    Args:
        function: of a module, called as `function(*arguments, send)`; `send` takes whatever can be pickled.
        threads: of torch in the process; None leaves them as they are.
        logger: name of a logger whose lines are sent on.
        context: how processes are started; from nothing if left out.
        script: whether the process begins with the main module, from which what it is given may come.
    """

    def __init__(
        self,
        function: Callable[..., None],
        arguments: Sequence[Any] = (),
        *,
        threads: int | None = None,
        logger: str = "",
        context: Any = None,
        script: bool = True,
    ):
        context = context or multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe(duplex=False)
        given = (dict(os.environ), function, tuple(arguments), threads, logger, theirs)
        self.process: Any = context.Process(target=begin, args=given, daemon=True)
        with interrupts_held(), nullcontext() if script else script_hidden():
            self.process.start()
        theirs.close()
        self.started = time.monotonic()

    def receive(self, timeout: float | None = None) -> Any:
        """What it sends next, a `LogLine`, or `Ended`; a TimeoutError if nothing comes in time."""
        if not self.connection.poll(timeout):
            raise TimeoutError(f"the worker was silent for {timeout:g} seconds")
        try:
            return self.connection.recv()
        except (EOFError, OSError):
            self.process.join()
            code = self.process.exitcode
            return Ended(f"its process ended with code {code} (killed, or out of memory?)", killed=True)

    def stop(self) -> None:
        """End it, whatever it does."""
        self.process.kill()
        self.process.join()
        self.connection.close()


def begin(environment: dict[str, str], *given: Any) -> None:
    """First in a worker's process: a fork server still has the environment of when it was started."""
    os.environ.clear()
    os.environ.update(environment)
    run_function(*given)


def run_function(
    function: Callable[..., None], arguments: Sequence[Any], threads: int | None, logger: str, pipe: Any
) -> None:
    """What a worker's process does: the function, and a word at the end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which ends its workers
    end_with_the_parent()
    if threads is not None:
        import torch

        torch.set_num_threads(threads)
    if logger:
        logging.getLogger(logger).setLevel(logging.INFO)
        logging.getLogger(logger).addHandler(LogForwarder(pipe.send))
    try:
        function(*arguments, pipe.send)
    except Exception as error:
        pipe.send(Ended(describe_error(error)))
    else:
        pipe.send(Ended())


def describe_error(error: Exception) -> str:
    """An error in one line: ours as it is, others with their kind."""
    text = str(error) if isinstance(error, OLinearError) else f"{type(error).__name__}: {error}"
    return " ".join(text.split())


def fork_server(modules: Sequence[str]) -> Any:
    """How to start processes that have some modules imported already; from nothing where that cannot be had.

    Each is forked from a server that has imported them and computed nothing, so that nothing of one job, its memory and
    its random state least of all, reaches the next. A module that computes while it is imported must not be among them:
    threads do not survive a fork.
    """
    if sys.platform == "darwin" or "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")  # Windows cannot fork; the libraries of macOS do not bear it
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(modules))
    return context


def start_server(context: Any) -> None:
    """Return when a fork server has imported what it is to import; a server that fails is seen by the first worker."""
    with suppress(EOFError, OSError), interrupts_held():
        process = context.Process(target=int, daemon=True)  # does nothing
        process.start()
        process.join()


def end_with_the_parent() -> None:
    """A worker whose parent was killed must not go on unseen."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Ctrl-C is for this process: a child begun meanwhile never sees it, not even while it imports."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # started by the first child, it would let the signal through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# Many workers

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Assignment(Generic[Key]):
    """What a pool is to do, under a key of its own; `alone`, or with others."""

    key: Key
    function: Callable[..., None]
    arguments: tuple[Any, ...] = ()
    threads: int | None = None
    alone: bool = False


@dataclass(frozen=True)
class Started:
    """A worker begins."""


class WorkerPool(Generic[Key]):
    """Runs assignments in their order, several at a time or alone.

    Args:
        at_once: how many of those that need not be alone.
        logger: name of a logger whose lines the workers send on.
        context: how processes are started; from nothing if left out.
        script: whether they begin with the main module.
    """

    def __init__(self, at_once: int, *, logger: str = "", context: Any = None, script: bool = True):
        self.at_once, self.logger, self.context, self.script = at_once, logger, context, script
        self.running: dict[Key, tuple[Assignment[Key], Worker]] = {}

    def run(self, assignments: Iterable[Assignment[Key]]) -> Generator[tuple[Key, Any] | None, None, None]:
        """Each message of a worker with its key, between `Started` and `Ended`; None when none has come for a while.

        Closing the iterator ends the workers.
        """
        waiting = deque(assignments)
        if waiting:
            yield from self._warm_up()
        try:
            while waiting or self.running:
                while waiting and self._has_room(waiting[0]):
                    assignment = waiting.popleft()
                    self._start(assignment)
                    yield assignment.key, Started()
                yield from self._listen()
        finally:
            for _, worker in self.running.values():
                worker.stop()
            self.running.clear()

    def _warm_up(self) -> Iterator[None]:
        """Wait for a fork server, seconds the first time, in which the caller hears that there is no news."""
        if self.context is None or self.context.get_start_method() != "forkserver":
            return
        starting = threading.Thread(target=start_server, args=(self.context,), daemon=True)
        starting.start()
        while starting.is_alive():
            starting.join(POLL)
            yield None

    def _has_room(self, assignment: Assignment[Key]) -> bool:
        alone = assignment.alone or any(other.alone for other, _ in self.running.values())
        return len(self.running) < (1 if alone else self.at_once)

    def _start(self, assignment: Assignment[Key]) -> None:
        options: dict[str, Any] = {"logger": self.logger, "context": self.context, "script": self.script}
        options["threads"] = assignment.threads
        self.running[assignment.key] = assignment, Worker(assignment.function, assignment.arguments, **options)

    def _listen(self) -> Iterator[tuple[Key, Any] | None]:
        """What has come, waiting a little for the first; the pipe of a killed worker is at its end."""
        keys = {worker.connection: key for key, (_, worker) in self.running.items()}
        ready = wait(list(keys), POLL)
        if not ready:
            yield None
        for connection in ready:
            key = keys[connection]
            worker = self.running[key][1]
            message = worker.receive()
            if isinstance(message, Ended):
                self._reap(key)
            yield key, message

    def _reap(self, key: Key) -> None:
        """Put a finished worker away."""
        worker = self.running.pop(key)[1]
        worker.process.join()
        worker.connection.close()
