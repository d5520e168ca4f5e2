"""Fit, predict, backtest, inspect and export as functions with typed input and output.

The command, the server and the adapters are thin over these: they read what a user asked for, call one of them, and
show what it gives. Nothing here prints.
"""

from olinear.core.doors import open_door

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
