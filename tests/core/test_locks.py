"""A lock is held by one process at a time, and ends with it."""

import multiprocessing
import threading
import time
from pathlib import Path

import pytest

from olinear.core.runtime import hold


def test_a_second_one_is_refused_or_waits(tmp_path):
    path = tmp_path / "lock"
    with hold(path), pytest.raises(TimeoutError), hold(path):
        raise AssertionError("two hold it")
    began = time.monotonic()
    with hold(path), pytest.raises(TimeoutError), hold(path, wait=0.2):
        raise AssertionError("two hold it")
    assert time.monotonic() - began >= 0.2


def test_nothing_is_left(tmp_path):
    with pytest.raises(ValueError, match="inside"), hold(tmp_path / "lock"):
        raise ValueError("inside")
    assert list(tmp_path.iterdir()) == []


def _hold_for_ever(path: Path, held: "multiprocessing.synchronize.Event") -> None:
    with hold(path):
        held.set()
        time.sleep(600)


def test_the_lock_of_a_killed_process_blocks_nobody(tmp_path):
    context = multiprocessing.get_context("spawn")
    held = context.Event()
    process = context.Process(target=_hold_for_ever, args=(tmp_path / "lock", held))
    process.start()
    assert held.wait(60)
    with pytest.raises(TimeoutError), hold(tmp_path / "lock"):
        raise AssertionError("two hold it")
    process.kill()
    process.join()
    assert (tmp_path / "lock").exists()
    with hold(tmp_path / "lock"):
        pass


def test_only_one_is_inside_at_any_moment(tmp_path):
    """Though each removes the file of the lock when it leaves."""
    inside, most = [], []

    def enter() -> None:
        for _ in range(50):
            with hold(tmp_path / "lock", wait=60):
                inside.append(1)
                most.append(len(inside))
                time.sleep(0.0005)
                inside.pop()

    threads = [threading.Thread(target=enter) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 200
    assert max(most) == 1
