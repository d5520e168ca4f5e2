"""What bench-speed and bench-members measure: shapes, and a step or a forecast of one side."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch
from sides import THREADS, hold

from olinear.core import Batch
from olinear.core.runtime import (
    Kernels,
    Precision,
    computing_in,
    has_bfloat16,
    keeping_memory,
    onednn_linear,
)
from olinear.core.settings import TrainingConfig
from olinear.data.windows import Windows
from olinear.models import answer, for_inference
from olinear.nn import OLinear
from olinear.nn.folding import shapes_of
from olinear.training import Forecast, settle
from olinear.training.losses import weighted_l1

UNITS = has_bfloat16(torch.device("cpu"))


class Way(NamedTuple):
    """How a side computes: found out once, so that what is said of it is what it did."""

    precision: Precision = "float32"
    kernels: Kernels = "torch"
    fold: bool = True
    keeping: bool = False  # freed memory stays, as it does from the first to the last step of a training of ours

    def __str__(self) -> str:
        return f"{self.precision} by {self.kernels}"


PLAIN, FOLDED = Way(fold=False), Way()


@dataclass(frozen=True)
class Case:
    n: int
    batch: int
    blocks: int
    horizon: int
    width: int = 512
    lookback: int = 96

    def __str__(self) -> str:
        usual = Case(self.n, self.batch, self.blocks, self.horizon)
        other = {"m": self.width, "t": self.lookback} if self != usual else {}
        parts = {"n": self.n, "b": self.batch, "L": self.blocks, "h": self.horizon} | other
        return " ".join(f"{name}={value}" for name, value in parts.items())

    @property
    def seconds(self) -> float:
        return 30.0 if self.n > 100 or self.horizon > 500 else 15.0

    def model(self, *, fold: bool) -> OLinear:
        torch.manual_seed(0)
        return OLinear(self.n, self.lookback, self.horizon, model_dim=self.width, blocks=self.blocks, fold=fold)

    def data(self) -> tuple[torch.Tensor, torch.Tensor]:
        generator = torch.Generator().manual_seed(0)
        x = torch.randn(self.batch, self.lookback, self.n, generator=generator)
        return x, torch.randn(self.batch, self.horizon, self.n, generator=generator)

    def way(self, precision: str, threads: int = THREADS) -> Way:
        """What a training of these shapes computes with, of ours."""
        torch.set_num_threads(threads)
        rows = torch.zeros(self.lookback + self.horizon + self.batch, self.n)
        config = TrainingConfig(precision=precision, batch_size=self.batch)
        source = Windows(rows, self.lookback, self.horizon)
        found = settle(self.model(fold=True), source, Forecast(), config, torch.device("cpu"), None)
        return Way(*found, keeping=True)


@dataclass(frozen=True)
class Floors:
    """What is wanted where the machine has units for bfloat16, and in float32."""

    units: float
    float32: float

    def of(self, precision: str) -> float:
        return self.units if precision == "auto" and UNITS else self.float32


@dataclass(frozen=True)
class Line:
    what: str
    shapes: str
    ratio: float
    floor: float
    note: str = ""


def training_step(case: Case, way: Way, threads: int = THREADS) -> Callable[[], None]:
    torch.set_num_threads(threads)
    model = case.model(fold=way.fold).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)
    x, y = case.data()
    if way.keeping:
        hold(keeping_memory())

    def step() -> None:
        with computing_in(way.precision, way.kernels):
            optimizer.zero_grad()
            weighted_l1(answer(model, Batch(x, y)).point, y).backward()
            optimizer.step()

    return step


def forecast(case: Case, way: Way) -> Callable[[], None]:
    """Of one batch."""
    model = case.model(fold=False).eval()
    engine = for_inference(model, way.precision) if way.fold else model
    batch = Batch(case.data()[0])

    def call() -> None:
        with torch.inference_mode(), computing_in(way.precision, way.kernels):
            answer(engine, batch)

    return call


def product(size: int, kind: str) -> Callable[[], object]:
    """A large product of matrices by one of the machine's kernels."""
    dtype = torch.bfloat16 if kind.startswith("bfloat16") else torch.float32
    a, b = torch.randn(size, size).to(dtype), torch.randn(size, size).to(dtype)
    return partial(onednn_linear, a, b) if kind.endswith("onednn") else partial(torch.matmul, a, b)


def multiplications(case: Case) -> int:
    """Those that are left of a training step: the forward pass and twice as many backward."""
    return 3 * shapes_of(case.model(fold=True), case.batch).forward(case.blocks).folded
