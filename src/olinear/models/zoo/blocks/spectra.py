"""Pieces of the forecasters that compute with spectra, each written once."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from olinear.core import ConfigError


def complex_relu(z: Tensor) -> Tensor:
    """ReLU of the real and of the imaginary part."""
    return torch.view_as_complex(torch.view_as_real(z).relu())


def complex_shrink(z: Tensor, threshold: float) -> Tensor:
    """Both parts made smaller by `threshold`, and 0 where they were not larger than it."""
    return torch.complex(F.softshrink(z.real, threshold), F.softshrink(z.imag, threshold))


def check_threshold(threshold: float) -> None:
    if threshold < 0:
        raise ConfigError(f"threshold must be at least 0, found {threshold}")


def complex_normal(*shape: int, deviation: float = 0.02) -> nn.Parameter:
    """Complex numbers as a parameter `[..., 2]` of both parts, each from N(0, deviation²); see `as_complex`."""
    return nn.Parameter(torch.randn(*shape, 2) * deviation)


def as_complex(parts: Tensor) -> Tensor:  # ... 2
    """The complex numbers of a parameter.

    It is stored as real numbers since `Module.to(dtype)` would lose the imaginary parts, and the fused Adam has no
    complex form. Both parts are learnt alone, as Adam also does with those of a complex parameter.
    """
    return torch.view_as_complex(parts)
