"""The machinery of running things: files, records, worker processes, measuring, provenance, devices."""

from olinear.core.doors import open_door

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
