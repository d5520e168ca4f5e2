"""The sides of a comparison, each in a process of its own, measured in turns.

One allocator, one pool of threads and one cache of kernels for all would let one side live on what another has set up.
"""

import multiprocessing
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

THREADS = 2
TURN = 0.4  # seconds that a side runs before the next has its turn

_held: list[AbstractContextManager[object]] = []


class Side:
    """`make(*arguments)` gives a call; its process repeats it on demand."""

    def __init__(self, make: Callable[..., Callable[[], object]], *arguments: Any):
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_repeat, args=(theirs, make, arguments), daemon=True)
        self.process.start()
        theirs.close()

    def best(self, seconds: float) -> float:
        """The best time of one call within so many seconds, one call at least."""
        self.pipe.send(seconds)
        found: float = self.pipe.recv()
        return found

    def end(self) -> None:
        self.process.kill()
        self.process.join()


def best_of(sides: Sequence[tuple[Any, ...]], seconds: float, rounds: int = 4) -> list[float]:
    """The best time of each side `(make, *arguments)`, in turns for so many seconds, `rounds` at the least."""
    running: list[Side] = []
    try:
        for side in sides:
            running.append(Side(*side))
            running[-1].best(0.0)  # alone: what it chooses by measuring, it chooses here
        best, done, began = [float("inf")] * len(running), 0, time.perf_counter()
        while done < rounds or time.perf_counter() - began < seconds:
            best = [min(before, side.best(TURN)) for before, side in zip(best, running, strict=True)]
            done += 1
        return best
    finally:
        for side in running:
            side.end()


def hold(*contexts: AbstractContextManager[object]) -> None:
    """Enter what is to last as long as the process; let go, it would end at once."""
    for context in contexts:
        _held.append(context)
        context.__enter__()


def _repeat(pipe: Any, make: Callable[..., Callable[[], object]], arguments: tuple[Any, ...]) -> None:
    import torch

    torch.set_num_threads(THREADS)
    call = make(*arguments)
    while True:
        seconds, best, began = pipe.recv(), float("inf"), time.perf_counter()
        while best == float("inf") or time.perf_counter() - began < seconds:
            started = time.perf_counter()
            call()
            best = min(best, time.perf_counter() - started)
        pipe.send(best)
