"""From a file or a frame to one array: reading, gaps, scaling."""

from olinear.frames.demo import load_demo
from olinear.frames.gaps import bridge_gaps
from olinear.frames.scaling import StandardScaler

__all__ = ["StandardScaler", "bridge_gaps", "load_demo"]
