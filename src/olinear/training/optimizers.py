"""Optimizers by name."""

from collections.abc import Callable, Sequence

import torch
from torch import nn
from torch.optim import Optimizer

from olinear.core.settings import TrainingConfig

MakeOptimizer = Callable[[Sequence[nn.Parameter], TrainingConfig], Optimizer]
MOMENTUM = 0.9


def adam(parameters: Sequence[nn.Parameter], config: TrainingConfig) -> Optimizer:
    """Adam, the paper's."""
    rate, decay = config.learning_rate, config.weight_decay
    return torch.optim.Adam(parameters, rate, weight_decay=decay, fused=_can_fuse(parameters))


def adamw(parameters: Sequence[nn.Parameter], config: TrainingConfig) -> Optimizer:
    """Adam whose weight decay is apart from the gradient's scale."""
    rate, decay = config.learning_rate, config.weight_decay
    return torch.optim.AdamW(parameters, rate, weight_decay=decay, fused=_can_fuse(parameters))


def sgd(parameters: Sequence[nn.Parameter], config: TrainingConfig) -> Optimizer:
    """Stochastic gradient descent with momentum."""
    rate, decay = config.learning_rate, config.weight_decay
    return torch.optim.SGD(parameters, rate, MOMENTUM, weight_decay=decay)


def _can_fuse(parameters: Sequence[nn.Parameter]) -> bool:
    return all(parameter.is_floating_point() for parameter in parameters)


OPTIMIZERS: dict[str, MakeOptimizer] = {"adam": adam, "adamw": adamw, "sgd": sgd}

# What each keeps for a parameter, of the parameter's shape but for the count of steps.
_MOMENTS = frozenset({"step", "exp_avg", "exp_avg_sq"})
SLOTS = {"adam": _MOMENTS, "adamw": _MOMENTS, "sgd": frozenset({"momentum_buffer"})}
