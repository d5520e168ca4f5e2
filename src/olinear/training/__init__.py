"""One training loop for any module that maps `b t n` to `b h n`. It knows nothing of files or frames."""

from olinear.core.doors import open_door

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
