"""The paper's 24 datasets: a catalogue, readers for their formats, and where to find the files."""

from olinear.datasets.catalogue import Dataset, catalogue, find_dataset
from olinear.datasets.checking import Check, check
from olinear.datasets.fetching import fetch
from olinear.datasets.lookup import cache_folder, how_to_get, locate, require
from olinear.datasets.reading import Table, load_values, read_table

__all__ = [
    "Check",
    "Dataset",
    "Table",
    "cache_folder",
    "catalogue",
    "check",
    "fetch",
    "find_dataset",
    "how_to_get",
    "load_values",
    "locate",
    "read_table",
    "require",
]
