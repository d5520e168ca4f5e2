"""Models side by side: means over seeds, ranks over the tasks they share, marks only where windows show it."""

import numpy as np
import pytest
from bench_parts import result, varied

from olinear.bench.read.ranking import rank_models
from olinear.bench.show.rankings import ranking_lines, ranking_table
from olinear.bench.spec.identity import JobKey, TaskKey
from olinear.bench.store.results import errors_path, read_errors, save_errors
from olinear.core.errors import DataError

H96, H192 = TaskKey("ETTh1", 96, 96), TaskKey("ETTh1", 96, 192)


def made(scores: dict[str, dict[TaskKey, list[float]]]):
    return [
        result(JobKey(key, model, seed=2023 + index), value)
        for model, by_task in scores.items()
        for key, values in by_task.items()
        for index, value in enumerate(values)
    ]


def test_means_ranks_and_what_is_missing(tmp_path):
    rows = made(
        {
            "OLinear": {H96: [0.35, 0.37], H192: [0.41]},
            "DLinear": {H96: [0.38], H192: [0.40]},
            "Ridge": {H96: [0.38]},
        }
    )
    ranking = rank_models(rows, tmp_path)
    assert ranking.tasks == (H96, H192)
    assert ranking.scores["OLinear"][H96] == pytest.approx(0.36)
    assert ranking.ranked == (H96, H192)
    assert ranking.ranks == {"OLinear": 1.5, "DLinear": 1.75}  # Ridge lacks a task that most have
    table = ranking_table(ranking)
    assert [column.name for column in table.columns] == ["model", "mean rank", "ETTh1 96->96", "ETTh1 96->192"]
    assert table.cells[0] == ["OLinear", 1.5, "0.360 (1)", "0.410 (2)"]
    assert table.cells[2] == ["Ridge", None, "0.380 (2.5)?", None]
    assert table.bold == {(0, 2), (1, 3)}
    lines = ranking_lines(ranking)
    assert lines[0].startswith("MSE, mean over 1 to 2 seeds, and its place")
    assert lines[0].endswith("Mean rank over ETTh1 96->96, ETTh1 96->192; Ridge lack some of them.")
    assert lines[1] == "OLinear is best on 1 of 2 tasks; its mean rank is number 1 of 2."
    assert len(ranking_table(ranking, [H192]).columns) == 3


def test_other_variants_and_lonely_tasks_are_left_out(tmp_path):
    rows = [
        *made({"OLinear": {H96: [0.3], H192: [0.4]}, "DLinear": {H96: [0.4]}}),
        result(varied(JobKey(H192), "rank=2")),
    ]
    assert rank_models(rows, tmp_path).tasks == (H96,)
    assert rank_models(rows, tmp_path, wanted=[H192]).tasks == ()


def test_marks(tmp_path):
    """DLinear is worse by more than chance, RLinear better, Ridge is not shown to differ; TiDE's were not kept."""
    rng = np.random.default_rng(0)
    rows = made({name: {H96: [0.4]} for name in ("OLinear", "DLinear", "RLinear", "Ridge", "TiDE")})
    main = rng.random(2785)
    for name, shift in {"OLinear": 0, "DLinear": 0.1, "RLinear": -0.1, "Ridge": 0}.items():
        noise = 0.1 * rng.normal(size=2785) if name != "OLinear" else 0
        save_errors(tmp_path, JobKey(H96, name), np.float32(main + shift + noise))
    ranking = rank_models(rows, tmp_path)
    marks = {model: mark for (model, _), mark in ranking.marks.items()}
    assert marks == {"DLinear": "-", "RLinear": "+", "Ridge": "", "TiDE": "?"}
    assert "0.400 (3)-" in {row[2] for row in ranking_table(ranking).cells}


def test_where_nothing_could_be_shown_nothing_is_tested(tmp_path):
    """Seven blocks have a least p of 0.016, times four models more than 0.05: no mark would ever appear."""
    names = ("OLinear", "DLinear", "RLinear", "Ridge", "TiDE")
    for name in names:
        save_errors(tmp_path, JobKey(H192, name), np.float32(np.ones(2689) + (name != "OLinear")))
    ranking = rank_models(made({name: {H192: [0.4]} for name in names}), tmp_path)
    assert set(ranking.marks.values()) == {"°"}
    assert any(line.startswith("° not tested: too few test windows") for line in ranking_lines(ranking))
    ranking = rank_models(made({name: {H192: [0.4]} for name in names[:3]}), tmp_path)
    assert set(ranking.marks.values()) == {"-"}


def test_nothing_kept_is_said(tmp_path):
    ranking = rank_models(made({"OLinear": {H96: [0.3]}, "DLinear": {H96: [0.4]}}), tmp_path)
    assert ranking.marks == {("DLinear", H96): "?"}
    assert any(line.startswith("? not tested: no window errors") for line in ranking_lines(ranking))


def test_a_task_that_few_have_does_not_rule_the_ranks(tmp_path):
    scores = {"OLinear": {H96: [0.3], H192: [0.4]}, "DLinear": {H96: [0.4], H192: [0.3]}}
    others = {name: {H96: [0.5]} for name in ("Ridge", "TiDE", "FITS")}
    ranking = rank_models(made(scores | others), tmp_path)
    assert ranking.ranked == (H96,)
    assert ranking.ranks == {"OLinear": 1.0, "DLinear": 2.0, "Ridge": 4.0, "TiDE": 4.0, "FITS": 4.0}


def test_errors_are_squared_so_that_other_metrics_have_no_marks(tmp_path):
    ranking = rank_models(made({"OLinear": {H96: [0.3]}, "DLinear": {H96: [0.4]}}), tmp_path, metric="mae")
    assert ranking.marks == {}
    assert not any("sign-flip" in line for line in ranking_lines(ranking))


def test_without_a_task_of_all_there_is_no_mean_rank(tmp_path):
    rows = made({"OLinear": {H96: [0.3], H192: [0.4]}, "DLinear": {H96: [0.4]}, "Ridge": {H192: [0.4]}})
    ranking = rank_models(rows, tmp_path)
    assert ranking.ranks == {}
    assert "No mean rank" in ranking_lines(ranking)[0]


def test_damaged_errors_are_named(tmp_path):
    job = JobKey(H96)
    errors_path(tmp_path, job).parent.mkdir()
    errors_path(tmp_path, job).write_bytes(b"no array")
    with pytest.raises(DataError, match="is damaged"):
        read_errors(tmp_path, job)
