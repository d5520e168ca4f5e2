"""What `olinear bench run` and `olinear bench study` share: a plan, a pool, and how it went."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from olinear.cli.common import check_data_folder, say
from olinear.core import ConfigError

if TYPE_CHECKING:
    from olinear.bench import Job

Seeds = Annotated[int, typer.Option(min=1, help="How many seeds, from 2023 on.")]
Jobs = Annotated[int, typer.Option(min=1, help="Short tasks at a time, one thread each.")]
Hours = Annotated[float | None, typer.Option(min=0, help="Stop cleanly after so long.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the plan and its estimate.")]
Data = Annotated[Path | None, typer.Option(metavar="FOLDER", help="Folder of the datasets; else OLINEAR_DATA.")]
Results = Annotated[Path, typer.Option(metavar="FOLDER", help="Folder of the results.")]


def run_jobs(
    wanted: "list[Job]", results: Path, data: Path | None, *, jobs: int, hours: float | None, dry_run: bool
) -> bool:
    """Do what has no result yet, or only say what that would be; whether every job went well."""
    from olinear.bench import Pool, make_plan, matrix_speed
    from olinear.bench.store import finished
    from olinear.cli.bench_progress import BenchProgress, print_plan

    check_data_folder(data)
    if results.exists() and not results.is_dir():
        raise ConfigError(f"--results must be a folder, found the file {results}")
    plan = make_plan(wanted, finished(results), data, matrix_speed())
    print_plan(plan, jobs, brief=not dry_run)
    if dry_run or not plan.jobs:
        return True
    results.mkdir(parents=True, exist_ok=True)
    with BenchProgress(plan, jobs) as shown:
        try:
            state = Pool(results, data, jobs=jobs, hours=hours, show=shown.show).run(plan)
        except KeyboardInterrupt:
            say("stopped; start it again to go on")
            raise typer.Exit(130) from None
    left = len(plan.jobs) - state.done - state.failed - state.elsewhere
    elsewhere = f"{state.elsewhere} by others, " if state.elsewhere else ""
    again = "; start it again to go on" if left else ""
    say(f"{state.done} done, {elsewhere}{state.failed} failed, {left} left{again}")
    return not state.failed
