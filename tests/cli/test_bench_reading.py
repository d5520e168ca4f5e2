"""`olinear bench table` and `olinear bench report`, on an app of their own."""

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from olinear.bench.read.summary import average_datasets, score_tasks, summarise
from olinear.bench.show.scores import dataset_table, summary_lines
from olinear.bench.show.tables import to_markdown
from olinear.bench.spec.identity import JobKey, TaskKey, Variant
from olinear.bench.spec.task import published
from olinear.bench.store.results import add_row
from olinear.bench.store.rows import Row
from olinear.cli.bench.rank import rank
from olinear.cli.bench.report import report
from olinear.cli.bench.table import table
from olinear.core.errors import ConfigError, DataError, OutputError

SMALL, ILI = TaskKey("ETTm1", 96, 96), TaskKey("ILI", 12, 3)
app = typer.Typer()
app.command()(table)
app.command()(report)
app.command()(rank)


def paper_rows(factor: float, keys: Iterable[TaskKey], seed: int = 2023) -> list[Row]:
    cells = {key: published()[key]["OLinear"] for key in keys}
    return [
        Row(job=JobKey(key, seed=seed), scores={"mse": factor * c["mse"], "mae": factor * c["mae"]})
        for key, c in cells.items()
    ]


def moved(row: Row, **others: object) -> Row:
    """The row of another job."""
    return replace(row, job=replace(row.job, **others))


@pytest.fixture
def results(tmp_path, monkeypatch) -> Path:
    """Two tasks, one of two seeds; no data anywhere."""
    monkeypatch.delenv("OLINEAR_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "results"
    for row in [*paper_rows(1.0, [SMALL, ILI]), *paper_rows(1.2, [ILI], 2024)]:
        add_row(folder, row)
    return folder


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def done(*arguments: object) -> Result:
    outcome = call(*arguments)
    assert outcome.exit_code == 0, outcome.output
    return outcome


def refused(kind: type[Exception], *arguments: object) -> str:
    """What the console script tells in one line."""
    outcome = call(*arguments)
    assert isinstance(outcome.exception, kind), outcome.exception
    assert outcome.stdout == ""
    return str(outcome.exception)


# table


def test_the_terminal_shows_each_task_and_the_figures(results):
    outcome = done("table", "--results", results)
    lines = outcome.stdout.splitlines()
    small = next(line for line in lines if line.startswith("ETTm1"))
    assert small.split()[:8] == ["ETTm1", "96", "96", "1", "0.302", "0.302", "1.000", "0.310"]  # one seed: no spread
    ili = next(line for line in lines if line.startswith("ILI"))
    assert ili.split()[3] == "2"
    assert "2 of 140 tasks, mean over 1 to 2 seeds each." in lines
    assert "MSE 1.050, MAE 1.050" in outcome.stdout


def test_what_is_missing_is_counted_next_to_the_output(results):
    outcome = done("table", "--results", results)
    assert outcome.stderr == "note: 138 tasks have no result (138 no data); `olinear bench report` says why\n"


def test_the_data_folder_changes_the_reason(results, tmp_path):
    (tmp_path / "ETTm1.csv").touch()
    outcome = done("table", "--results", results, "--data", tmp_path)
    assert "(3 not run yet, 135 no data)" in outcome.stderr


def test_markdown_by_dataset_is_what_readme_holds(results):
    scores = score_tasks([*paper_rows(1.0, [SMALL, ILI]), *paper_rows(1.2, [ILI], 2024)])
    expected = to_markdown(dataset_table(average_datasets(scores)), summary_lines(summarise(scores)))
    assert done("table", "--results", results, "--by", "dataset", "--format", "markdown").stdout == expected


def test_csv_is_a_table_alone(results):
    outcome = done("table", "--results", results, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(outcome.stdout)))
    assert [row["dataset"] for row in rows] == ["ETTm1", "ILI"]
    assert float(rows[1]["MSE ratio"]) == pytest.approx(1.1, rel=1e-4)
    assert "2 of 140 tasks" in outcome.stderr


def test_latex(results):
    assert done("table", "--results", results, "--format", "latex").stdout.startswith("\\begin{tabular}{l")


@pytest.mark.parametrize("format", ["terminal", "markdown", "csv", "latex"])
def test_a_file_holds_what_is_printed(results, tmp_path, format):
    printed = done("table", "--results", results, "--format", format).stdout
    outcome = done("table", "--results", results, "--format", format, "--out", tmp_path / "t")
    assert outcome.stdout == ""
    written = (tmp_path / "t").read_text("utf-8")
    assert [line.rstrip() for line in written.splitlines()] == [line.rstrip() for line in printed.splitlines()]


