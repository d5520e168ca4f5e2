"""Every setting once: the tree, and what is derived from it."""

from olinear.core.doors import open_door

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
