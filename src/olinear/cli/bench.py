"""`olinear bench`: the paper's evaluation, from raw files to a table beside the published numbers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from olinear.cli.bench_reading import NO_TASK, Dataset, Horizon, report, select, table
from olinear.cli.bench_running import Data, DryRun, Hours, Jobs, Results, Seeds, run_jobs
from olinear.cli.bench_study import study
from olinear.core import ConfigError

if TYPE_CHECKING:
    from olinear.bench import Job

bench = typer.Typer(
    help="Rerun the paper's 140 tasks and read the results beside the published ones.", no_args_is_help=True
)

Suite = Literal["long", "short", "all"]


@bench.command()
def run(
    suite: Annotated[Suite, typer.Option(help="long: lookback 96; short: lookbacks 12 and 36.")] = "all",
    dataset: Dataset = None,
    horizon: Horizon = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="Which models (`olinear models`), or all; OLinear if left out; may be repeated."),
    ] = None,
    variant: Annotated[
        list[str] | None,
        typer.Option(
            help="main, OLinear-C, lookback-search, few-shot=first, few-shot=last, zero-shot=ETTh1, q-ratio=0.2, "
            "swapped-q=Power, embed=8, rank=16, STUDY/METHOD such as bases/Fourier, setting=NAME of models.toml; may "
            "be repeated."
        ),
    ] = None,
    seeds: Seeds = 1,
    jobs: Jobs = 2,
    hours: Hours = None,
    dry_run: DryRun = False,
    data: Data = None,
    results: Results = Path("results"),
) -> None:
    """Train and score tasks, one row of results each.

    Start it again after a stop: what is finished is not repeated, what was begun goes on from its last epoch. Several
    may run at once on one folder.

    Example: olinear bench run --suite short --dataset ILI --seeds 3
    """
    wanted = _choose_jobs(suite, dataset, horizon, model or ["OLinear"], variant or ["main"], seeds)
    if not run_jobs(wanted, results, data, jobs=jobs, hours=hours, dry_run=dry_run):
        raise typer.Exit(1)


def _choose_jobs(
    suite: Suite,
    dataset: list[str] | None,
    horizon: list[int] | None,
    models: list[str],
    variants: list[str],
    seeds: int,
) -> "list[Job]":
    from olinear.bench import expand
    from olinear.bench.spec import own_tasks, tasks
    from olinear.models import MODELS, find_model

    selection = select("OLinear", suite, dataset, horizon)
    keys = [key for key in (*tasks(), *(own_tasks() if dataset else ())) if selection.has(key)]
    if "all" in (model.casefold() for model in models):
        models = list(MODELS)
    jobs = [
        job
        for model in map(find_model, models)
        for variant in variants
        for job in expand(keys, variant, seeds, model=model)
    ]
    if not jobs:
        raise ConfigError(NO_TASK)
    return list(dict.fromkeys(jobs))


bench.command()(study)
bench.command()(table)
bench.command()(report)
