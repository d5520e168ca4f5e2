"""The `olinear` command: one thin file a command."""

from olinear.cli.app import main

__all__ = ["main"]
