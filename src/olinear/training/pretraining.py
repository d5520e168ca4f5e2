"""Pre-training a decoder: each patch of a window foretells the next."""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn

from olinear.core import Batch, Output
from olinear.training.losses import LOSSES, count_present


class Decoder(Protocol):
    """What foretells the next patch at each, `b t n -> b t n`: row i of the answer is row i + p."""

    patch_length: int

    def next_patches(self, x: Tensor) -> Tensor: ...


class EveryPatch(nn.Module):
    """A decoder asked at each of its patches, in the form that the training loop asks: it has the decoder's weights."""

    def __init__(self, decoder: nn.Module):
        super().__init__()
        self.decoder = decoder

    def forward(self, x: Tensor) -> Tensor:  # b t n
        decoder: Decoder = self.decoder  # type: ignore[assignment]
        return decoder.next_patches(x)


@dataclass(frozen=True)
class NextPatch:
    """Foretell the patch after each: windows have one patch as their horizon, and the past is target, too.

    Errors are on the scale of the data, not of the running deviation that the decoder normalises by: that is next to
    nothing where a window begins without movement.
    """

    patch_length: int
    loss_name: str = "l2"

    def prepare(self, batch: Batch) -> Batch:
        return batch

    def loss(self, output: Output, batch: Batch) -> Tensor:
        return LOSSES[self.loss_name](output.point, self.targets(batch))

    def count(self, batch: Batch) -> int:
        return count_present(self.targets(batch))

    def targets(self, batch: Batch) -> Tensor:
        """Every patch but the first, `b t n`."""
        return torch.cat(batch.pair, 1)[:, self.patch_length :]
