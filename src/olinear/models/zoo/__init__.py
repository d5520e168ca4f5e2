"""The other forecasters, one file each, all from `b t n` to `b h n`."""

from olinear.core.doors import open_door

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
