"""From one array to batches of (lookback, horizon) windows: splits by time, batches by index."""

from olinear.core.doors import open_door

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
