"""`olinear bench costs`: what every model costs on this machine, next to the paper's table of costs."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from olinear.cli.bench.grouping import with_groups
from olinear.cli.bench.options import DryRun, Hours, How, Results, Written
from olinear.cli.bench.output import check_out, deliver, duration
from olinear.cli.bench.running import check_results
from olinear.cli.common import check_picture, print_message, print_table
from olinear.core import ConfigError

if TYPE_CHECKING:
    from olinear.bench.costs import Case, CostRow, Planned


@dataclass(frozen=True)
class CostChoice:
    """What is to be measured, and drawn."""

    model: Annotated[list[str] | None, typer.Option(help="Only this model; may be repeated.")] = None
    series: Annotated[list[int] | None, typer.Option(help="Only so many series: 7, 8, 21, …; may be repeated.")] = None
    again: Annotated[bool, typer.Option("--again", help="Measure anew what has been.")] = False
    plot: Annotated[
        str | None, typer.Option(metavar="FILE", help="Draw accuracy against cost: .png, .svg or .pdf.")
    ] = None


@with_groups()
def costs(
    choice: CostChoice,
    written: Written,
    table_only: Annotated[bool, typer.Option("--table", help="Measure nothing, print what there is.")] = False,
    hours: Hours = None,
    dry_run: DryRun = False,
    results: Results = Path("results"),
) -> None:
    """Measure what each model costs here: parameters, multiplications, time and memory, next to the paper's table.

    Nothing is trained to the end. What was measured before is not measured again; a model that is not in the table of
    costs (efficiency.toml) is measured when it is named by --model.

    Example: olinear bench costs --model DLinear --series 7
    """
    if table_only and dry_run:
        raise ConfigError("--table prints what there is and --dry-run what is to be done: leave one of them out")
    check_out(written.out, results)
    measure_costs(choice, How(hours=hours, dry_run=dry_run, results=results), written, table_only=table_only)


def measure_costs(choice: CostChoice, how: How, written: Written, *, table_only: bool) -> None:
    """Measure what has no row yet, then print the table and draw the picture."""
    from olinear.bench import costs as bench

    names, counts = bench.find_models(choice.model), bench.find_series(choice.series)
    if choice.again and table_only:
        raise ConfigError("--table measures nothing and --again measures anew: leave one of them out")
    _check_files(how.results, written.out, choice.plot)
    for name in bench.without_entry(names):
        print_message(f"note: {name} has no entry in efficiency.toml and is taken with its defaults")
    cases = bench.make_cases(names, counts)
    if not table_only and not _measure(cases, choice, how):
        return
    rows = bench.costs_of(cases, how.results)
    if rows:
        parts = [bench.cost_table(rows, [part]) for part in bench.PARTS]
        deliver(bench.cost_table(rows), bench.cost_lines(rows), written, parts)
    else:
        print_message(f"nothing like that is measured in {bench.costs_file(how.results)}: run this without --table")
    if choice.plot is not None:
        _draw(how.results, choice.plot)


def _check_files(results: Path, out: Path | None, plot: str | None) -> None:
    from olinear.bench.costs import costs_file

    check_results(results)
    if out is not None and out.resolve() == costs_file(results).resolve():
        raise ConfigError(f"{out} holds what was measured: write the table to another file")
    if plot is not None:
        _check_plot(results, plot)


def _check_plot(results: Path, plot: str) -> None:
    """Refuse a picture that could not be drawn, before hours of measuring."""
    from olinear.bench import read_results
    from olinear.bench.costs import ACCURACY, mean_errors

    check_picture(plot)
    if not mean_errors(read_results(results)):
        raise ConfigError(
            f"{results} has no result on {ACCURACY} to draw costs against: make some with `olinear bench run --dataset "
            f"{ACCURACY.dataset} --horizon {ACCURACY.horizon}`"
        )


def _measure(cases: "list[Case]", choice: CostChoice, how: How) -> bool:
    """Measure, or only say what would be; whether there is something to read now."""
    import torch

    from olinear.bench.costs import Runner, make_plan
    from olinear.core.runtime import matrix_speed

    print_message("counting multiplications")
    plan = make_plan(cases, how.results, matrix_speed() * torch.get_num_threads(), again=choice.again)
    if how.dry_run:
        _print_plan(plan)
    about = duration(sum(planned.seconds for planned in plan))
    noun = "case" if len(plan) == 1 else "cases"
    print_message(f"{len(plan)} {noun} to measure, {len(cases) - len(plan)} measured before; about {about}")
    if how.dry_run or not plan:
        return not how.dry_run
    how.results.mkdir(parents=True, exist_ok=True)
    with _shown(plan) as progress:
        try:
            done = Runner(how.results, hours=how.hours, show=progress.show).run(plan)
        except KeyboardInterrupt:
            print_message("stopped; start it again to go on")
            raise typer.Exit(130) from None
    if done < len(plan):
        print_message(f"{done} measured, {len(plan) - done} left; start it again to go on")
    return True


def _print_plan(plan: "list[Planned]") -> None:
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
    """Prints how each case ended, how many are left and for about how long."""

    def __init__(self, plan: "list[Planned]", update: object):
        self.left = {planned.case: planned.seconds for planned in plan}
        self.estimated, self.began, self.update = 0.0, time.monotonic(), update

    def show(self, case: "Case", news: "str | CostRow") -> None:
        if isinstance(news, str):
            if callable(self.update):
                self.update(f"measuring {case}: {news}")
            return
        self.estimated += self.left.pop(case, 0.0)
        correction = (time.monotonic() - self.began) / self.estimated if self.estimated > 60 else 1.0
        left = f"{len(self.left)} left, about {duration(correction * sum(self.left.values()))}"
        print_message(f"{case}: {_in_words(news)}; {left}")


def _in_words(row: "CostRow") -> str:
    from olinear.bench.costs import status

    parts = []
    for stage in row.case.stages:
        error, time_taken, ratio = (getattr(row, f"{stage}_{what}") for what in ("error", "ms", "ratio"))
        parts.append(f"{stage} {status(error) if error else f'{time_taken:.4g} ms, {ratio:.3g} × OLinear'}")
    return ", ".join(parts)


def _draw(results: Path, path: str) -> None:
    from olinear import bench
    from olinear.bench import costs
    from olinear.evaluation.plots import save_figure

    rows = costs.costs_of(costs.make_cases(costs.find_models(None), [costs.SERIES]), results)
    bubbles, missing = costs.find_bubbles(rows, bench.read_results(results))
    if not bubbles:
        raise ConfigError(
            f"nothing to draw: no model with an accuracy has a training step measured with {costs.SERIES} series: run "
            f"this with --series {costs.SERIES}"
        )
    save_figure(costs.plot_costs(bubbles, missing), path)
    absent = f"; not drawn: {costs.missing_in_words(missing)}" if missing else ""
    print_message(f"{len(bubbles)} models drawn in {path}{absent}")
