"""What the paper shows, item by item: what it claims, which command answers it, and what the answer is."""

from olinear.core.doors import open_door

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
