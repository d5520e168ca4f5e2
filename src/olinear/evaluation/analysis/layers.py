"""Every layer of a model that mixes tokens by a matrix: what it looks like, and whether it follows the data."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import nn

from olinear.evaluation.analysis.mixing import AttentionMaps, attention_of
from olinear.evaluation.analysis.ranks import MixingSummary, summarise_mixing
from olinear.evaluation.analysis.resembling import Likeness, likeness, softmax_rows
from olinear.nn import SeriesMixer, series_correlation

LEAST_ROWS = 3  # of which a correlation between series can be taken


@dataclass(frozen=True)
class MixingLayer:
    """One layer.

    Args:
        name: of the module within the model.
        kind: `matrix` is the same for every window, as NormLin's; `attention` is made from each.
        matrix: `[k, k]`; of attention the mean over windows and heads.
        summary: ranks and entropy, of attention the means over its matrices and not those of the mean matrix.
        likeness: to the softmax of the series' correlation, where tokens are series and there are three or more.
    """

    name: str
    kind: Literal["matrix", "attention"]
    matrix: NDArray[np.floating]
    summary: MixingSummary
    likeness: Likeness | None


def mixing_layers(
    model: nn.Module | None, windows: ArrayLike | None = None, rows: ArrayLike | None = None
) -> list[MixingLayer]:
    """Those with a matrix of their own, then, if there are windows to look at, those of attention.

    Args:
        windows: `b t n`, as the model sees them.
        rows: `[rows, series]` whose correlation the matrices are held against.
    """
    if model is None:
        return []
    target = None if rows is None or len(np.asarray(rows)) < LEAST_ROWS else softmax_rows(series_correlation(rows))
    found = [_layer(name, "matrix", matrix, matrix, target) for name, matrix in _own(model)]
    for maps in [] if windows is None else attention_of(model, windows):
        over_series = len(maps.weights) == len(np.asarray(windows))  # and not over patches, with a map for each series
        mean = maps.weights.mean((0, 1))
        found.append(_layer(_name(maps), "attention", mean, maps.weights, target if over_series else None))
    return found


def _own(model: nn.Module) -> Iterator[tuple[str, NDArray[np.floating]]]:
    with torch.no_grad():
        for name, layer in model.named_modules():
            if isinstance(layer, SeriesMixer):
                yield name, layer.matrix().cpu().numpy()


def _layer(
    name: str,
    kind: Literal["matrix", "attention"],
    matrix: NDArray[np.floating],
    every: NDArray[np.floating],
    target: NDArray[np.floating] | None,
) -> MixingLayer:
    alike = target is not None and matrix.shape == target.shape and len(target) > 2
    return MixingLayer(name, kind, matrix, summarise_mixing(every), likeness(matrix, target) if alike else None)  # type: ignore[arg-type]


def _name(maps: AttentionMaps) -> str:
    return maps.name or "attention"
