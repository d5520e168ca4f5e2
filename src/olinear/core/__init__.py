"""What every room stands on: errors, contracts, settings, and the machinery of running things."""

from olinear.core.doors import open_door

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
