"""The paper's evaluation by one command: tasks as data, a resumable runner, results next to the published ones."""

from olinear.core.doors import open_door

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
