"""From a file or a frame to one array, and back: reading, time grid, gaps, scaling."""

from olinear.frames.demo import load_demo
from olinear.frames.files import check_writable, read_file, write_file
from olinear.frames.frequency import Frequency, find_frequency, parse_frequency
from olinear.frames.gaps import bridge_gaps
from olinear.frames.panel import FrameStyle, Panel, build_frame, make_table
from olinear.frames.reading import read_panel
from olinear.frames.scaling import StandardScaler

__all__ = [
    "FrameStyle",
    "Frequency",
    "Panel",
    "StandardScaler",
    "bridge_gaps",
    "build_frame",
    "check_writable",
    "find_frequency",
    "load_demo",
    "make_table",
    "parse_frequency",
    "read_file",
    "read_panel",
    "write_file",
]
