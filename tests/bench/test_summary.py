"""The figures of the benchmark, each by hand or by another formula."""

import math
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading_parts import ILI, SMALL, change, paper_rows, row

from olinear.bench.read.summary import (
    Selection,
    average_datasets,
    find_missing,
    score_tasks,
    summarise,
)
from olinear.bench.spec.identity import TaskKey
from olinear.bench.spec.task import published
from olinear.data.datasets import catalogue


def published_frame() -> pd.DataFrame:
    """The published tables read another way."""
    with (files("olinear.bench.spec") / "data" / "published.csv").open() as file:
        return pd.read_csv(file)


# One task


def test_one_task_by_hand():
    rows = [row(SMALL, 0.300, 0.330, 2023), row(SMALL, 0.304, 0.340, 2024), row(SMALL, 0.311, 0.350, 2025)]
    (score,) = score_tasks(rows)
    assert (score.key, score.seeds) == (SMALL, 3)
    assert score.mse.ours == pytest.approx(0.305)
    assert score.mse.spread == pytest.approx(math.sqrt((0.005**2 + 0.001**2 + 0.006**2) / 2))
    assert score.mse.published == 0.302
    assert score.mse.ratio == pytest.approx(0.305 / 0.302)
    assert (score.mse.baseline, score.mse.baseline_value) == ("TimeMixer++", 0.310)
    assert score.mae.ours == pytest.approx(0.340)
    assert (score.mae.published, score.mae.baseline, score.mae.baseline_value) == (0.334, "TimeMixer++", 0.334)


def test_one_seed_has_no_spread():
    (score,) = score_tasks([row(SMALL, 0.3)])
    assert score.mse.spread is None


@pytest.mark.parametrize(("mse", "best"), [(0.309, True), (0.310, True), (0.3104, True), (0.3106, False)])
def test_ties_at_three_decimals_are_best(mse, best):
    """The published tables have three decimals; to lose by a fourth would be an artefact of printing."""
    (score,) = score_tasks([row(SMALL, mse)])
    assert score.mse.best is best


def test_a_tie_of_the_published_counts_too():
    (score,) = score_tasks([row(SMALL, 0.3, 0.335)])
    assert score.mae.published_best  # 0.334 and 0.334
    assert not score.mae.best


def test_the_best_baseline_is_never_olinear():
    """Compared with pandas over all tasks and both metrics."""
    frame = published_frame().set_index(["dataset", "lookback", "horizon"])
    for score in score_tasks(paper_rows()):
        for metric, found in (("mse", score.mse), ("mae", score.mae)):
            others = frame.loc[tuple(score.key)].filter(like=f" {metric}").drop(f"OLinear {metric}")
            assert len(others) == 11
            assert found.baseline_value == others.min()
            assert others[f"{found.baseline} {metric}"] == others.min()


# Which rows count


def test_rows_without_scores_are_ignored():
    good = row(SMALL, 0.3)
    bad = [
        change(good, seed=1, error="killed"),
        change(good, seed=2, mse=None),
        change(good, seed=3, mae=math.nan),
        change(good, seed=4, mse=math.inf),
    ]
    (score,) = score_tasks([*bad, good])
    assert (score.seeds, score.mse.ours) == (1, 0.3)


def test_other_models_variants_and_tasks_are_ignored():
    good = row(SMALL, 0.3)
    others = [
        change(good, model="DLinear"),
        change(good, variant="rank=16"),
        change(good, key=SMALL._replace(horizon=7)),
    ]
    assert [score.seeds for score in score_tasks([good, *others])] == [1]
    assert [score.key for score in score_tasks([good, *others], Selection("DLinear"))] == [SMALL]


def test_a_job_in_two_files_counts_once():
    (score,) = score_tasks([row(SMALL, 0.3), row(SMALL, 0.3)])
    assert (score.seeds, score.mse.spread) == (1, None)


@pytest.mark.parametrize(("suite", "count"), [("all", 140), ("long", 52), ("short", 88)])
def test_suites(suite, count):
    selection = Selection(suite=suite)
    scores = score_tasks(paper_rows(), selection)
    assert len(scores) == summarise(scores, selection).of == count
    assert [score.key for score in scores] == [key for key in published() if key in set(selection.tasks)]


# All tasks


def test_the_published_results_next_to_themselves():
    """Counts by pandas; the paper's own OLinear has the best MSE on 58 and the best MAE on 102 of 140."""
    frame = published_frame()
    summary = summarise(score_tasks(paper_rows()))
    for metric in ("mse", "mae"):
        table = frame.filter(like=f" {metric}")
        expected = int((table[f"OLinear {metric}"] <= table.min(axis=1)).sum())
        assert getattr(summary, f"best_{metric}") == getattr(summary, f"published_best_{metric}") == expected
    assert (summary.best_mse, summary.best_mae) == (58, 102)
    assert (summary.tasks, summary.of, summary.seeds, summary.worse) == (140, 140, (1, 1), ())
    assert summary.mse_ratio == summary.mae_ratio == 1.0


