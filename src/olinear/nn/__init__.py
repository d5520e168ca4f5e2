"""The paper, readable alone: layers that take and return tensors, in the order of its Section 4.

`functional` and `bases` hold the mathematics, `revin`, `ortho` and `normlin` one layer each, `mixers` what may stand in
NormLin's place, `learners` the two halves of a block, and `olinear` the walk through all of them. `folding` and
`compact` compute the same function with fewer operations, `products` by quicker kernels.
"""

from olinear.nn.bases import BASES, make_basis
from olinear.nn.compact import CompactOLinear
from olinear.nn.folding import Shapes
from olinear.nn.functional import (
    NEGLIGIBLE,
    Norm,
    Transform,
    check_windows,
    gaussian_conditional,
    lag_correlation,
    orthogonal_basis,
    series_correlation,
)
from olinear.nn.learners import CrossSeriesLearner, IntraSeriesLearner
from olinear.nn.mixers import MIXERS, MixerFactory, NamedMixer, find_mixer, has_own_maps
from olinear.nn.normlin import LowRankNormLin, NormLin, SeriesLinear, SeriesMixer
from olinear.nn.olinear import OLinear
from olinear.nn.ortho import OrthoTrans
from olinear.nn.revin import RevIN, WindowStats

__all__ = [
    "BASES",
    "MIXERS",
    "NEGLIGIBLE",
    "CompactOLinear",
    "CrossSeriesLearner",
    "IntraSeriesLearner",
    "LowRankNormLin",
    "MixerFactory",
    "NamedMixer",
    "Norm",
    "NormLin",
    "OLinear",
    "OrthoTrans",
    "RevIN",
    "SeriesLinear",
    "SeriesMixer",
    "Shapes",
    "Transform",
    "WindowStats",
    "check_windows",
    "find_mixer",
    "gaussian_conditional",
    "has_own_maps",
    "lag_correlation",
    "make_basis",
    "orthogonal_basis",
    "series_correlation",
]
