"""Multivariate time-series forecasting with OLinear.

Names load when they are first used, so `import olinear` itself is quick.
"""

from olinear.core.doors import open_door

__version__ = "0.2.0"
__getattr__, __dir__, __all__ = open_door(__name__, __file__)
