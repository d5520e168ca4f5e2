"""`olinear bench run`: train and score tasks, one row of results each."""

from typing import TYPE_CHECKING, Annotated

import typer

from olinear.cli.bench.grouping import with_groups
from olinear.cli.bench.options import NO_TASK, How, Seeds, Wanted, select, select_own
from olinear.cli.bench.running import run_jobs
from olinear.cli.common import refuse_given
from olinear.core import ConfigError

if TYPE_CHECKING:
    from olinear.bench import JobKey


@with_groups()
def run(
    context: typer.Context,
    wanted: Wanted,
    how: How,
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="Which models (`olinear models`); all for all that are not slow; OLinear if left out; may be repeated."
        ),
    ] = None,
    variant: Annotated[
        list[str] | None,
        typer.Option(
            help="main, OLinear-C, lookback-search, lookback=48, few-shot=first, few-shot=last, share=0.2, "
            "zero-shot=ETTh1, q-ratio=0.2, swapped-q=Power, embed=8, blocks=3, width=256, lr=1e-3, schedule=cosine, "
            "epochs=40, normlin-rate=10, rank=16, STUDY/METHOD such as bases/Fourier, setting=NAME of models.toml; "
            "several at once with commas, as OLinear-C,lookback-search; may be repeated."
        ),
    ] = None,
    seeds: Seeds = 1,
) -> None:
    """Train and score tasks, one row of results each.

    Start it again after a stop: what is finished is not repeated, what was begun goes on from its last epoch. Several
    may run at once on one folder.

    Example: olinear bench run --suite short --dataset ILI --seeds 3
    """
    if wanted.tasks is not None:
        of_file = ("suite", "model", "variant", "seeds")
        refuse_given(context, of_file, f"is set in {wanted.tasks}, for each of its tasks")
        own, keys = select_own(wanted.tasks, wanted)
        well = run_jobs([job for job in own.jobs if job.key in keys], how, own.tasks)
    else:
        well = run_jobs(_choose_jobs(wanted, model or ["OLinear"], variant or ["main"], seeds), how)
    if not well:
        raise typer.Exit(1)


def _choose_jobs(wanted: Wanted, models: list[str], variants: list[str], seeds: int) -> "list[JobKey]":
    from olinear.bench import expand, own_tasks, tasks
    from olinear.models import MODELS

    selection = select("OLinear", wanted.suite, wanted.dataset, wanted.horizon)
    keys = [key for key in (*tasks(), *(own_tasks() if wanted.dataset else ())) if selection.has(key)]
    if "all" in (model.casefold() for model in models):
        models = [name for name in MODELS if not MODELS.find(name).traits.slow]
    jobs = [
        job
        for model in models
        for variant in variants
        for job in expand(keys, variant, seeds, model=MODELS.find(model).name)
    ]
    if not jobs:
        raise ConfigError(NO_TASK)
    return list(dict.fromkeys(jobs))
