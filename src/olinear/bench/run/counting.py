"""How much a forward pass multiplies."""

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from olinear.models.zoo import square_images


def count_multiplications(model: nn.Module, x: Tensor) -> int:
    """Those of matrix products and convolutions, on images that are about square; tensors without memory (`meta`) will
    do."""
    # On a processor the fused kernel of attention would count as nothing.
    with FlopCounterMode(display=False) as counter, torch.no_grad(), sdpa_kernel(SDPBackend.MATH), square_images():
        model(x)
    return counter.get_total_flops() // 2
