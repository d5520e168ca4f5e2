"""`olinear bench study`: the paper's ablations and plug-in experiments by name."""

import time
from dataclasses import replace
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
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from olinear.bench import JobKey, Study, TaskKey, Variant

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
    search_rate: Annotated[
        bool,
        typer.Option("--search-rate", help="Each method with a learning rate and schedule chosen by validation."),
    ] = False,
    table_only: Annotated[bool, typer.Option("--table", help="Train nothing, print what there is.")] = False,
) -> None:
    """Compare methods as the paper's ablations do: train what has no result yet, then print ours next to the paper's.

    Beneath the table stands where the order of methods agrees with the paper's; a difference within seed spread is a
    tie. A method is the variant STUDY/METHOD: `olinear bench run --variant mixers/Mamba --dataset ETTh1` runs one on
    any task.

    --search-rate gives each method, for each model and task, the learning rate and schedule that have the lowest
    validation loss in short trials with one seed; the trials are rows in the folder `searches` of the results, and the
    table is of the methods with what was chosen for them.

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
    compare = _search if search_rate else _plain
    if not compare(chosen, how, written, seeds, under, table_only=table_only):
        raise typer.Exit(1)


def _jobs(wanted: "list[JobKey]", under: float | None, results: "Path") -> "list[JobKey]":
    from olinear.bench import repeat_quick

    return wanted if under is None else repeat_quick(wanted, results, under)


def _plain(chosen: "Study", how: How, written: Written, seeds: int, under: float | None, *, table_only: bool) -> bool:
    """Train each method as its task says; whether all went well."""
    from olinear.bench import study_jobs

    well = table_only or run_jobs(_jobs(study_jobs(chosen, seeds), under, how.results), how)
    if not how.dry_run:
        _print_comparison(chosen, how.results, written)
    return well


def _search(chosen: "Study", how: How, written: Written, seeds: int, under: float | None, *, table_only: bool) -> bool:
    """Try rates and schedules, then train each method with those that validation chose; whether all went well."""
    from olinear import bench

    trials_folder, begun = how.results / bench.SEARCHES, time.monotonic()
    check_out(written.out, trials_folder)
    trials = [trial.job for arm in bench.find_arms(chosen) for trial in bench.make_trials(chosen, arm)]
    well = table_only or run_jobs(trials, replace(how, results=trials_folder))
    if how.dry_run:
        print_message("then each method with the rate and schedule that validation chose")
        return well
    choices = bench.choose_rates(chosen, bench.read_results(trials_folder))
    if not table_only:
        hours = None if how.hours is None else max(how.hours - (time.monotonic() - begun) / 3600, 0.0)
        jobs = [job for choice in choices.values() for job in choice.jobs(seeds)]
        well = run_jobs(_jobs(jobs, under, how.results), replace(how, hours=hours)) and well
    variants = {arm: choice.jobs(1)[0].variant for arm, choice in choices.items()}
    _print_comparison(
        chosen, how.results, written, lambda *arm: variants.get(bench.Arm(*arm)), bench.choice_lines(chosen, choices)
    )
    return well


def _list_all() -> None:
    from olinear.bench import studies

    print_wide(("study", "methods", "about"), [_line(study) for study in studies().values()])


def _print_comparison(
    chosen: "Study",
    results: "Path",
    written: Written,
    variant_of: "Callable[[str, TaskKey, str], Variant | None] | None" = None,
    further: "Sequence[str]" = (),
) -> None:
    from olinear.bench import compare, order_lines, read_results, study_table

    found = compare(chosen, read_results(results), variant_of)
    comparisons = [each for each in found if each.methods > 1]
    if not comparisons:
        for line in (f"no two methods of {chosen.name} have results in {results}", *further):
            print_message(line)
        return
    deliver(study_table(comparisons), [*order_lines(comparisons), *further], written)
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
