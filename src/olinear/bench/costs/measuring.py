"""One stage of a case in a process of its own: the memory it takes, and its time next to OLinear's."""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn

from olinear.bench.costs.cases import Case, Stage, reference_case
from olinear.bench.costs.counting import build, example
from olinear.core.runtime import Send, best_times, is_out_of_memory, limit_memory, memory_growth, resident_memory
from olinear.models.zoo import square_images

STARTING = 180.0  # seconds for a process to import torch and build a model
TURN = 0.25  # seconds that a side runs before the other has its turn
ROUNDS = 3  # at the least
SLOW = 10.0  # seconds of a call that is not repeated: noise is a small part of it
SPARE = 0.9  # share of the memory available that a process may take
OUT_OF_MEMORY = "out of memory"


@dataclass(frozen=True)
class Budget:
    """How long a stage is measured for, and how long one call may take, in seconds."""

    seconds: float = 3.0
    call: float = 120.0


@dataclass(frozen=True)
class Measured:
    """What a process says: what it found, why it failed, or for how many seconds it will now be silent."""

    found: dict[str, float] = field(default_factory=dict)
    error: str = ""
    silence: float = 0.0


def measure(case: Case, stage: Stage, budget: Budget, send: Send) -> None:
    """Measure a stage, and send what is found when it is found."""
    limit_memory(SPARE)
    try:
        _measure(case, stage, budget, send)
    except Exception as error:
        send(Measured(error=_in_words(error)))


@square_images()
def _measure(case: Case, stage: Stage, budget: Budget, send: Send) -> None:
    make = training_step if stage == "training" else inference
    warm_up(make)
    before = resident_memory()
    call = make(build(case), case)
    # The optimizer makes its state in the first step: only the second has everything in memory at once.
    for _ in range(2 if stage == "training" else 1):
        send(Measured(silence=budget.call))
        started = time.perf_counter()
        memory = memory_growth(call, before)
        took = time.perf_counter() - started
    if memory is not None:
        send(Measured({f"{stage}_memory_mb": memory}))
    send(Measured(silence=STARTING))
    reference = make(build(reference_case(case)), case)
    send(Measured(silence=budget.call + 3 * (ROUNDS * budget.seconds + took)))
    sides = [reference, *([] if took > SLOW else [call])]
    seconds = budget.seconds
    theirs, *further = best_times(*sides, seconds=seconds, rounds=ROUNDS, turn=TURN, limit=ROUNDS * seconds)
    ours = min([took, *further])
    milliseconds = {f"{stage}_ms": 1e3 * ours, f"reference_{stage}_ms": 1e3 * theirs}
    send(Measured(milliseconds | {f"{stage}_ratio": ours / theirs}))


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


def _in_words(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{OUT_OF_MEMORY}: {text}" if is_out_of_memory(error) else f"{type(error).__name__}: {text}"
