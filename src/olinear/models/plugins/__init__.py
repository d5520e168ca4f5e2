"""The paper's two ideas in other models: OrthoTrans around a forecaster, NormLin in the place of attention."""

from olinear.core.doors import open_door

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
