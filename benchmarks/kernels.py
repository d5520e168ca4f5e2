"""What a product of matrices costs on this machine, way by way: `python benchmarks/kernels.py`.

The ways are those that were tried to multiply float32 as fast as the processor can, and two of bfloat16, next to
torch's own `@`, all in one run, each in a process of its own, in turns, on two threads. `times as fast` is the best
time of `@` over a way's own; the error is the largest difference to the product in float64, as a share of the largest
entry. Sizes are those of a training step at width 512 with 321 series. Writes benchmarks/results/kernels.csv.
"""

import csv
from collections.abc import Callable
from pathlib import Path

import torch
from sides import THREADS, best_of
from speed_cases import UNITS

from olinear.core.runtime import has_onednn, onednn_linear

RESULTS = Path(__file__).parent / "results" / "kernels.csv"
ROWS, WIDTH = 16 * 321, 512
SECONDS = 10.0

Way = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def convolved(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """A convolution of 1 × 1 over rows that stand as pixels, channels last."""
    pixels = x.view(1, len(x), 1, -1).permute(0, 3, 1, 2)
    found = torch.nn.functional.conv2d(pixels, weight[:, :, None, None])
    return found.permute(0, 2, 3, 1).reshape(len(x), -1)


def in_three(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Each factor as the sum of two in bfloat16, without the product of both small parts."""
    (a, da), (b, db) = (_split(each) for each in (x, weight))
    return (a @ b.mT).float() + (a @ db.mT).float() + (da @ b.mT).float()


def _split(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    large = x.bfloat16()
    return large, (x - large.float()).bfloat16()


def in_bfloat16_mode(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """float32 in and out, but oneDNN may multiply in bfloat16."""
    torch.backends.mkldnn.matmul.fp32_precision = "bf16"  # type: ignore[attr-defined]
    return x @ weight.mT


WAYS: dict[str, Way] = {
    "float32, torch's @": lambda x, weight: x @ weight.mT,
    "float32, oneDNN's linear layer": onednn_linear,
    "float32, 1 × 1 convolution": convolved,
    "float32 as three products in bfloat16": in_three,
    "float32 with oneDNN's bfloat16 mode": in_bfloat16_mode,
    "bfloat16, torch's @": lambda x, weight: x @ weight.mT,
    "bfloat16, oneDNN's linear layer": onednn_linear,
}


def side(name: str) -> Callable[[], object]:
    x, weight = factors(name)
    return lambda: WAYS[name](x, weight)


def factors(name: str) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    x, weight = (torch.randn(rows, WIDTH, generator=generator) for rows in (ROWS, WIDTH))
    return (x.bfloat16(), weight.bfloat16()) if name.startswith("bfloat16") else (x, weight)


def error(name: str) -> float:
    plain, exact = WAYS[name](*factors(name)).double(), torch.mm(*_exactly("float32"))
    return ((plain - exact).abs().max() / exact.abs().max()).item()


def _exactly(name: str) -> tuple[torch.Tensor, torch.Tensor]:
    x, weight = factors(name)
    return x.double(), weight.double().mT


def present() -> list[str]:
    """The ways that this machine and this torch have."""
    found = [name for name in WAYS if has_onednn() or "oneDNN" not in name]
    return found if UNITS else [name for name in found if "bfloat16" not in name]


def main() -> None:
    names = present()
    times = best_of([(side, name) for name in names], SECONDS)
    with RESULTS.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["way", "GFLOP/s", "times as fast", "error"])
        for name, seconds in zip(names, times, strict=True):
            line = [name, f"{2e-9 * ROWS * WIDTH**2 / seconds:.0f}", f"{times[0] / seconds:.2f}", f"{error(name):.0e}"]
            print(line, flush=True)
            writer.writerow(line)


if __name__ == "__main__":
    torch.set_num_threads(THREADS)
    main()
