"""From one array to batches of (lookback, horizon) windows: splits by time, batches by index."""

from olinear.windows.splits import Split
from olinear.windows.windows import Windows

__all__ = ["Split", "Windows"]
