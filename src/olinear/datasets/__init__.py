"""The paper's 24 datasets: a catalogue, readers for their formats, and where to find the files."""

from olinear.datasets.catalogue import Dataset, catalogue, find_dataset
from olinear.datasets.lookup import locate, require
from olinear.datasets.reading import Table, load_values, read_table

__all__ = ["Dataset", "Table", "catalogue", "find_dataset", "load_values", "locate", "read_table", "require"]