def test_a_suite_a_variant_a_model(results):
    add_row(results, moved(paper_rows(2.0, [SMALL])[0], variant=Variant.parse("rank=16")))
    assert "1 of 52 tasks" in done("table", "--results", results, "--suite", "long").stdout
    assert "MSE 2.000" in done("table", "--results", results, "--variant", "rank=16").stdout
    add_row(results, moved(paper_rows(3.0, [SMALL])[0], model="DLinear"))
    ratio = 3.0 * published()[SMALL]["OLinear"]["mse"] / published()[SMALL]["DLinear"]["mse"]  # next to its own
    own = done("table", "--results", results, "--model", "DLinear").stdout
    assert f"Ours / published DLinear, mean over tasks: MSE {ratio:.3f}" in own


def test_a_horizon(results):
    shown = done("table", "--results", results, "--horizon", 3, "--horizon", 6, "--format", "csv")
    assert [row["dataset"] for row in csv.DictReader(io.StringIO(shown.stdout))] == ["ILI"]
    assert "no task is like that" in refused(ConfigError, "table", "--results", results, "--horizon", 7)


def test_a_variant_in_other_letters_on_some_tasks(results):
    add_row(results, moved(paper_rows(2.0, [ILI])[0], variant=Variant.parse("bases/Fourier")))
    shown = done("table", "--results", results, "--variant", "bases/fourier", "--dataset", "ili").stdout
    assert "Ratio to our main results, mean over 1 of them: MSE 2.000" in shown
    message = refused(DataError, "table", "--results", results, "--variant", "bases/Fourier", "--suite", "long")
    assert message == "no task of these has results of bases/Fourier: leave --dataset, --horizon and --suite out"
    message = refused(ConfigError, "table", "--results", results, "--variant", "bases/Fourier", "--worse")
    assert message == "--worse is not for --variant, which shows tasks next to our main results"


