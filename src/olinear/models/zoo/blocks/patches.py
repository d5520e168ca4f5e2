"""A window cut into patches."""

from torch import Tensor

from olinear.core import ConfigError
from olinear.models.zoo.blocks.averages import repeat_ends


def cut_patches(x: Tensor, length: int, stride: int, *, pad_end: bool = True) -> Tensor:  # ... t -> ... p length
    """Patches of `length` every `stride`; the last value is repeated `stride` times at the end, if so asked."""
    return (repeat_ends(x, 0, stride) if pad_end else x).unfold(-1, length, stride)


def count_patches(lookback: int, length: int, stride: int, *, pad_end: bool = True) -> int:
    """How many patches `cut_patches` makes."""
    if min(length, stride) < 1:
        raise ConfigError(f"patches need a length and a stride of at least 1, found {length} and {stride}")
    padding = stride if pad_end else 0
    if lookback + padding < length:
        raise ConfigError(
            f"patches of {length} every {stride} need a lookback of at least {length - padding}, found {lookback}: "
            "pass shorter patches or a longer lookback"
        )
    return (lookback + padding - length) // stride + 1
