"""What `olinear bench run` and `olinear bench study` share: a plan, a pool, and how it went."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from olinear.cli.bench.options import How
from olinear.cli.common import check_data_folder, print_message
from olinear.core import ConfigError

if TYPE_CHECKING:
    from olinear.bench import JobKey, TaskSet


def run_jobs(wanted: "Sequence[JobKey]", how: How, tasks: "TaskSet | None" = None) -> bool:
    """Do what has no result yet, or only say what that would be; whether every job went well."""
    from olinear.bench import Pool, finished, make_plan
    from olinear.cli.bench.progress import BenchProgress, print_plan
    from olinear.core.runtime import product_speed, quicker_kernels

    check_data_folder(how.data)
    check_results(how.results)
    speed = product_speed("float32" if how.precision == "float32" else "bfloat16", quicker_kernels())
    plan = make_plan(wanted, finished(how.results), how.data, speed, tasks, how.precision)
    print_plan(plan, how.jobs, brief=not how.dry_run)
    if how.dry_run or not plan.jobs:
        return True
    how.results.mkdir(parents=True, exist_ok=True)
    with BenchProgress(plan, how.jobs) as shown:
        try:
            state = Pool(how.results, how.data, jobs=how.jobs, hours=how.hours, show=shown.show).run(plan)
        except KeyboardInterrupt:
            print_message("stopped; start it again to go on")
            raise typer.Exit(130) from None
    left = len(plan.jobs) - state.done - state.failed - state.elsewhere
    elsewhere = f"{state.elsewhere} by others, " if state.elsewhere else ""
    again = "; start it again to go on" if left else ""
    print_message(f"{state.done} done, {elsewhere}{state.failed} failed, {left} left{again}")
    return not state.failed


def check_results(folder: Path) -> None:
    """Refuse a --results that is a file."""
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"--results must be a folder, found the file {folder}")
