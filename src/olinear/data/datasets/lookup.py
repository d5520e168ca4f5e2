"""Where a dataset's file is: the folder given, then OLINEAR_DATA, then a cache folder; and how to get a missing one."""

import os
import sys
from pathlib import Path

from olinear.core import DataError
from olinear.data.datasets.entries import UNKNOWN, Dataset

VARIABLE = "OLINEAR_DATA"
UNTRIED = "this address has not been tried by us"


def cache_folder() -> Path:
    """Where fetched files are kept: the system's folder for caches."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "olinear"


def data_folders(given: str | Path | None = None) -> list[Path]:
    """The folders that are searched, in this order."""
    wanted = [given, os.environ.get(VARIABLE) or None, cache_folder()]
    return [Path(folder).expanduser() for folder in wanted if folder is not None]


def locate(dataset: Dataset, given: str | Path | None = None) -> Path | None:
    """The dataset's file, or None if no folder holds it."""
    for folder in data_folders(given):
        for name in dataset.files:
            if (folder / name).is_file():
                return folder / name
    return None


def require(dataset: Dataset, given: str | Path | None = None) -> Path:
    """The dataset's file, or an error that says what to do."""
    path = locate(dataset, given)
    if path is None:
        searched = ", ".join(str(folder) for folder in data_folders(given))
        raise DataError(
            f"{dataset.name} needs {' or '.join(dataset.files)}, not found in {searched} (name another folder with "
            f"--data or {VARIABLE}); to get it: {how_to_get(dataset, given)}"
        )
    return path


def how_to_get(dataset: Dataset, given: str | Path | None = None) -> str:
    """What a person who lacks the file can do: one command, or by hand as far as its source is known."""
    if dataset.address is not None:
        return f"olinear data fetch {dataset.name}" + ("" if dataset.tried else f" ({UNTRIED})")
    folder = cache_folder() if given is None else Path(given).expanduser()
    there = f"{' or '.join(dataset.files)} into {folder}"
    if dataset.page is not None:
        return f"download it by hand from {dataset.page}, put it as {there}"
    origin = "source unknown" if dataset.source == UNKNOWN else f"from {dataset.source}, no address known"
    return f"{origin}: put {there}, or name its folder with --data or {VARIABLE}"
