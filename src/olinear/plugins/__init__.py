"""The paper's two ideas in other models: OrthoTrans around a forecaster, NormLin in the place of attention."""

from olinear.plugins.normlin import NormLinAttention, swap_attention
from olinear.plugins.ortho import OrthoForecaster, with_orthotrans

__all__ = ["NormLinAttention", "OrthoForecaster", "swap_attention", "with_orthotrans"]
