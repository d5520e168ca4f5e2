"""The results of a user's own tasks as one page: every score, the ranking, what failed; nothing published."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from olinear.bench.read.measured import measure_rows
from olinear.bench.read.ranking import rank_models
from olinear.bench.show.markup import Markup, html_table, join, tag
from olinear.bench.show.page import facts_of, page
from olinear.bench.show.rankings import ranking_lines, ranking_table
from olinear.bench.show.scores import measured_lines, measured_table
from olinear.bench.show.tables import write_text
from olinear.bench.spec.identity import TaskKey
from olinear.bench.store.rows import Row


def write_own_report(
    rows: Sequence[Row], results_folder: Path, path: Path, tasks_file: Path, keys: Sequence[TaskKey]
) -> None:
    """Write a page on some tasks; window errors are read from the folder of results."""
    body = join(
        tag("header", tag("h1", f"Results of {tasks_file.name}")),
        _scores(rows, keys),
        _ranking(rows, results_folder, keys),
        _missing(rows, keys),
        _making(rows, results_folder, tasks_file),
    )
    write_text(page(f"Results of {tasks_file.name}", body), path)


def _scores(rows: Sequence[Row], keys: Sequence[TaskKey]) -> Markup:
    metrics = list(dict.fromkeys(name for row in rows for name in row.scores))
    scores = measure_rows(rows, metrics, keys)
    if not scores:
        return tag("section", tag("p", "No task has a result yet."), id="tasks")
    lines = [tag("p", line) for line in measured_lines(scores, len(keys))]
    inside = html_table(measured_table(scores, metrics), label="Results of each task")
    return tag("section", tag("h2", "Task by task"), *lines, inside, id="tasks")


def _ranking(rows: Sequence[Row], folder: Path, keys: Sequence[TaskKey]) -> Markup:
    ranking = rank_models(rows, folder, wanted=keys)
    if not ranking.tasks:
        return Markup("")
    lines = [tag("p", line) for line in ranking_lines(ranking)]
    inside = html_table(ranking_table(ranking), label="Models by their ranks")
    return tag("section", tag("h2", "Models"), inside, *lines, id="models")


def _missing(rows: Sequence[Row], keys: Sequence[TaskKey]) -> Markup:
    done = {row.key for row in rows if row.is_result}
    lines = [f"{key}: no result" for key in keys if key not in done]
    lines += [f"{row.job}: {row.error}" for row in rows if row.error]
    if not lines:
        return Markup("")
    return tag("section", tag("h2", "What is missing"), tag("ul", *(tag("li", line) for line in lines)), id="missing")


def _making(rows: Sequence[Row], folder: Path, tasks_file: Path) -> Markup:
    options = shlex.join(["--tasks", str(tasks_file), "--results", str(folder)])
    commands = f"olinear bench run {options}\nolinear bench report {options}"
    return tag("section", tag("h2", "How it was made"), facts_of(rows), tag("pre", commands), id="making")
