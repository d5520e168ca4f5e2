"""Pictures for people: forecasts with their intervals, correlations, and what a model has learnt."""

from olinear.core.doors import open_door

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
