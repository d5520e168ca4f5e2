"""Bases, small models and windows that the tests of `nn` share."""

import numpy as np
import torch

from olinear.nn import OLinear, OrthoTrans

N, T, H = 3, 12, 6


def random_basis(size, seed=0):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(size, size)))[0]


def windows(batch=4, lookback=T, n_series=N, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(batch, lookback, n_series)))


def small(n_series=N, lookback=T, horizon=H, **options):
    """A small model in float64 with unequal widths and two different bases."""
    defaults = {
        "input_transform": OrthoTrans(random_basis(lookback)),
        "output_transform": OrthoTrans(random_basis(horizon, seed=1)),
        "model_dim": 8,
        "embed_dim": 4,
    }
    return OLinear(n_series, lookback, horizon, **{**defaults, **options}).double()


def randomised(model, scale=0.2):
    """Every parameter off its start, so that no 0 or 1 hides a mistake; by 0.2, RevIN's weight stays positive."""
    generator = torch.Generator().manual_seed(1)
    for parameter in model.parameters():
        parameter.data += scale * torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype)
    return model.eval()


def count(model):
    return sum(parameter.numel() for parameter in model.parameters())