@pytest.mark.parametrize(("factor", "worse"), [(1.0, 0), (1.05, 0), (1.0501, 140)])
def test_worse_is_above_the_limit(factor, worse):
    summary = summarise(score_tasks(paper_rows(factor)))
    assert len(summary.worse) == worse
    assert summary.mse_ratio == pytest.approx(factor)
    assert summary.mae_ratio == pytest.approx(factor)


def test_seeds_are_averaged_before_tasks():
    """Two tasks of three and one seeds weigh the same."""
    rows = [row(SMALL, 0.302 * f, 0.334 * f, seed) for seed, f in enumerate((0.9, 1.0, 1.1))]
    rows += paper_rows(2.0, [ILI])
    summary = summarise(score_tasks(rows))
    assert summary.mse_ratio == pytest.approx((1.0 + 2.0) / 2)
    assert (summary.tasks, summary.seeds, summary.worse) == (2, (1, 3), (ILI,))


def test_the_published_count_is_over_the_same_tasks():
    summary = summarise(score_tasks(paper_rows(10.0, [SMALL, ILI])))
    assert (summary.best_mse, summary.best_mae) == (0, 0)
    assert (summary.published_best_mse, summary.published_best_mae) == (2, 2)


def test_nothing_has_no_mean():
    summary = summarise([])
    assert (summary.tasks, summary.of, summary.mse_ratio, summary.mae_ratio) == (0, 140, None, None)


def test_datasets_are_means_over_their_tasks():
    """The mean of ratios, not the ratio of means: 0.5 and 1.5 of unequal tasks give 1."""
    keys = [SMALL, SMALL._replace(horizon=720)]  # 0.302 and 0.452
    scores = score_tasks([*paper_rows(0.5, keys[:1]), *paper_rows(1.5, keys[1:]), *paper_rows(1.1, [ILI])])
    first, second = average_datasets(scores)
    assert (first.dataset, first.tasks, first.of) == ("ETTm1", 2, 4)
    assert first.mse.ours == pytest.approx((0.5 * 0.302 + 1.5 * 0.452) / 2)
    assert first.mse.published == pytest.approx((0.302 + 0.452) / 2)
    assert first.mse.ratio == pytest.approx(1.0)
    assert (second.dataset, second.tasks, second.of) == ("ILI", 1, 8)
    assert second.mae.ratio == pytest.approx(1.1)


@given(st.lists(st.floats(0.5, 2.0), min_size=140, max_size=140))
def test_any_results_by_numpy(factors):
    rows = [change(r, mse=f * r.mse) for r, f in zip(paper_rows(), factors, strict=True)]
    summary = summarise(score_tasks(rows))
    assert summary.mse_ratio == pytest.approx(np.mean(factors))
    assert len(summary.worse) == sum(round(f, 6) > 1.05 for f in factors)
    averages = average_datasets(score_tasks(rows))
    assert len(averages) == 24
    weights = [average.tasks for average in averages]
    assert np.average([a.mse.ratio for a in averages], weights=weights) == pytest.approx(summary.mse_ratio)


# What is missing


@pytest.fixture
def data_folder(tmp_path, monkeypatch):
    """A folder that holds ETTm1 alone."""
    monkeypatch.delenv("OLINEAR_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / catalogue()["ETTm1"].files[0]).touch()
    return tmp_path


def test_each_missing_task_has_its_reason(data_folder):
    failed = change(row(SMALL._replace(horizon=192), 1.0), mse=None, mae=None, error="killed: no memory")
    odd = row(SMALL._replace(horizon=336), math.nan)
    missing = find_missing([row(SMALL, 0.3), failed, odd], data_folder=data_folder)
    assert len(missing) == 139
    reasons = {item.key: item.reason for item in missing}
    assert SMALL not in reasons
    assert reasons[failed.key] == "failed: killed: no memory"
    assert reasons[odd.key] == "failed: its scores are not numbers"
    assert reasons[SMALL._replace(horizon=720)] == "not run yet"
    assert reasons[TaskKey("METR-LA", 12, 3)] == "no data: METR_LA.csv or metr-la.h5 is not here"


def test_one_good_seed_is_enough(data_folder):
    rows = [row(SMALL, 0.3), change(row(SMALL, 0.3, seed=2024), error="killed")]
    assert SMALL not in {item.key for item in find_missing(rows, data_folder=data_folder)}


def test_nothing_is_missing_from_all(data_folder):
    assert find_missing(paper_rows(), data_folder=data_folder) == []
