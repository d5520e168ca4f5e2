"""`olinear bench study`: the paper's ablations and plug-in experiments by name."""

from typing import TYPE_CHECKING, Annotated

import typer

from olinear.cli.bench.costs import CostChoice, measure_costs
from olinear.cli.bench.grouping import with_groups
from olinear.cli.bench.options import How, Seeds, Written
from olinear.cli.bench.output import check_out, deliver
from olinear.cli.bench.running import run_jobs
from olinear.cli.common import print_message, print_wide, refuse_given
from olinear.core import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from olinear.bench import JobKey, Study

COSTS = "efficiency"  # what `olinear bench costs` was called


@with_groups(hide=["costs"])
def study(
    context: typer.Context,
    how: How,
    written: Written,
    costs: CostChoice,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Which; without, all are listed.")] = None,
    dataset: Annotated[list[str] | None, typer.Option(help="Only this of its datasets; may be repeated.")] = None,
    seeds: Seeds = 1,
    under: Annotated[
        float | None, typer.Option(min=0, help="More seeds only where the first took less than so many seconds.")
    ] = None,
    table_only: Annotated[bool, typer.Option("--table", help="Train nothing, print what there is.")] = False,
) -> None:
    """Compare methods as the paper's ablations do: train what has no result yet, then print ours next to the paper's.

    Beneath the table stands where the order of methods agrees with the paper's; a difference within seed spread is a
    tie. A method is the variant STUDY/METHOD: `olinear bench run --variant mixers/Mamba --dataset ETTh1` runs one on
    any task.

    Example: olinear bench study bases --dataset ILI --seeds 3 --under 60
    """
    if name is None:
        _list_all()
        return
    if table_only and how.dry_run:
        raise ConfigError("--table prints what there is and --dry-run what is to be done: leave one of them out")
    check_out(written.out, how.results)
    if name == COSTS:
        others = ("dataset", "seeds", "under", "jobs", "data")
        refuse_given(context, others, "is not for costs: choose by --model and --series")
        print_message("hint: this is `olinear bench costs` now")
        measure_costs(costs, how, written, table_only=table_only)
        return
    refuse_given(context, ("model", "series", "again", "plot"), "belongs to `olinear bench costs`")
    chosen = _find(name, dataset)
    well = table_only or run_jobs(_jobs(chosen, seeds, under, how.results), how)
    if not how.dry_run:
        _print_comparison(chosen, how.results, written)
    if not well:
        raise typer.Exit(1)


def _jobs(chosen: "Study", seeds: int, under: float | None, results: "Path") -> "list[JobKey]":
    from olinear.bench import repeat_quick, study_jobs

    wanted = study_jobs(chosen, seeds)
    return wanted if under is None else repeat_quick(wanted, results, under)


def _list_all() -> None:
    from olinear.bench import studies

    print_wide(("study", "methods", "about"), [_line(study) for study in studies().values()])


def _print_comparison(chosen: "Study", results: "Path", written: Written) -> None:
    from olinear.bench import compare, order_lines, read_results, study_table

    found = compare(chosen, read_results(results))
    comparisons = [each for each in found if each.methods > 1]
    if not comparisons:
        print_message(f"no two methods of {chosen.name} have results in {results}")
        return
    deliver(study_table(comparisons), order_lines(comparisons), written)
    missing = [f"{each.model} on {each.place.dataset} {each.place.lookback}" for each in found if each.methods < 2]
    if missing:
        print_message(f"note: without results of two methods: {', '.join(dict.fromkeys(missing))}")


def _line(study: "Study") -> tuple[str, str, str]:
    on = ", ".join(dict.fromkeys(f"{place.dataset} {place.lookback}" for place in study.on))
    return study.name, str(len(study.methods)), f"{study.about}; on {on}"


def _find(name: str, names: list[str] | None) -> "Study":
    """A study by its name, on some of its datasets."""
    from olinear.bench import find_study
    from olinear.data.datasets import find_dataset

    study = find_study(name)
    if not names:
        return study
    wanted = {find_dataset(name).name for name in names}
    on = tuple(place for place in study.on if place.dataset in wanted)
    if len({place.dataset for place in on}) < len(wanted):
        there = ", ".join(dict.fromkeys(place.dataset for place in study.on))
        raise ConfigError(f"the study {study.name} is on {there}: for another, `olinear bench run --variant`")
    return study.model_copy(update={"on": on})
