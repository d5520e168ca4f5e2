"""Small forecasters and data that the training tests share."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from olinear.data.windows import Windows
from olinear.nn import OLinear
from olinear.training import TrainingConfig, TrainingReport, train

LOOKBACK, HORIZON = 8, 4
Weights = dict[str, Tensor]


class TimeLinear(nn.Module):
    """One linear layer along time, the same for every series."""

    def __init__(self, lookback: int = LOOKBACK, horizon: int = HORIZON, seed: int = 0):
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.layer = nn.Linear(lookback, horizon)

    def forward(self, x: Tensor) -> Tensor:  # b t n
        return self.layer(x.mT).mT  # b h n


class Recorder(TimeLinear):
    """Keeps every input it is shown, by mode."""

    def __init__(self, lookback: int = LOOKBACK, horizon: int = HORIZON):
        super().__init__(lookback, horizon)
        self.trained: list[Tensor] = []
        self.judged: list[Tensor] = []

    def forward(self, x: Tensor) -> Tensor:
        (self.trained if self.training else self.judged).append(x.clone())
        return super().forward(x)


def small_olinear(seed: int = 0, dropout: float = 0.1) -> OLinear:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return OLinear(2, LOOKBACK, HORIZON, model_dim=8, blocks=1, dropout=dropout)


def sines(rows: int = 40, phase: float = 0.0) -> Windows:
    time = torch.arange(rows) * (2 * math.pi / 12) + phase
    return Windows(torch.stack([time.sin(), time.cos()], 1), LOOKBACK, HORIZON)


def noise(rows: int = 30, seed: int = 0, n_series: int = 2) -> Windows:
    values = torch.randn(rows, n_series, generator=torch.Generator().manual_seed(seed))
    return Windows(values, LOOKBACK, HORIZON)


def weights_of(model: nn.Module) -> Weights:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def equal(first: Weights, second: Weights) -> bool:
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def without_seconds(report: TrainingReport) -> tuple[object, ...]:
    """All of a report that must be the same in every run."""
    history = [{key: value for key, value in record.items() if key != "seconds"} for record in report.history]
    return report.best_epoch, report.best_loss, report.best_averaged, report.epochs, history


def column(report: TrainingReport, name: str) -> list[float]:
    return [record[name] for record in report.history]


@contextmanager
def watched_steps(model: nn.Module) -> Iterator[list[dict[str, object]]]:
    """What each step of the optimizer did: gradient norm and rate before it, weights after it."""
    steps: list[dict[str, object]] = []

    def before(optimizer: Optimizer, *_: object) -> None:
        group = optimizer.param_groups[0]
        squares = [float(parameter.grad.double().square().sum()) for parameter in group["params"]]
        steps.append({"norm": math.sqrt(sum(squares)), "rate": group["lr"]})

    def after(*_: object) -> None:
        steps[-1]["weights"] = weights_of(model)

    handles = [register_optimizer_step_pre_hook(before), register_optimizer_step_post_hook(after)]
    try:
        yield steps
    finally:
        for handle in handles:
            handle.remove()


def run(model, training, validation, **settings):
    return train(model, training, validation, TrainingConfig(**settings), progress=False)


def numbered(rows: int) -> Windows:
    return Windows(torch.arange(rows)[:, None] / 100, LOOKBACK, HORIZON)
