"""What each series, or each token, takes from each."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from olinear.core import Batch
from olinear.core.runtime import device_of
from olinear.models import answer
from olinear.models.zoo import Attention, watching
from olinear.nn import SeriesMixer


@torch.no_grad()
def mixing_matrices(model: nn.Module | None) -> list[NDArray[np.floating]]:
    """The matrix `[series, series]` of every layer that mixes series by one, in the order of the model's layers."""
    layers = [] if model is None else [layer for layer in model.modules() if isinstance(layer, SeriesMixer)]
    return [layer.matrix().cpu().numpy() for layer in layers]


@dataclass(frozen=True)
class AttentionMaps:
    """The matrices of one layer of attention for some windows, `[maps, heads, k, l]`: rows sum to one.

    Where series are tokens there is a map for each window; where each series is taken alone, as PatchTST does, one for
    each series of each window. `scores` are what the softmax was taken of; None where there is more to the weights.
    """

    name: str
    weights: NDArray[np.floating]
    scores: NDArray[np.floating] | None = None


@torch.no_grad()
def attention_of(model: nn.Module | None, windows: ArrayLike) -> list[AttentionMaps]:
    """What every layer of attention does with the windows `b t n`, in the order they are used.

    The matrices are the softmax of queries and keys, without dropout; the model is left as it was.
    """
    if model is None:
        return []
    x = torch.as_tensor(np.asarray(windows, dtype=np.float32), device=device_of(model))
    was_training = model.training
    model.eval()
    try:
        with watching(model) as seen:
            answer(model, Batch(x))
    finally:
        model.train(was_training)
    return [_as_maps(each) for each in seen]


def _as_maps(seen: Attention) -> AttentionMaps:
    return AttentionMaps(seen.name, _maps(seen.weights), None if seen.scores is None else _maps(seen.scores))


def _maps(matrices: Tensor) -> NDArray[np.floating]:  # ... H k l
    return matrices.reshape(-1, *matrices.shape[-3:]).float().cpu().numpy()  # maps H k l
