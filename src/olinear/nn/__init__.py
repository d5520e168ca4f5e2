"""The paper, readable alone: layers that take and return tensors, in the order of its Section 4.

`functional` and `bases` hold the mathematics, `revin`, `ortho` and `normlin` one layer each, `learners` the two
halves of a block, and `olinear` the walk through all of them. `folding` and `compact` compute the same function with
fewer operations.
"""

from olinear.nn.learners import CrossSeriesLearner, IntraSeriesLearner
from olinear.nn.normlin import LowRankNormLin, NormLin, SeriesLinear
from olinear.nn.olinear import OLinear
from olinear.nn.ortho import OrthoTrans
from olinear.nn.revin import RevIN

__all__ = [
    "CrossSeriesLearner",
    "IntraSeriesLearner",
    "LowRankNormLin",
    "NormLin",
    "OLinear",
    "OrthoTrans",
    "RevIN",
    "SeriesLinear",
]
