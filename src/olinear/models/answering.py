"""Where a model meets a batch."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from olinear.core import Batch, Output, Point
from olinear.core.runtime import Precision, casting, steady_memory
from olinear.models.building import traits_of
from olinear.models.members import Members
from olinear.nn import CompactOLinear

MOST_VALUES = 2**24  # of the lookbacks that a model sees together


def answer(model: Callable[..., Any], batch: Batch) -> Output:
    """The model's answer to a batch; a plain module or function `b t n -> b h n` gives a point.

    It computes with the precision of `computing_in`; a point is float32 in any.
    """
    with casting(batch.past.device):
        if traits_of(model).takes_batch:
            output: Output = model(batch)
            return output
        point = model(batch.past)
    return Point(point.float() if point.dtype == torch.bfloat16 else point)


def windows_at_once(model: Callable[..., Any], most: int, dependent: int, values: int = 1) -> int:
    """How many windows of so many values each to forecast at a time.

    `dependent` if the forecast of one depends on the others; else `most`, or fewer where they are large.
    """
    return dependent if traits_of(model).batch_dependent else max(1, min(most, MOST_VALUES // values))


def for_inference(model: nn.Module, precision: Precision = "float32") -> nn.Module:
    """The same function in the form that is quickest to ask in a precision."""
    steady_memory()
    if isinstance(model, Members):
        return Members([for_inference(member, precision) for member in model.members])
    compact: nn.Module = model.compact() if traits_of(model).compact else model  # type: ignore[operator]
    return compact.bfloat16() if precision == "bfloat16" and isinstance(compact, CompactOLinear) else compact