def test_a_narrow_terminal_breaks_no_number(results, monkeypatch):
    """Below the width of both metrics there is a table for each."""
    monkeypatch.setattr("rich.console.Console.is_terminal", True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    for width, tables in ((40, 2), (80, 2), (150, 1)):
        monkeypatch.setenv("COLUMNS", str(width))
        printed = re.sub(r"\x1b\[[\d;]*m", "", done("table", "--results", results).stdout)
        rows = [line for line in printed.splitlines() if line.startswith("ETTm1")]
        assert len(rows) == tables
        assert all(len(row) <= max(width, 80) for row in rows)
        assert " ".join(rows).split().count("0.302") == 2  # ours and the published


# report


def test_the_page_is_written(results, tmp_path):
    outcome = done("report", "--results", results, "--out", tmp_path / "r.html")
    assert outcome.stdout == ""
    assert outcome.stderr == f"3 rows of {results} shown in {tmp_path / 'r.html'}\n"
    text = (tmp_path / "r.html").read_text("utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "2/140" in text


def test_the_page_of_a_suite(results, tmp_path):
    done("report", "--results", results, "--suite", "long", "--out", tmp_path / "r.html")
    assert "1/52" in (tmp_path / "r.html").read_text("utf-8")


# Mistakes


@pytest.mark.parametrize("command", ["table", "report"])
def test_no_results_say_how_to_make_some(tmp_path, command):
    message = refused(DataError, command, "--results", tmp_path / "none")
    assert (
        message
        == f"no results are in {tmp_path / 'none'}: make some with `olinear bench run --results {tmp_path}/none`"
    )


@pytest.mark.parametrize("command", ["table", "report"])
def test_an_absent_model_says_what_is_there(results, command):
    message = refused(DataError, command, "--results", results, "--model", "dlinear")
    assert message.endswith(
        "has no results of DLinear main, only of OLinear main: make some with "
        "`olinear bench run --model DLinear --variant main`"
    )


def test_an_absent_variant_says_what_is_there(results):
    message = refused(DataError, "table", "--results", results, "--variant", "rank=16")
    assert message.endswith(
        "has no results of OLinear rank=16, only of OLinear main: make some with "
        "`olinear bench run --model OLinear --variant rank=16`"
    )


@pytest.mark.parametrize("command", ["table", "report"])
def test_a_place_that_cannot_be_written(results, command):
    assert "cannot be written" in refused(OutputError, command, "--results", results, "--out", results / "x" / "y")


def test_a_table_may_not_pose_as_results(results):
    """The next reading of the folder would stumble over it."""
    out = results / "table.csv"
    message = refused(ConfigError, "table", "--results", results, "--format", "csv", "--out", out)
    assert message == f"{out} would be taken for a file of results: write it to another folder"
    assert not out.exists()


@pytest.mark.parametrize("option", ["--format", "--by", "--suite"])
def test_an_unknown_choice(results, option):
    assert call("table", "--results", results, option, "other").exit_code == 2


def test_models_side_by_side(tmp_path):
    """Our own runs of several models: what the mark and the rank mean stands beneath."""
    for model, mse in (("OLinear", 0.36), ("DLinear", 0.38)):
        add_row(tmp_path, Row(job=JobKey(TaskKey("ETTh1", 96, 96), model), scores={"mse": mse, "mae": mse}))
    shown = done("table", "--models", "--results", tmp_path).stdout
    assert shown.index("OLinear") < shown.index("DLinear")
    assert "OLinear is best on 1 of 1 tasks" in shown
    assert "sign-flip test" in shown
    by_mae = done("table", "--models", "--metric", "mae", "--format", "csv", "--results", tmp_path).stdout
    assert by_mae.splitlines()[:2] == ["model,dataset,lookback,horizon,mae,place,mark", "DLinear,ETTh1,96,96,0.38,2,"]
    only = refused(DataError, "table", "--models", "--dataset", "ILI", "--results", tmp_path)
    assert "has no task with results of two models: make some with `olinear bench run --model all`" in only


def test_rank_is_the_same_by_its_own_name(tmp_path):
    for model, r2 in (("OLinear", 0.6), ("DLinear", 0.5)):
        scores = {"mse": 0.4, "mae": 0.4, "r2": r2}
        add_row(tmp_path, Row(job=JobKey(TaskKey("ETTh1", 96, 96), model), scores=scores))
    assert done("rank", "--results", tmp_path).stdout == done("table", "--models", "--results", tmp_path).stdout
    shown = done("rank", "--metric", "r2", "--results", tmp_path).stdout
    assert "R², mean over 1 seed" in shown
    assert "OLinear is best on 1 of 1 tasks" in shown  # more is better
    assert refused(ConfigError, "rank", "--metric", "beauty", "--results", tmp_path).startswith("no metric is called")
    twice = ("--metric", "mse", "--metric", "mae")
    assert "ranked by one metric" in refused(ConfigError, "table", "--models", *twice, "--results", tmp_path)


def test_any_metric_of_the_rows(tmp_path):
    """Also one that nothing is published of, and that some rows lack."""
    for key, scores in ((SMALL, {"r2": 0.5, "new": 7.0}), (ILI, {"r2": 0.25})):
        add_row(tmp_path, Row(job=JobKey(key), scores={"mse": 0.4, "mae": 0.4} | scores))
    shown = done("table", "--metric", "r2", "--metric", "new", "--results", tmp_path, "--format", "csv").stdout
    assert shown.splitlines() == [
        "dataset,lookback,horizon,model,variant,seeds,r2,r2 spread,new,new spread",
        "ETTm1,96,96,OLinear,main,1,0.5,,7,",
        "ILI,12,3,OLinear,main,1,0.25,,,",
    ]
    unknown = refused(ConfigError, "table", "--metric", "beauty", "--results", tmp_path)
    assert unknown == "no row of these tasks has the metric 'beauty': there are mse, mae, r2, new"
    assert "--by compares" in refused(ConfigError, "table", "--metric", "r2", "--by", "task", "--results", tmp_path)


def test_the_worse_tasks_and_why(results):
    (results / "remarks.toml").write_text('[OLinear]\n"ILI 12->3" = "two seeds far apart"\n')
    lines = done("table", "--worse", "--results", results).stdout.splitlines()
    assert "why" in lines[1]
    assert [line.split()[:3] for line in lines if "two seeds far apart" in line] == [["ILI", "12", "3"]]
    assert not any(line.startswith("ETTm1") for line in lines)
    message = refused(ConfigError, "table", "--worse", "--by", "dataset", "--results", results)
    assert message == "--by is not for --worse, which shows tasks"


def test_some_datasets_only(results):
    shown = done("table", "--results", results, "--dataset", "ili").stdout
    assert "1 of 8 tasks" in shown
    assert "ETTm1" not in shown


@pytest.mark.parametrize("option", [["--by", "dataset"], ["--worse"], ["--variant", "main"], ["--model", "DLinear"]])
def test_what_would_be_ignored_is_refused(results, option):
    message = refused(ConfigError, "table", "--models", "--results", results, *option)
    assert message == f"{option[0]} is not for --models, which ranks the main results"


def test_a_model_in_other_letters(results):
    assert "of 140 tasks" in done("table", "--results", results, "--model", "olinear").stdout
