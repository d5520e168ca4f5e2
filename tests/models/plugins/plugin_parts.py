"""Tokens and masks for the tests of swapped attention."""

import numpy as np
import torch
from torch import Tensor, nn

K, M = 6, 8
CAUSAL = nn.Transformer.generate_square_subsequent_mask(K)


def count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def tokens(*shape: int) -> Tensor:
    return torch.from_numpy(np.random.default_rng(0).normal(size=shape)).float()
