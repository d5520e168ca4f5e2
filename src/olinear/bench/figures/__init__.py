"""The figures of the paper's analysis: each draws itself, and says in numbers what it shows."""

from olinear.core.doors import open_door

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
