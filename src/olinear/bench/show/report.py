"""The results as one static page: it opens from disk, loads nothing, and is complete without JavaScript."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from olinear.bench.read.remarks import read_remarks
from olinear.bench.read.summary import (
    MAIN_RESULTS,
    WORSE,
    Missing,
    Selection,
    Summary,
    TaskScore,
    average_datasets,
    find_missing,
    is_worse,
    score_tasks,
    summarise,
)
from olinear.bench.read.variants import score_variant
from olinear.bench.show.markup import Markup, html_table, join, tag
from olinear.bench.show.page import facts_of, page
from olinear.bench.show.report_charts import Bar, Point, bar_chart, ratio_scatter, value_scatter
from olinear.bench.show.report_forecasts import forecast_section
from olinear.bench.show.scores import dataset_table, task_table, worse_table
from olinear.bench.show.tables import Column, ResultTable, write_text
from olinear.bench.spec.identity import TaskKey, Variant
from olinear.bench.store.results import read_results
from olinear.bench.store.rows import Row

DATA = "For data that is not here, `olinear data list` says how to get it."
BEST = "Best: on so many tasks, among itself and the eleven other published models; at three decimals, and ties count."


def write_report(
    results_folder: str | Path,
    path: str | Path,
    data_folder: str | Path | None = None,
    selection: Selection = MAIN_RESULTS,
) -> None:
    """Read a folder of results and write the page; `data_folder` only says why a task is missing."""
    write_text(make_report(Path(results_folder), data_folder, selection), Path(path))


def make_report(results_folder: Path, data_folder: str | Path | None, selection: Selection) -> str:
    """The page as text."""
    rows = read_results(results_folder)
    scores = score_tasks(rows, selection)
    summary = summarise(scores, selection)
    missing = find_missing(rows, selection, data_folder)
    worse = worse_table(scores, read_remarks(results_folder, selection.model))
    body = join(
        _head(summary, selection),
        *([_charts(scores, selection), _datasets(scores, selection), _details(scores)] if scores else []),
        _worse(worse),
        _other_models(rows, selection),
        _variants(rows, selection),
        forecast_section(results_folder, selection),
        _missing(missing, rows, selection),
        _making(rows, results_folder, selection),
    )
    title = f"{selection.model} next to the paper"
    return page(title, body)


def _head(summary: Summary, selection: Selection) -> Markup:
    """The figures over all tasks."""
    suite = "" if selection.suite == "all" else f", {selection.suite} suite"
    seeds = " to ".join(map(str, sorted(set(summary.seeds))))
    tiles = [
        ("with a result", f"{summary.tasks}/{summary.of}", f"tasks; seeds: {seeds}"),
        ("mean MSE ratio", _figure(summary.mse_ratio), "ours / published"),
        ("mean MAE ratio", _figure(summary.mae_ratio), "ours / published"),
        (f"above {WORSE} in MSE", str(len(summary.worse)), f"of {summary.tasks} tasks"),
        ("best MSE", str(summary.best_mse), f"published {summary.reference}: {summary.published_best_mse}"),
        ("best MAE", str(summary.best_mae), f"published {summary.reference}: {summary.published_best_mae}"),
    ]
    drawn = [
        tag("div", tag("dt", name), tag("dd", value), tag("dd", note, class_="note")) for name, value, note in tiles
    ]
    return tag(
        "header",
        tag("h1", f"{selection.model} next to the paper"),
        tag("p", f"Our results{suite} on the paper's test windows, mean over seeds, and the published ones."),
        tag("dl", *drawn, class_="tiles"),
        tag("p", BEST, class_="note"),
    )


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _charts(scores: Sequence[TaskScore], selection: Selection) -> Markup:
    ratios = {average.dataset: average.mse.ratio for average in average_datasets(scores, selection)}
    names = {key.dataset: None for key in selection.tasks}
    bars = [Bar(name, ratios.get(name)) for name in names]
    values, both = [], []
    for score in scores:
        kind = score.key.suite
        text = f"{score.key}: ours {score.mse.ours:.3f}, published {score.mse.published:.3f}"
        values.append(Point(score.mse.published, score.mse.ours, kind, f"{text}, ratio {score.mse.ratio:.3f}"))
        title = f"{score.key}: MSE ratio {score.mse.ratio:.3f}, MAE ratio {score.mae.ratio:.3f}"
        both.append(Point(score.mse.ratio, score.mae.ratio, kind, title))
    keys = [
        tag("span", tag("i", class_=kind), f"{kind} suite", class_="key")
        for kind in sorted({score.key.suite for score in scores})
    ]
    charts = [
        (
            "MSE ratio by dataset",
            f"Mean over its tasks. Left of 1 is better than published; the dashed line is {WORSE}.",
            bar_chart(bars, "Bars: mean MSE ratio of each dataset"),
        ),
        (
            "MSE of each task",
            "On the line, ours and the published are equal.",
            value_scatter(values, ("published MSE", "our MSE"), "Scatter: our MSE and the published of each task"),
        ),
        (
            "Ratios of each task",
            f"Ours / published. The dashed line is {WORSE} in MSE.",
            ratio_scatter(both, ("MSE ratio", "MAE ratio"), "Scatter: MSE and MAE ratio of each task"),
        ),
    ]
    figures = [
        tag("figure", tag("h3", title), chart, tag("figcaption", *([] if index == 0 else keys), text))
        for index, (title, text, chart) in enumerate(charts)
    ]
    return tag(
        "section", tag("h2", "Next to the published results"), tag("div", *figures, class_="charts"), id="charts"
    )


def _datasets(scores: Sequence[TaskScore], selection: Selection) -> Markup:
    table = dataset_table(average_datasets(scores, selection))
    inside = html_table(table, _ratio_classes(table), "Means by dataset")
    return tag(
        "section", tag("h2", "By dataset"), tag("p", "Means over the tasks that have a result."), inside, id="datasets"
    )


def _details(scores: Sequence[TaskScore]) -> Markup:
    table = task_table(scores)
    text = (
        "Mean over seeds and its spread (standard deviation), the published value, and the best of the eleven "
        "published baselines; ours is bold where none of them is better."
    )
    inside = html_table(table, _ratio_classes(table), "Results of each task")
    return tag("section", tag("h2", "Task by task"), tag("p", text), inside, id="tasks")


def _worse(table: ResultTable) -> Markup:
    if not table.cells:
        return Markup("")
    text = f"The tasks whose MSE is more than {WORSE} times the published one."
    inside = html_table(table, label="Tasks worse than published")
    return tag("section", tag("h2", "Where ours is worse, and why"), tag("p", text), inside, id="worse")


def _ratio_classes(table: ResultTable) -> dict[tuple[int, int], str]:
    """The colour of each ratio."""
    places = [place for place, column in enumerate(table.columns) if column.name.endswith("ratio")]
    classes = {}
    for index, row in enumerate(table.cells):
        for place in places:
            ratio = row[place]
            if isinstance(ratio, float) and (ratio < 1 or is_worse(ratio)):
                classes[index, place] = "better" if ratio < 1 else "worse"
    return classes


def _other_models(rows: Sequence[Row], selection: Selection) -> Markup:
    """One line for each other model in the results."""
    columns = [Column("model", False), *map(Column, ("tasks", "of", "MSE ratio", "MAE ratio"))]
    table = ResultTable([*columns, *map(Column, (f"above {WORSE} in MSE", "best MSE", "best MAE"))], [])
    for model in sorted({row.model for row in rows if row.is_result} - {selection.model}):
        other = replace(selection, model=model)
        found = summarise(score_tasks(rows, other), other)
        if found.tasks:
            figures = [found.mse_ratio, found.mae_ratio, len(found.worse), found.best_mse, found.best_mae]
            table.cells.append([model, found.tasks, found.of, *figures])
    if not table.cells:
        return Markup("")
    text = "Ratios are to the published value of the same model (of OLinear, where the paper has none of it)."
    inside = html_table(table, _ratio_classes(table), "Other models")
    return tag("section", tag("h2", "Other models"), tag("p", text), inside, id="models")


def _variants(rows: Sequence[Row], selection: Selection) -> Markup:
    """One line for each variant in the results, of any model."""
    columns = [Column("model", False), Column("variant", False), *map(Column, ("tasks", "MSE ratio", "MAE ratio"))]
    table = ResultTable(columns, [])
    wanted = set(selection.tasks)
    for model, variant in sorted({(row.model, str(row.variant)) for row in rows if row.is_result}):
        scores = [] if variant == "main" else score_variant(rows, Variant.parse(variant), model)
        pairs = [(s.mse.ratio, s.mae.ratio) for s in scores if s.key in wanted and s.mse.ratio and s.mae.ratio]
        if pairs:
            table.cells.append([model, variant, len(pairs), *map(fmean, zip(*pairs, strict=True))])
    if not table.cells:
        return Markup("")
    text = "Ratios are to our own main results of the same model and tasks."
    inside = html_table(table, _ratio_classes(table), "Variants")
    return tag("section", tag("h2", "Variants"), tag("p", text), inside, id="variants")


def _missing(missing: Sequence[Missing], rows: Sequence[Row], selection: Selection) -> Markup:
    """Tasks without a result, one line for each dataset and reason; then failed runs of tasks that have another."""
    groups: dict[tuple[str, str], list[TaskKey]] = {}
    for item in missing:
        groups.setdefault((item.key.dataset, item.reason), []).append(item.key)
    columns = [Column("dataset", False), Column("tasks", False), Column("why", False)]
    cells = [[name, ", ".join(f"{k.lookback}->{k.horizon}" for k in keys), why] for (name, why), keys in groups.items()]
    gone = {item.key for item in missing}
    failed = [row for row in selection.pick(rows) if row.error and row.key not in gone]
    text = (
        f"{len(missing)} of {len(selection.tasks)} tasks have no result. {DATA}"
        if missing
        else "Nothing: every task has a result."
    )
    parts = [tag("h2", "What is missing and why"), tag("p", text)]
    if cells:
        parts.append(html_table(ResultTable(columns, [list(row) for row in cells]), label="Missing tasks"))
    if failed:
        parts.append(tag("p", "Runs that failed, of tasks that have another result:"))
        parts.append(tag("ul", *(tag("li", f"{row.job}: {row.error}") for row in failed)))
    return tag("section", *parts, id="missing")


def _making(rows: Sequence[Row], results_folder: Path, selection: Selection) -> Markup:
    """With what, from which source, by which commands."""
    options = ["--results", str(results_folder)]
    for name in ("model", "suite"):
        if getattr(selection, name) != getattr(MAIN_RESULTS, name):
            options += [f"--{name}", getattr(selection, name)]
    written = shlex.join([*options, *(part for dataset in selection.datasets for part in ("--dataset", dataset))])
    commands = f"olinear bench run {written}\nolinear bench report {written}"
    return tag(
        "section", tag("h2", "How it was made"), facts_of(selection.pick(rows)), tag("pre", commands), id="making"
    )
