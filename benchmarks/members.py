"""What four members cost, as a ratio to one model: `make bench-members`. Writes benchmarks/results/members.csv.

Two ways are measured for a training step at width 512 and at the width that `Forecaster` takes for small data:

- side by side, as `Forecaster(members=4)` trains them: two at a time, each in a process with one thread, so that four
  take twice the time of such a pair;
- stacked: four models' step in one process, every product of matrices a batch of four (`torch.func.vmap`), in bfloat16
  where one model is trained in it too, otherwise in float32 by torch's kernels, since those of oneDNN take no batches.

Both are divided by one model's step on two threads, `precision="auto"`, all in one run. The products alone are what
four times those of one step would take at the machine's best kernel: less is not to be had.
"""

import csv
import sys
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import torch
from sides import Side, best_of, hold
from speed_cases import Case, Way, multiplications, product, training_step

from olinear.core.runtime import Precision, fitting_threads, keeping_memory

RESULTS = Path(__file__).parent / "results" / "members.csv"
MEMBERS, SECONDS = 4, 12.0
CASES = {Case(7, 32, 2, 96, 128): 2.5, Case(7, 32, 2, 96): 2.5, Case(137, 32, 2, 96): 3.2}


def step(case: Case, way: Way, threads: int) -> Callable[[], None]:
    """One model's step, on so many threads at the most, as its training has them."""
    run = training_step(case, way, threads)
    hold(fitting_threads(case.model(fold=True), torch.device("cpu")))
    return run


def stacked_step(case: Case, precision: Precision) -> Callable[[], None]:
    """The steps of all members at once. vmap cannot look at numbers, so that windows are normalised beforehand."""
    models = [case.model(fold=True).train() for _ in range(MEMBERS)]
    parameters, buffers = torch.func.stack_module_state(models)
    base = deepcopy(models[0]).to("meta")
    leaves = [parameter.detach().requires_grad_() for parameter in parameters.values()]
    named = dict(zip(parameters, leaves, strict=True))
    optimizer = torch.optim.Adam(leaves, lr=1e-4, fused=True)
    x, y = (each.expand(MEMBERS, *each.shape) for each in case.data())
    base.revin = Scaled()
    named = {name: value for name, value in named.items() if not name.startswith("revin")}
    hold(keeping_memory())

    def one(own: dict[str, torch.Tensor], fixed: dict[str, torch.Tensor], window: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = torch.func.functional_call(base, (own, fixed), (window,))
        return found

    together = torch.func.vmap(one, randomness="different")

    def run() -> None:
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bfloat16"):
            points = together(named, buffers, x)
        (points.float() - y).abs().mean().backward()
        optimizer.step()

    return run


class Scaled(torch.nn.Module):
    """In the place of RevIN, where windows come normalised: less work than ours has."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, None]:
        return x, None

    def inverse(self, y: torch.Tensor, stats: None) -> torch.Tensor:
        return y


def pair_seconds(case: Case, way: Way) -> float:
    """The best time in which two processes of one thread each do a step."""
    sides = [Side(step, case, way, 1) for _ in range(2)]
    try:
        for side in sides:
            side.best(0.0)
        best = float("inf")
        for _ in range(int(SECONDS)):
            for side in sides:
                side.pipe.send(1.0)
            best = min(best, max(side.pipe.recv() for side in sides))
        return best
    finally:
        for side in sides:
            side.end()


def main() -> None:
    missed, lines = False, []
    for case, most in CASES.items():
        way = case.way("auto")
        kinds = [(product, 1024, f"{way.precision} {kernels}") for kernels in ("torch", "onednn")]
        sides = [(step, case, way, 2), (stacked_step, case, way.precision), *kinds]
        one, stacked, *kernels = best_of(sides, SECONDS)
        side_by_side = MEMBERS / 2 * pair_seconds(case, way)
        least = MEMBERS * multiplications(case) / (1024**3 / min(kernels))
        found = [f"{seconds / one:.2f}" for seconds in (side_by_side, stacked, least)]
        missed |= side_by_side / one > most
        line = {"shapes": str(case), "one": f"{1e3 * one:.1f} ms in {way.precision}"}
        names = ("side by side", "stacked", "products alone")
        lines.append(line | dict(zip(names, found, strict=True)) | {"at most": most})
        print(lines[-1], flush=True)
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    sys.exit(missed)


if __name__ == "__main__":
    torch.set_num_threads(2)
    main()
