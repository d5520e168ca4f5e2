"""Time and memory: the best of alternating repetitions, what a step takes, and a limit before the system must kill."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor, nn

PROCESS = Path("/proc/self")  # Linux; elsewhere most of a process's memory is not known


def best_times(
    *sides: Callable[[], object], seconds: float, rounds: int = 3, turn: float = 0.0, limit: float = float("inf")
) -> list[float]:
    """The best time of each side, measured in turns.

    Args:
        sides: what is measured; noise meets them all, since they take turns.
        seconds: go on for so long, for `rounds` rounds at least.
        turn: seconds that a side runs before the other has its turn, once at least; then its best is a warm one.
        limit: begin no further round after so many seconds, however few there were.
    """
    best, done, began = [float("inf")] * len(sides), 0, time.perf_counter()
    while done < rounds or time.perf_counter() - began < seconds:
        for index, side in enumerate(sides):
            turn_began = started = time.perf_counter()
            while True:
                side()
                now = time.perf_counter()
                best[index] = min(best[index], now - started)
                if now - turn_began >= turn:
                    break
                started = time.perf_counter()
        done += 1
        if time.perf_counter() - began > limit:
            break
    return best


def peak_memory() -> float | None:
    """The largest resident memory of this process so far, in MB; None where the system does not say."""
    own = _status("VmHWM")  # what `getrusage` says on Linux begins with the peak of the process that started this one
    if own is not None:
        return round(own, 1)
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10), 1)


def resident_memory() -> float | None:
    """What this process has in memory now, in MB; None where the system does not say."""
    return _status("VmRSS")


def memory_growth(call: Callable[[], object], before: float | None = None) -> float | None:
    """By how many MB the peak of a call is above what was in memory before; None where the system does not say."""
    before = resident_memory() if before is None else before
    _restart_peak()
    call()
    peak = _status("VmHWM")
    return None if before is None or peak is None else peak - before


def limit_memory(share: float) -> None:
    """Let an allocation beyond a share of what is available fail, before the system must kill something.

    If it must, then rather this process than another.
    """
    with suppress(OSError):
        (PROCESS / "oom_score_adj").write_text("1000")
    with suppress(ImportError, OSError, ValueError, StopIteration):  # where there is no such limit
        import resource

        lines = Path("/proc/meminfo").read_text().splitlines()
        available = next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
        most = int(share * 1024 * available)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def is_out_of_memory(error: Exception) -> bool:
    """Whether an allocation has failed."""
    return isinstance(error, MemoryError) or "can't allocate memory" in str(error)


def count_multiplications(model: "nn.Module", x: "Tensor") -> int:
    """Those of a forward pass in matrix products and convolutions; tensors without memory (`meta`) will do."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    # On a processor the fused kernel of attention would count as nothing.
    with FlopCounterMode(display=False) as counter, torch.no_grad(), sdpa_kernel(SDPBackend.MATH):
        model(x)
    return counter.get_total_flops() // 2


def matrix_speed(size: int = 768, repeats: int = 4) -> float:
    """Multiplications a second of this machine's matrix product on one thread."""
    import torch

    with on_threads(1):
        a = torch.randn(size, size)
        (best,) = best_times(lambda: a @ a, seconds=0.0, rounds=repeats)
    return size**3 / best


@contextmanager
def on_threads(count: int | None) -> Iterator[None]:
    """With so many threads of torch, or those there are; on a busy machine one is measured more surely than two."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(threads if count is None else count)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _restart_peak() -> None:
    with suppress(OSError):
        (PROCESS / "clear_refs").write_text("5")


def _status(name: str) -> float | None:
    """A field of the system's account of this process, in MB; None where there is none."""
    with suppress(OSError):
        for line in (PROCESS / "status").read_text().splitlines():
            if line.startswith(name):
                return int(line.split()[1]) / 1024
    return None
