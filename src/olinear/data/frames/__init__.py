"""From a file or a frame to one array, and back: reading, time grid, gaps, scaling."""

from olinear.core.doors import open_door

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
