"""The paper's 24 datasets: a catalogue, readers for their formats, and where to find the files."""

from olinear.core.doors import open_door

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
