"""What each series takes from each."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from olinear.nn import SeriesMixer


@torch.no_grad()
def mixing_matrices(model: nn.Module | None) -> list[NDArray[np.floating]]:
    """The matrix `[series, series]` of every layer that mixes series by one, in the order of the model's layers."""
    layers = [] if model is None else [layer for layer in model.modules() if isinstance(layer, SeriesMixer)]
    return [layer.matrix().cpu().numpy() for layer in layers]
