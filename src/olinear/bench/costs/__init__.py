"""What every model costs on this machine: parameters, multiplications, time and memory, measured in one run."""

from olinear.core.doors import open_door

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
