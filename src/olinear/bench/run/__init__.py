"""Running jobs: a plan, a pool of workers, training and scoring."""

from olinear.core.doors import open_door

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
