"""One stage of a case in a process of its own: the memory it takes, and its time beside OLinear's."""

import gc
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from olinear.bench.costs.cases import Case, Stage, reference_case
from olinear.bench.costs.counting import build, example
from olinear.bench.run.worker import end_with_the_parent
from olinear.models.zoo import square_images

PROCESS = Path("/proc/self")  # Linux; elsewhere memory is not measured
STARTING = 180.0  # seconds for a process to import torch and build a model
IN_A_ROW = 0.25  # seconds that a side runs before the other has its turn
LEAST_ROUNDS = 3
SLOW = 10.0  # seconds of a call that is not repeated: noise is a small part of it
SPARE = 0.9  # share of the memory available that a process may take
OUT_OF_MEMORY = "out of memory"


@dataclass(frozen=True)
class Budget:
    """How long a stage is measured for, and how long one call may take, in seconds."""

    seconds: float = 3.0
    call: float = 120.0


@dataclass(frozen=True)
class Told:
    """What a process tells: what it found, that it failed, or for how many seconds it will now be silent."""

    found: dict[str, float] = field(default_factory=dict)
    error: str = ""
    silence: float = 0.0
    done: bool = False


def measure(case: Case, stage: Stage, threads: int, budget: Budget, channel: Any) -> None:
    """Measure a stage, and tell `channel` (the end of a pipe) what is found when it is found."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which ends this process
    end_with_the_parent()
    _limit_memory()
    torch.set_num_threads(threads)
    try:
        _measure(case, stage, budget, channel.send)
    except Exception as error:
        channel.send(Told(error=_in_words(error)))
    else:
        channel.send(Told(done=True))


@square_images()
def _measure(case: Case, stage: Stage, budget: Budget, tell: Callable[[Told], None]) -> None:
    make = training_step if stage == "training" else inference
    warm_up(make)
    before = _memory("VmRSS")
    call = make(build(case), case)
    # The optimizer makes its state in the first step: only the second has everything in memory at once.
    for _ in range(2 if stage == "training" else 1):
        tell(Told(silence=budget.call))
        started = time.perf_counter()
        _restart_peak()
        call()
        took = time.perf_counter() - started
    peak = _memory("VmHWM")
    if before is not None and peak is not None:
        tell(Told({f"{stage}_memory_mb": peak - before}))
    tell(Told(silence=STARTING))
    reference = make(build(reference_case(case)), case)
    tell(Told(silence=budget.call + 3 * (LEAST_ROUNDS * budget.seconds + took)))
    theirs, *further = best_times(reference, *([] if took > SLOW else [call]), seconds=budget.seconds)
    ours = min([took, *further])
    milliseconds = {f"{stage}_ms": 1e3 * ours, f"reference_{stage}_ms": 1e3 * theirs}
    tell(Told(milliseconds | {f"{stage}_ratio": ours / theirs}))


def training_step(model: nn.Module, case: Case) -> Callable[[], None]:
    """Forward, loss, backward, Adam."""
    model.train()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)
    x, y = example(case)

    def step() -> None:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()

    return step


def inference(model: nn.Module, case: Case) -> Callable[[], None]:
    """A forward pass without gradients."""
    model.eval()
    x, _ = example(case)

    @torch.inference_mode()
    def forward() -> None:
        model(x)

    return forward


def warm_up(make: Callable[[nn.Module, Case], Callable[[], None]]) -> None:
    """Let torch load and set up what any model needs, so that it is not counted as this one's."""
    case = Case("", "", series=8, batch=64)

    class Small(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(case.lookback, case.horizon)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.linear(x.mT).mT

    make(Small(), case)()
    gc.collect()


def best_times(*sides: Callable[[], None], seconds: float) -> list[float]:
    """The best time of each side, measured in turns for about `seconds`, each some times in a row."""
    best, rounds, began = [float("inf")] * len(sides), 0, time.perf_counter()
    while rounds < LEAST_ROUNDS or time.perf_counter() - began < seconds:
        for index, side in enumerate(sides):
            turn = time.perf_counter()
            while (started := time.perf_counter()) - turn < IN_A_ROW:
                side()
                best[index] = min(best[index], time.perf_counter() - started)
        rounds += 1
        if time.perf_counter() - began > LEAST_ROUNDS * seconds:  # a slow one: noise is a small part of it
            break
    return best


def _in_words(error: Exception) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, MemoryError) or "can't allocate memory" in text:
        return f"{OUT_OF_MEMORY}: {text}"
    return f"{type(error).__name__}: {text}"


def _limit_memory() -> None:
    """Let an allocation fail here before the system must kill something, and then rather this than anything else."""
    with suppress(OSError):
        (PROCESS / "oom_score_adj").write_text("1000")
    with suppress(ImportError, OSError, ValueError, StopIteration):  # where there is no such limit
        import resource

        lines = Path("/proc/meminfo").read_text().splitlines()
        available = next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
        most = int(SPARE * 1024 * available)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _restart_peak() -> None:
    with suppress(OSError):
        (PROCESS / "clear_refs").write_text("5")


def _memory(name: str) -> float | None:
    """A field of the system's account of this process, in MB; None where there is none."""
    with suppress(OSError):
        for line in (PROCESS / "status").read_text().splitlines():
            if line.startswith(name):
                return int(line.split()[1]) / 1024
    return None
