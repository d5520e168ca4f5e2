"""Which numbers a model computes with: float32, or matrix products in bfloat16 where the machine has units for them."""

import platform
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Literal

import torch

from olinear.core.errors import ConfigError
from olinear.core.runtime.allocation import keeping_memory
from olinear.core.runtime.kernels import Kernels, has_onednn, onednn_linear
from olinear.core.runtime.measuring import best_times, on_threads

Precision = Literal["float32", "bfloat16"]
GAIN = 1.15  # by so much bfloat16 must be quicker: less is noise, and a choice must come out the same again
MEASURING = 0.1  # seconds of a measurement, after a first step in either that does not count
TRIES = 2  # before units for bfloat16 are left unused: another process may have had the processor meanwhile
LARGE_PRODUCT = (2048, 512)

_present: ContextVar[Precision] = ContextVar("precision", default="float32")
_kernels: ContextVar[Kernels] = ContextVar("kernels", default="torch")


@contextmanager
def computing_in(precision: Precision, kernels: Kernels = "torch") -> Iterator[None]:
    """What `olinear.models.answer` computes with inside.

    Matrix products alone change: weights, their gradients, normalisation and answers are float32 in either. Kernels
    that are not in this torch are those of torch.
    """
    token = _present.set(precision)
    second = _kernels.set(kernels if kernels == "torch" or has_onednn() else "torch")
    try:
        yield
    finally:
        _present.reset(token)
        _kernels.reset(second)


def present_kernels() -> Kernels:
    """Those of the innermost `computing_in`; torch's outside."""
    return _kernels.get()


def present_precision() -> Precision:
    """That of the innermost `computing_in`; float32 outside."""
    return _present.get()


def casting(device: torch.device) -> AbstractContextManager[object]:
    """Around the pass of a model: matrix products in the present precision."""
    return to_bfloat16(device, _present.get() == "bfloat16")


def to_bfloat16(device: torch.device, wanted: bool) -> AbstractContextManager[object]:
    """Matrix products inside are in bfloat16, or in the kind of what they multiply, whatever it is outside.

    Nothing changes on devices that know one kind alone, such as `meta`, on which models are counted.
    """
    if not torch.amp.is_autocast_available(device.type):
        return nullcontext()
    return torch.autocast(device.type, torch.bfloat16, enabled=wanted)


def has_bfloat16(device: torch.device) -> bool:
    """Whether a device multiplies bfloat16 by itself, and not by way of float32."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    if device.type != "cpu":
        return False
    known = torch.cpu.get_capabilities() if hasattr(torch.cpu, "get_capabilities") else {}
    if platform.machine().lower() in ("arm64", "aarch64"):
        return bool(known.get("sve_bf16") or known.get("arm_bf16") or known.get("bf16"))
    return bool(known.get("avx512_bf16") or known.get("amx_bf16"))


def check_precision(precision: Precision, device: torch.device) -> None:
    """Refuse what a device cannot compute at all."""
    if precision == "bfloat16" and device.type not in ("cpu", "cuda"):
        raise ConfigError(f"precision='bfloat16' is for the CPU and CUDA, found {device.type}: leave it out")


def quicker_precision(step: Callable[[], object], device: torch.device, kernels: Kernels = "torch") -> Precision:
    """The one in which a step takes less time, measured in turns; float32 where the device has no bfloat16."""
    if not has_bfloat16(device):
        return "float32"

    def inside(precision: Precision) -> Callable[[], None]:
        def run() -> None:
            with computing_in(precision, kernels):
                step()
            if device.type == "cuda":  # which works on after the call
                torch.cuda.synchronize(device)

        return run

    sides = inside("float32"), inside("bfloat16")
    plain = other = float("inf")
    with keeping_memory():
        for side in sides:
            side()  # the first takes memory and makes kernels
        for _ in range(TRIES):
            found = best_times(*sides, seconds=MEASURING, rounds=2)
            plain, other = min(plain, found[0]), min(other, found[1])
            if plain > GAIN * other:
                return "bfloat16"
    return "float32"


def large_product(device: torch.device) -> Callable[[], object]:
    """A product in the present precision, by the present kernels, large enough to tell how quick they are."""
    x, weight = torch.ones(LARGE_PRODUCT, device=device), torch.ones(LARGE_PRODUCT[1:] * 2, device=device)

    def multiply() -> object:
        if present_precision() == "float32" and present_kernels() == "onednn":
            return onednn_linear(x, weight)
        with casting(device):
            return torch.nn.functional.linear(x, weight)

    return multiply


def product_speed(precision: Precision, kernels: Kernels) -> float:
    """Multiplications a second of such a product on one thread of the CPU."""
    rows, inner = LARGE_PRODUCT
    with on_threads(1), computing_in(precision, kernels), torch.inference_mode():
        (best,) = best_times(large_product(torch.device("cpu")), seconds=0.0, rounds=4)
    return rows * inner**2 / best
