"""Whose kernels multiply matrices: those that torch takes by itself, or those of oneDNN, which it carries too.

For float32 torch asks the BLAS it was built with. That one uses half the width of some processors, where oneDNN uses
all of it; both are float32, and differ in their last bits. oneDNN can also apply GELU while a product is still in the
cache.
"""

from functools import cache
from typing import Any, Literal

import torch
from torch import Tensor

from olinear.core.runtime.measuring import best_times, on_threads

Kernels = Literal["torch", "onednn"]
GAIN = 1.3  # by so much oneDNN must be quicker: it is by 2 or not at all, and a choice must come out the same again
SIZES = (192, 256, 320)  # of the product that is tried: a fraction of a millisecond


def as_kernels(name: object) -> Kernels:
    """Of a folder or a checkpoint; those of before say nothing, and have torch's."""
    return "onednn" if name == "onednn" else "torch"


def onednn_linear(x: Tensor, weight: Tensor, bias: Tensor | None = None, *, gelu: bool = False) -> Tensor:
    """`x weightᵀ + bias` by oneDNN, without a gradient: `... in -> ... out`; with `gelu`, GELU of it."""
    multiply: Any = torch.ops.mkldnn._linear_pointwise
    result: Tensor = multiply(_dense(x), _dense(weight), bias, "gelu" if gelu else "none", [], "none")
    return result


def _dense(x: Tensor) -> Tensor:
    """As it is, if its rows or its columns follow each other in memory."""
    return x if x.is_contiguous() or (x.ndim == 2 and x.mT.is_contiguous()) else x.contiguous()


@cache
def has_onednn() -> bool:
    """Whether its kernels are in this torch and multiply as torch does: they have no public name, so they are tried."""
    rows, inner, outer = SIZES
    draws = torch.Generator().manual_seed(0)
    x, weight = torch.randn(rows, inner, generator=draws), torch.randn(outer, inner, generator=draws)
    bias = torch.randn(outer, generator=draws)
    plain = torch.addmm(bias, x, weight.mT)
    try:
        for first, second in ((x, weight), (x.mT.contiguous().mT, weight.mT.contiguous().mT)):
            if not torch.allclose(onednn_linear(first, second, bias), plain, rtol=1e-4, atol=1e-3):
                return False
        curved = torch.nn.functional.gelu(plain)
        return torch.allclose(onednn_linear(x, weight, bias, gelu=True), curved, rtol=1e-4, atol=1e-3)
    except (AttributeError, RuntimeError, TypeError):  # other names or arguments in another version
        return False


@cache
def quicker_kernels() -> Kernels:
    """Whose float32 product takes less time on this machine, on one thread; measured once a process."""
    if not has_onednn():
        return "torch"
    rows, inner, outer = SIZES
    x, weight = torch.ones(rows, inner), torch.ones(outer, inner)
    with on_threads(1):
        plain, other = best_times(lambda: x @ weight.mT, lambda: onednn_linear(x, weight), seconds=0.0, rounds=12)
    return "onednn" if plain > GAIN * other else "torch"
