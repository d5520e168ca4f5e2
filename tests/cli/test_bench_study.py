"""`olinear bench study`: what it lists, plans, prints and refuses."""

import pytest
from cli_parts import done, refused

from olinear.bench.spec.identity import JobKey, TaskKey, Variant
from olinear.bench.spec.jobs import study_jobs
from olinear.bench.spec.search import find_arms, make_trials
from olinear.bench.spec.study import find_study, studies
from olinear.bench.store.results import add_row
from olinear.bench.store.rows import Row


@pytest.fixture
def data(tmp_path, bare_machine):
    """ILI is here: for a plan it is enough that there is a file."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "national_illness.csv").touch()
    return tmp_path / "data"


@pytest.fixture
def results(tmp_path):
    """Two methods on one task."""
    for variant, mse in (("main", 1.7), ("pre-post/pre", 1.9)):
        job = JobKey(TaskKey("ILI", 36, 24), variant=Variant.parse(variant))
        add_row(tmp_path / "results", Row(job=job, scores={"mse": mse, "mae": mse / 2}, windows=3))
    return tmp_path / "results"


def test_without_a_name_it_lists_all():
    outcome = done("bench", "study")
    assert [line.split()[0] for line in outcome.out.splitlines()] == ["study", *studies()]


def test_the_plan_leaves_out_what_is_done(data, results):
    outcome = done("bench", "study", "pre-post", "--dry-run", "--data", data, "--results", results)
    lines = outcome.out.splitlines()[1:]
    assert len(lines) == len(study_jobs(find_study("pre-post"), 1)) // 2 - 2  # NASDAQ is not here
    assert "16 jobs need NASDAQ" in outcome.err
    assert "2 finished before" in outcome.err


def test_more_seeds_only_of_what_is_quick(data, results):
    for variant, seconds in (("pre-post/pre", 59), ("pre-post/post", 61)):
        job = JobKey(TaskKey("ILI", 36, 24), variant=Variant.parse(variant))
        add_row(results, Row(job=job, scores={"mse": 1.9, "mae": 0.9}, windows=3, seconds=seconds))
    options = ["--dataset", "ILI", "--dry-run", "--data", data, "--results", results]
    lines = done("bench", "study", "pre-post", "--seeds", "3", "--under", "60", *options).out.splitlines()[1:]
    assert [line.split()[3:5] for line in lines if " 2024 " in line] == [["pre-post/pre", "2024"]]
    assert sum(" 2023 " in line for line in lines) == 16 - 3


def test_the_table_trains_nothing(results):
    outcome = done("bench", "study", "pre-post", "--table", "--results", results)
    assert "best is both; in the paper both: the same order; too few seeds" in outcome.out
    assert "jobs to do" not in outcome.err


def test_markdown_and_a_file(results, tmp_path):
    outcome = done("bench", "study", "pre-post", "--table", "--results", results, "--format", "markdown")
    assert "| OLinear | ILI | 36 | 24 | both | 1 | **1.700** |" in outcome.out
    done("bench", "study", "pre-post", "--table", "--results", results, "--format", "csv", "--out", tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text().startswith("model,dataset,lookback,horizons,method,seeds,MSE,")


def test_nothing_yet(tmp_path):
    outcome = done("bench", "study", "mixers", "--table", "--results", tmp_path / "none")
    assert "no two methods of mixers have results in" in outcome.err


def test_what_has_no_results_is_said(results):
    outcome = done("bench", "study", "pre-post", "--table", "--results", results)
    assert "without results of two methods: OLinear on NASDAQ 12" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["basis"], "no study is called 'basis': there are bases, csl-isl"),
        (["mixers", "--dataset", "ETTh1"], "the study mixers is on NASDAQ, ILI, PEMS08_tail: for another"),
        (["mixers", "--dataset", "ETTh9"], "no dataset is called"),
        (["mixers", "--data", "nowhere"], "--data must be a folder"),
        (["mixers", "--table", "--dry-run"], "leave one of them out"),
    ],
)
def test_what_is_refused(arguments, reason, tmp_path):
    assert reason in refused("bench", "study", *arguments, "--results", tmp_path)


def test_a_search_prints_the_methods_with_what_validation_chose(tmp_path):
    """Trials are rows of a folder of their own; the table is of the rows that name the chosen rate."""
    study, results = find_study("ortho-plugin"), tmp_path / "results"
    arms = [arm for arm in find_arms(study) if arm[:2] == ("RLinear", TaskKey("ETTh1", 96, 96))]
    for arm in arms:
        for place, trial in enumerate(make_trials(study, arm)):
            row = Row(job=trial.job, scores={"mse": 0.5, "mae": 0.5}, windows=3, validation_loss=0.4 + abs(place - 3))
            add_row(results / "searches", row)
        chosen = make_trials(study, arm)[3].variant
        job = JobKey(arm.key, arm.model, chosen)
        add_row(results, Row(job=job, scores={"mse": 0.38, "mae": 0.4}, windows=3))
    outcome = done(
        "bench", "study", "ortho-plugin", "--search-rate", "--table", "--dataset", "ETTh1", "--results", results
    )
    assert "RLinear +OrthoTrans on ETTh1 96->96: rate 0.0003, cosine, of 10 trials" in outcome.out
    assert "Not searched yet: iTransformer Vanilla on ETTh1 96->96" in outcome.out
