"""`olinear paper`: every table, figure, equation and named system of the paper, and what the answer to it is here."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from olinear.cli.bench.options import Results
from olinear.cli.common import Json, print_json, print_message, print_wide
from olinear.core import ConfigError

if TYPE_CHECKING:
    from olinear.bench.paper import Evidence, Item, Verdict

HELP = """The OLinear paper, item by item: what it claims, which command answers it, and the answer.

Example: olinear paper list, then olinear paper show long-term, then olinear paper run jacobians
"""

paper = typer.Typer(help=HELP, no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="As `olinear paper list` names it.")]
Pictures = Annotated[Path, typer.Option(metavar="FOLDER", help="Folder of the pictures.")]
PICTURES = Path("docs/images/paper")
TESTS = Path("tests")


@paper.command("list")
def list_items(
    kind: Annotated[str | None, typer.Option(help="Only tables, figures, equations or systems.")] = None,
    results: Results = Path("results"),
    pictures: Pictures = PICTURES,
    page: Annotated[Path | None, typer.Option(metavar="FILE", help="Write all of it as a page of Markdown.")] = None,
    as_json: Json = False,
) -> None:
    """List what the paper shows, with the verdict of the results in a folder.

    same: it is so here; different: it is not; not to be had: it needs data that cannot be had; open: not computed yet.

    Example: olinear paper list --kind figures
    """
    from olinear.bench.paper import items, judge, paper_page

    evidence = _evidence(results, pictures)
    if page is not None:
        from olinear.bench import write_text

        write_text(paper_page(evidence, page), page)
        print_message(f"{len(items())} items written to {page}")
        return
    chosen = [item for item in items().values() if kind is None or item.kind == _singular(kind)]
    found = [(item, judge(item, evidence)) for item in chosen]
    if as_json:
        print_json([_as_object(item, verdict) for item, verdict in found])
        return
    rows = [(item.name, item.where, verdict.word, verdict.how) for item, verdict in found]
    print_wide(("name", "in the paper", "verdict", "why"), rows)
    typer.echo()
    counts = {
        word: sum(verdict.word == word for _, verdict in found) for word in dict.fromkeys(v.word for _, v in found)
    }
    typer.echo(f"{len(found)} items: {', '.join(f'{count} {word}' for word, count in counts.items())}")


@paper.command("show")
def show_item(
    name: Name, results: Results = Path("results"), pictures: Pictures = PICTURES, as_json: Json = False
) -> None:
    """Show one item: what it claims, the command, the verdict and what it rests on, the numbers and the picture.

    Example: olinear paper show jacobians
    """
    from olinear.bench.paper import find_item, judge, numbers_of, picture_of, reason_of

    item, evidence = find_item(name), _evidence(results, pictures)
    verdict, numbers, picture = judge(item, evidence), numbers_of(item, evidence), picture_of(item, evidence)
    if as_json:
        print_json(_as_object(item, verdict) | {"numbers": numbers, "picture": picture})
        return
    typer.echo(f"{item.name}: {item.where}\n{item.claim}.\n\n{item.command}\n")
    typer.echo(f"{verdict.word}: {verdict.how}. {reason_of(item, verdict)}".rstrip())
    if numbers:
        typer.echo()
        quantities = list(dict.fromkeys(what for values in numbers.values() for what in values))
        print_wide(
            ("", *numbers), [(what, *(_short(each.get(what)) for each in numbers.values())) for what in quantities]
        )
    if picture is not None:
        typer.echo(f"\n{picture}")


@paper.command("run")
def run_item(
    name: Name,
    results: Results = Path("results"),
    pictures: Pictures = PICTURES,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the commands and run none.")] = False,
) -> None:
    """Compute what answers an item, then show it: a picture with its numbers, or the benchmark's commands one by one.

    What has been computed is not computed again; a long run may be stopped and goes on when it is started again.

    Example: olinear paper run long-term --dry-run
    """
    from olinear.bench.paper import find_figure_of, find_item

    item = find_item(name)
    figure = find_figure_of(item)
    if dry_run:
        typer.echo(item.command)
        return
    if figure is not None:
        from olinear.bench.paper import draw_figure

        print_message(f"{figure.name}: {figure.claim}")
        draw_figure(figure, results, pictures)
    else:
        _run_commands(item, results)
    show_item(name, results, pictures)


def _run_commands(item: "Item", results: Path) -> None:
    """The commands of an item, until one fails; those that are not ours to run are named."""
    from olinear.cli.app import run

    for command in item.commands:
        if not command.startswith("bench "):
            print_message(f"not run from here: {command}")
            continue
        print_message(f"olinear {command}")
        code = run([*command.split(), "--results", str(results)])
        if code:
            raise typer.Exit(code)


def _evidence(results: Path, pictures: Path) -> "Evidence":
    from olinear.bench import read_results
    from olinear.bench.paper import Evidence

    return Evidence(read_results(results), results, pictures, TESTS if TESTS.is_dir() else None)


def _as_object(item: "Item", verdict: "Verdict") -> dict[str, Any]:
    from olinear.bench.paper import reason_of

    facts = {"name": item.name, "kind": item.kind, "where": item.where, "claim": item.claim, "command": item.command}
    cells = {"done": verdict.done, "at_hand": verdict.here, "printed": verdict.printed}
    return facts | {"verdict": verdict.word, "how": verdict.how, "reason": reason_of(item, verdict), "cells": cells}


def _singular(kind: str) -> str:
    found = kind.casefold().removesuffix("s")
    if found not in ("table", "figure", "equation", "system"):
        raise ConfigError(f"--kind must be tables, figures, equations or systems, found {kind!r}")
    return found


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"
