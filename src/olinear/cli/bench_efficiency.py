"""`olinear bench study efficiency`: what every model costs on this machine, beside the paper's table of costs."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from olinear.cli.bench_reading import Format, deliver
from olinear.cli.common import check_picture, print_table, refuse_given, say
from olinear.core import ConfigError

if TYPE_CHECKING:
    from olinear.bench.costs import Case, CostRow, Planned

PANEL = "Only for efficiency"
Models = Annotated[list[str] | None, typer.Option(help="Only this model; may be repeated.", rich_help_panel=PANEL)]
Series = Annotated[
    list[int] | None, typer.Option(help="Only so many series: 7, 8, 21, …; may be repeated.", rich_help_panel=PANEL)
]
Again = Annotated[bool, typer.Option("--again", help="Measure anew what has been.", rich_help_panel=PANEL)]
Picture = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Draw accuracy against cost: .png, .svg or .pdf.", rich_help_panel=PANEL),
]


@dataclass(frozen=True)
class Choice:
    """What is to be measured."""

    models: list[str] | None
    series: list[int] | None
    again: bool = False
    dry_run: bool = False
    hours: float | None = None


def check_options(context: typer.Context, *, efficiency: bool) -> None:
    """Refuse an option of the other kind of study."""
    if efficiency:
        others = ("dataset", "seeds", "under", "jobs", "data")
        refuse_given(context, others, "is not for this study: choose by --model and --series")
    else:
        refuse_given(context, ("model", "series", "again", "plot"), "belongs to the study efficiency")


def study_efficiency(
    choice: Choice, results: Path, *, table_only: bool, plot: str | None, format: Format, out: Path | None
) -> None:
    """Measure what has no row yet, then print the table and draw the picture."""
    from olinear.bench.costs import (
        PARTS,
        cost_lines,
        cost_table,
        costs_file,
        costs_of,
        find_models,
        find_series,
        make_cases,
        without_entry,
    )

    names, counts = find_models(choice.models), find_series(choice.series)
    if choice.again and table_only:
        raise ConfigError("--table measures nothing and --again measures anew: leave one of them out")
    _check_files(results, out, plot)
    for name in without_entry(names):
        say(f"note: {name} has no entry in efficiency.toml and is taken with its defaults")
    cases = make_cases(names, counts)
    if not table_only and not _measure(cases, choice, results):
        return
    rows = costs_of(cases, results)
    if rows:
        parts = [cost_table(rows, [part]) for part in PARTS]
        deliver(cost_table(rows), cost_lines(rows), format, out, parts)
    else:
        say(f"nothing like that is measured in {costs_file(results)}: run this without --table")
    if plot is not None:
        _draw(results, plot)


def _check_files(results: Path, out: Path | None, plot: str | None) -> None:
    from olinear.bench.costs import costs_file

    if results.exists() and not results.is_dir():
        raise ConfigError(f"--results must be a folder, found the file {results}")
    if out is not None and out.resolve() == costs_file(results).resolve():
        raise ConfigError(f"{out} holds what was measured: write the table to another file")
    if plot is not None:
        _check_plot(results, plot)


def _check_plot(results: Path, plot: str) -> None:
    """Refuse a picture that could not be drawn, before hours of measuring."""
    from olinear.bench.costs import ACCURACY, mean_errors
    from olinear.bench.store import read_results

    check_picture(plot)
    if not mean_errors(read_results(results)):
        raise ConfigError(
            f"{results} has no result on {ACCURACY} to draw costs against: make some with `olinear bench run --dataset "
            f"{ACCURACY.dataset} --horizon {ACCURACY.horizon}`"
        )


def _measure(cases: "list[Case]", choice: Choice, results: Path) -> bool:
    """Measure, or only say what would be; whether there is something to read now."""
    import torch

    from olinear.bench.costs import Runner, make_plan
    from olinear.bench.run import matrix_speed
    from olinear.cli.bench_progress import duration

    say("counting multiplications")
    plan = make_plan(cases, results, matrix_speed() * torch.get_num_threads(), again=choice.again)
    if choice.dry_run:
        _print_plan(plan)
    about = duration(sum(planned.seconds for planned in plan))
    noun = "case" if len(plan) == 1 else "cases"
    say(f"{len(plan)} {noun} to measure, {len(cases) - len(plan)} measured before; about {about}")
    if choice.dry_run or not plan:
        return not choice.dry_run
    results.mkdir(parents=True, exist_ok=True)
    with _shown(plan) as progress:
        try:
            done = Runner(results, hours=choice.hours, show=progress.show).run(plan)
        except KeyboardInterrupt:
            say("stopped; start it again to go on")
            raise typer.Exit(130) from None
    if done < len(plan):
        say(f"{done} measured, {len(plan) - done} left; start it again to go on")
    return True


def _print_plan(plan: "list[Planned]") -> None:
    from olinear.cli.bench_progress import duration

    rows = []
    for planned in plan:
        case, counts = planned.case, planned.counts
        numbers = [f"{number / 1e6:,.2f}" for number in counts] if counts else ["", planned.error]
        rows.append([case.model, case.form, case.series, *numbers, ", ".join(case.stages), duration(planned.seconds)])
    print_table(["model", "form", "series", "parameters (M)", "multiplications (M)", "stages", "about"], rows)


@contextmanager
def _shown(plan: "list[Planned]") -> "Iterator[_Progress]":
    """On a terminal with a line for what is measured now; elsewhere a line for each case that ends."""
    from rich.console import Console

    console = Console(file=sys.stderr)
    if not console.is_terminal:
        yield _Progress(plan, None)
        return
    with console.status("starting") as status:
        yield _Progress(plan, status.update)


class _Progress:
    """Tells how each case ended, how many are left and for about how long."""

    def __init__(self, plan: "list[Planned]", update: object):
        self.left = {planned.case: planned.seconds for planned in plan}
        self.estimated, self.began, self.update = 0.0, time.monotonic(), update

    def show(self, case: "Case", news: "str | CostRow") -> None:
        from olinear.cli.bench_progress import duration

        if isinstance(news, str):
            if callable(self.update):
                self.update(f"measuring {case}: {news}")
            return
        self.estimated += self.left.pop(case, 0.0)
        correction = (time.monotonic() - self.began) / self.estimated if self.estimated > 60 else 1.0
        left = f"{len(self.left)} left, about {duration(correction * sum(self.left.values()))}"
        say(f"{case}: {_in_words(news)}; {left}")


def _in_words(row: "CostRow") -> str:
    from olinear.bench.costs import status

    said = []
    for stage in row.case.stages:
        error, time_taken, ratio = (getattr(row, f"{stage}_{what}") for what in ("error", "ms", "ratio"))
        said.append(f"{stage} {status(error) if error else f'{time_taken:.4g} ms, {ratio:.3g} × OLinear'}")
    return ", ".join(said)


def _draw(results: Path, path: str) -> None:
    from olinear.bench.costs import SERIES, costs_of, find_bubbles, find_models, make_cases, plot_costs, say_missing
    from olinear.bench.store import read_results
    from olinear.evaluation.plots import save_figure

    bubbles, missing = find_bubbles(costs_of(make_cases(find_models(None), [SERIES]), results), read_results(results))
    if not bubbles:
        raise ConfigError(
            f"nothing to draw: no model with an accuracy has a training step measured with {SERIES} series: run this "
            f"with --series {SERIES}"
        )
    save_figure(plot_costs(bubbles, missing), path)
    absent = f"; not drawn: {say_missing(missing)}" if missing else ""
    say(f"{len(bubbles)} models drawn in {path}{absent}")
