"""What is in the data and what a model has learnt, as numbers: pure functions with typed results."""

from olinear.core.doors import open_door

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
