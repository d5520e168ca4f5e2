"""`olinear bench … --tasks`: the same runner, table, ranking and page for a user's own tasks."""

from pathlib import Path

import pytest
from cli_parts import done, refused

TASKS = Path(__file__).parents[2] / "examples" / "own_tasks" / "tasks.toml"


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    """The example, run as its documentation says; one horizon, to save time."""
    folder = tmp_path_factory.mktemp("own") / "results"
    outcome = done("bench", "run", "--tasks", TASKS, "--results", folder, "--horizon", 7)
    assert "5 jobs to do, 0 finished before" in outcome.err
    assert outcome.err.endswith("5 done, 0 failed, 0 left\n")
    return folder


def test_the_plan(tmp_path):
    lines = done("bench", "run", "--tasks", TASKS, "--dry-run", "--results", tmp_path / "none").out.splitlines()[1:]
    assert len(lines) == 10
    assert {line.split()[0] for line in lines} == {"bakery"}


def test_the_table_says_that_nothing_is_published(results):
    shown = done("bench", "table", "--tasks", TASKS, "--results", results).out
    assert "These are your own tasks: nothing is published to stand next to them." in shown
    assert "1 of 2 tasks, mean over 1 to 2 seeds each." in shown
    assert "paper" not in shown
    rows = done("bench", "table", "--tasks", TASKS, "--results", results, "--format", "csv", "--metric", "mase").out
    assert [line.split(",")[3] for line in rows.splitlines()[1:]] == ["DLinear", "OLinear", "Ridge"]
    one = done("bench", "table", "--tasks", TASKS, "--results", results, "--format", "csv", "--model", "ridge").out
    assert len(one.splitlines()) == 2


def test_the_ranking(results):
    shown = done("bench", "rank", "--tasks", TASKS, "--results", results).out
    assert "bakery 28->7" in shown.replace("\n", " ") or "bakery" in shown
    assert "OLinear is best on" in shown
    assert shown == done("bench", "table", "--models", "--tasks", TASKS, "--results", results).out


def test_the_page(results, tmp_path):
    done("bench", "report", "--tasks", TASKS, "--results", results, "--out", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "<h1>Results of tasks.toml</h1>" in page
    assert "nothing is published to stand next to them" in page
    assert "bakery 28-&gt;14: no result" in page
    assert "http" not in page.split("</style>")[1]


def test_it_is_not_done_twice(results):
    outcome = done("bench", "run", "--tasks", TASKS, "--results", results, "--horizon", 7)
    assert "0 jobs to do, 5 finished before" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["run", "--model", "Ridge"], "--model is set in"),
        (["run", "--seeds", 3], "--seeds is set in"),
        (["run", "--suite", "long"], "--suite is set in"),
        (["run", "--horizon", 9], "no task of .*tasks.toml is like that: there are bakery 28->7, bakery 28->14"),
        (["run", "--dataset", "ETTh9"], "no dataset is called 'ETTh9'"),
        (["table", "--by", "dataset"], "--by compares with the paper"),
        (["table", "--worse"], "--worse compares with the paper"),
        (["rank", "--suite", "long"], "--suite is of the paper's tasks"),
        (["report", "--model", "Ridge"], "--model compares with the paper"),
    ],
    ids=str,
)
def test_what_is_refused(arguments, reason, results):
    import re

    assert re.search(reason, refused("bench", *arguments, "--tasks", TASKS, "--results", results))
