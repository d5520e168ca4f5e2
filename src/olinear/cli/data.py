"""`olinear data`: the paper's datasets: which are here, whether they are right, and how to get the others."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from olinear.cli.common import Json, check_data_folder, print_json, print_message, print_wide
from olinear.core import DataError

if TYPE_CHECKING:
    from olinear.data.datasets import Check, Dataset

HELP = """The paper's 24 datasets: which are here, whether they are right, and how to get the others.

A file is looked for in the folder given with --data, then in the one that OLINEAR_DATA names, then in a cache folder.

Example: olinear data list, then olinear data fetch ETTh1, then olinear data check ETTh1
"""

data = typer.Typer(help=HELP, no_args_is_help=True)

Folder = Annotated[Path | None, typer.Option("--data", metavar="FOLDER", help="Look here first.")]
ALL = "all"


@data.command("list")
def list_datasets(folder: Folder = None, as_json: Json = False) -> None:
    """List all datasets: their size, where each was found, and how to get those that were not.

    Example: olinear data list --data ~/datasets
    """
    from olinear.data.datasets import catalogue, how_to_get, locate

    check_data_folder(folder)
    found = {name: locate(dataset, folder) for name, dataset in catalogue().items()}
    missing = {name: how_to_get(catalogue()[name], folder) for name, path in found.items() if path is None}
    if as_json:
        places = {name: {"path": path, "how_to_get": missing.get(name)} for name, path in found.items()}
        print_json([dataset.model_dump() | places[name] for name, dataset in catalogue().items()])
        return
    rows = []
    for name, dataset in catalogue().items():
        path = found[name]
        file, place = (dataset.files[0], "missing") if path is None else (path.name, str(path.parent))
        rows.append((name, file, _size(dataset.rows, dataset.series), dataset.step, place))
    print_wide(("dataset", "file", "rows × series", "step", "found in"), rows)
    if missing:
        typer.echo()
        print_wide(("missing", "how to get it"), list(missing.items()))


@data.command("check")
def check_datasets(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="All that are here, if none.")] = None,
    folder: Folder = None,
    as_json: Json = False,
) -> None:
    """Check the files that are here: shape, sha256, empty cells, order of the dates.

    A file that is not as expected is reported, and the exit code is 1.

    Example: olinear data check ETTh1 Weather
    """
    from olinear.data.datasets import catalogue, check, find_dataset, locate, require

    check_data_folder(folder)
    if names:
        wanted = {dataset.name: require(dataset, folder) for dataset in map(find_dataset, names)}
    else:
        here = {name: locate(dataset, folder) for name, dataset in catalogue().items()}
        wanted = {name: path for name, path in here.items() if path is not None}
        if len(wanted) < len(here):
            print_message(f"note: {len(here) - len(wanted)} of {len(here)} are missing: see olinear data list")
    checks = [check(find_dataset(name), path) for name, path in wanted.items()]
    if as_json:
        print_json([_finding(result) for result in checks])
    elif checks:
        columns = ("dataset", "file", "rows × series", "sha256", "empty", "verdict")
        print_wide(columns, [_verdict(result) for result in checks])
    if any(result.problems for result in checks):
        raise typer.Exit(1)


@data.command("fetch")
def fetch_datasets(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Which, or all: those that have an address.")],
    folder: Annotated[
        Path | None, typer.Option("--data", metavar="FOLDER", help="Where to put it; the cache folder, if left out.")
    ] = None,
) -> None:
    """Download a dataset, check its sha256, and put it where the other commands find it.

    A download that was stopped goes on where it was when the command is given again. Only some datasets have an
    address; for the others it says what to do by hand.

    Example: olinear data fetch ETTh1 Exchange
    """
    from olinear.data.datasets import catalogue, find_dataset, how_to_get

    every = ALL in (name.casefold() for name in names)
    wanted = (
        [dataset for dataset in catalogue().values() if dataset.address] if every else list(map(find_dataset, names))
    )
    failed: list[str] = []
    for dataset in wanted:
        try:
            typer.echo(_fetch(dataset, folder))
        except DataError as error:
            if len(wanted) == 1:
                raise
            print_message(f"{dataset.name}: {error}")
            failed.append(dataset.name)
        except KeyboardInterrupt:
            print_message("\nstopped; the same command goes on from what has come")
            raise typer.Exit(130) from None
    if every:
        for dataset in catalogue().values():
            if not dataset.address:
                print_message(f"{dataset.name}: {how_to_get(dataset, folder)}")
    if failed:
        raise DataError(f"not fetched: {', '.join(failed)} (why is said above)")


def _fetch(dataset: "Dataset", folder: Path | None) -> Path:
    """A folder given is where it must be; otherwise it may be in any that is searched."""
    from olinear.data.datasets import UNTRIED, cache_folder, fetch, locate

    here = locate(dataset) if folder is None else None
    if here is not None:
        print_message(f"{dataset.name} is here already")
        return here
    if dataset.address:
        print_message(f"fetching {dataset.address}" + ("" if dataset.tried else f" ({UNTRIED})"))
    return fetch(dataset, cache_folder() if folder is None else folder)


def _finding(result: "Check") -> dict[str, Any]:
    return {
        "name": result.dataset.name,
        "path": result.path,
        "shape": result.shape,
        "expected": (result.dataset.rows, result.dataset.series),
        "sha256": result.sha256,
        "empty_cells": result.empty_cells,
        "repeated_times": result.repeated_times,
        "backward_steps": result.backward_steps,
        "long_steps": result.long_steps,
        "problems": result.problems,
        "notes": result.notes,
    }


def _verdict(result: "Check") -> tuple[str, ...]:
    verdict = f"WRONG: {result.path}: {'; '.join(result.problems)}" if result.problems else "ok"
    notes = f" ({'; '.join(result.notes)})" if result.notes else ""
    size = _size(*result.shape) if result.shape else "?"
    return result.dataset.name, result.path.name, size, result.sha256, str(result.empty_cells), verdict + notes


def _size(rows: int, series: int) -> str:
    return f"{rows} × {series}"
