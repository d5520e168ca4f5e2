"""`olinear bench study`: the paper's ablations and plug-in experiments by name."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from olinear.cli.bench_efficiency import Again, Choice, Models, Picture, Series, check_options, study_efficiency
from olinear.cli.bench_reading import Format, Out, check_out, deliver
from olinear.cli.bench_running import Data, DryRun, Hours, Jobs, Results, Seeds, run_jobs
from olinear.cli.common import print_wide, say
from olinear.core import ConfigError

if TYPE_CHECKING:
    from olinear.bench.spec import Study


def study(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Which; without, all are listed.")] = None,
    dataset: Annotated[list[str] | None, typer.Option(help="Only this of its datasets; may be repeated.")] = None,
    seeds: Seeds = 1,
    under: Annotated[
        float | None, typer.Option(min=0, help="More seeds only where the first took less than so many seconds.")
    ] = None,
    jobs: Jobs = 2,
    hours: Hours = None,
    dry_run: DryRun = False,
    table_only: Annotated[bool, typer.Option("--table", help="Train nothing, print what there is.")] = False,
    format: Format = "terminal",
    out: Out = None,
    model: Models = None,
    series: Series = None,
    again: Again = False,
    plot: Picture = None,
    data: Data = None,
    results: Results = Path("results"),
) -> None:
    """Compare methods as the paper's ablations do: train what has no result yet, then print ours beside the paper's.

    Beneath the table stands where the order of methods agrees with the paper's; a difference within seed spread is a
    tie. A method is the variant STUDY/METHOD: `olinear bench run --variant mixers/Mamba --dataset ETTh1` runs one on
    any task.

    The study efficiency trains nothing: it measures what each model costs here, beside the paper's table of costs.

    Example: olinear bench study bases --dataset ILI --seeds 3 --under 60
    """
    from olinear.bench.costs import STUDY
    from olinear.bench.spec import find_study, studies, study_jobs
    from olinear.bench.store import repeat_quick

    if name is None:
        _list_all()
        return
    if name not in (*studies(), STUDY):
        raise ConfigError(f"no study is called {name!r}: there are {', '.join(studies())} and {STUDY}")
    check_options(context, efficiency=name == STUDY)
    if table_only and dry_run:
        raise ConfigError("--table prints what there is and --dry-run what is to be done: leave one of them out")
    check_out(out, results)
    if name == STUDY:
        choice = Choice(model, series, again=again, dry_run=dry_run, hours=hours)
        study_efficiency(choice, results, table_only=table_only, plot=plot, format=format, out=out)
        return
    chosen = _only(find_study(name), dataset)
    wanted = study_jobs(chosen, seeds)
    if under is not None:
        wanted = repeat_quick(wanted, results, under)
    well = table_only or run_jobs(wanted, results, data, jobs=jobs, hours=hours, dry_run=dry_run)
    if not dry_run:
        _print_comparison(chosen, results, format, out)
    if not well:
        raise typer.Exit(1)


def _list_all() -> None:
    from olinear.bench.costs import ABOUT, STUDY, known_models
    from olinear.bench.spec import studies

    efficiency = (STUDY, str(len(known_models())), ABOUT)
    print_wide(("study", "methods", "about"), [*map(_line, studies().values()), efficiency])


def _print_comparison(chosen: "Study", results: Path, format: Format, out: Path | None) -> None:
    from olinear.bench.read import compare, order_lines, study_table
    from olinear.bench.store import read_results

    found = compare(chosen, read_results(results))
    comparisons = [each for each in found if each.methods > 1]
    if not comparisons:
        say(f"no two methods of {chosen.name} have results in {results}")
        return
    deliver(study_table(comparisons), order_lines(comparisons), format, out)
    missing = [f"{each.model} on {each.place.dataset} {each.place.lookback}" for each in found if each.methods < 2]
    if missing:
        say(f"note: without results of two methods: {', '.join(dict.fromkeys(missing))}")


def _line(study: "Study") -> tuple[str, str, str]:
    on = ", ".join(dict.fromkeys(f"{place.dataset} {place.lookback}" for place in study.on))
    return study.name, str(len(study.methods)), f"{study.about}; on {on}"


def _only(study: "Study", names: list[str] | None) -> "Study":
    """The study on some of its datasets."""
    from olinear.data.datasets import find_dataset

    if not names:
        return study
    wanted = {find_dataset(name).name for name in names}
    on = tuple(place for place in study.on if place.dataset in wanted)
    if len({place.dataset for place in on}) < len(wanted):
        there = ", ".join(dict.fromkeys(place.dataset for place in study.on))
        raise ConfigError(f"the study {study.name} is on {there}: for another, `olinear bench run --variant`")
    return study.model_copy(update={"on": on})
