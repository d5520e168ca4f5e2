"""Time is the best of turns, memory what a call adds, and multiplications are counted without memory."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

from olinear.core.runtime import (
    Send,
    Worker,
    best_times,
    count_multiplications,
    is_out_of_memory,
    matrix_speed,
    memory_growth,
    peak_memory,
    resident_memory,
)


def recorded(order: list[str], name: str, seconds: float) -> Callable[[], None]:
    def call() -> None:
        order.append(name)
        time.sleep(seconds)

    return call


def test_sides_take_turns_and_the_best_counts():
    order: list[str] = []
    sides = recorded(order, "slow", 0.02), recorded(order, "quick", 0.001)
    slow, quick = best_times(*sides, seconds=0.1, turn=0.01)
    assert slow >= 0.02
    assert 0.001 <= quick < slow
    turns = [name for name, before in zip(order, ["", *order], strict=False) if name != before]
    assert turns[:4] == ["slow", "quick", "slow", "quick"]
    assert order.count("quick") > order.count("slow")


def test_without_a_length_a_turn_is_one_call():
    order: list[str] = []
    best_times(recorded(order, "a", 0), recorded(order, "b", 0), seconds=0.0, rounds=3)
    assert order == ["a", "b"] * 3


def test_a_limit_stops_before_the_rounds_are_done():
    order: list[str] = []
    best_times(recorded(order, "a", 0.02), seconds=10.0, rounds=5, limit=0.01)
    assert order == ["a"]


def test_the_speed_of_a_machine():
    """Measured on one thread; the caller's threads are as before."""
    threads = torch.get_num_threads()
    assert 1e8 < matrix_speed(128, 2) < 1e13
    assert torch.get_num_threads() == threads


def grow(send: Send) -> None:
    """Sixty megabytes written at once, gone afterwards; then nothing, after a start five megabytes lower."""
    torch.ones(60 * 2**18)  # what torch itself needs is there
    send((memory_growth(lambda: torch.ones(60 * 2**18)), peak_memory()))
    send((memory_growth(lambda: None, resident_memory() - 5), peak_memory()))


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux")
def test_memory_of_a_call():
    """In a process of its own, which has no freed memory to use again, and whose peak is not that of this one."""
    held = torch.ones(400 * 2**18)
    worker = Worker(grow)
    (grown, peak), (nothing, _) = worker.receive(120), worker.receive(120)
    worker.stop()
    assert peak < peak_memory() - held.nbytes / 2**20 / 2
    assert 50 < grown < 100
    assert grown < peak
    assert nothing == pytest.approx(5, abs=3)


def test_want_of_memory():
    assert is_out_of_memory(MemoryError())
    assert is_out_of_memory(RuntimeError("[enforce fail at alloc_cpu.cpp] can't allocate memory: 1 byte"))
    assert not is_out_of_memory(ValueError("memory"))


def test_multiplications_need_no_memory():
    with torch.device("meta"):
        layer = nn.Linear(30, 40, bias=False)
        assert count_multiplications(layer, torch.empty(10**9, 30)) == 10**9 * 30 * 40
