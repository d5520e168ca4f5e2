"""Rows are written whole or not at all, one for each job, whoever writes at the same time."""

import csv
import os
from dataclasses import replace
from pathlib import Path

import pytest
from bench_parts import EXCHANGE, ILI, POWER, quick_processes, result, varied

from olinear.bench.spec.identity import JobKey, TaskKey
from olinear.bench.store.results import add_row, failed, finished, read_file, read_results, repeat_quick
from olinear.bench.store.rows import FACTS, Row, columns_of
from olinear.core.errors import DataError

PROMISED = (
    "schema, dataset, lookback, horizon, model, variant, seed, mse, mae, r2, pearson, mase, windows, best_epoch, "
    "epochs, seconds, parameters, peak_memory_mb, versions, commit, error, validation_loss"
)
FULL = Row(
    job=varied(replace(EXCHANGE, seed=2024), "q-ratio=0.2"),
    scores={"mse": 0.081234, "mae": 0.2, "r2": -2.5, "pearson": float("inf"), "mase": 1e-7},
    windows=1422,
    best_epoch=1,
    epochs=2,
    seconds=12.3,
    parameters=1_736_960,
    peak_memory_mb=464.8,
    versions='olinear 0.1.0, "quoted", numpy ±2',
    commit="e9ed046bac+",
    validation_loss=0.0377318,
)


def test_further_seeds_of_what_is_quick(tmp_path):
    """The first seed is wanted anyhow; whether a second is depends on how long the first took, not on the second."""
    seconds = {POWER: 59.9, EXCHANGE: 60.0, replace(ILI, seed=2024): 1.0}
    for job, taken in seconds.items():
        add_row(tmp_path, replace(result(job), seconds=taken))
    add_row(tmp_path, failed(ILI, "it failed"))
    first = [POWER, EXCHANGE, ILI]
    wanted = [replace(job, seed=seed) for job in first for seed in (2023, 2024, 2025)]
    assert repeat_quick(wanted, tmp_path, 60) == [*wanted[:3], EXCHANGE, ILI]


def test_columns():
    assert columns_of([FULL]) == PROMISED.split(", ")
    assert columns_of([FULL, replace(FULL, precision="bfloat16")]) == [*PROMISED.split(", "), "precision"]


V1 = (
    "dataset,lookback,horizon,model,variant,seed,mse,mae,r2,pearson,mase,windows,best_epoch,epochs,seconds,parameters,"
    "peak_memory_mb,versions,commit,error,validation_loss\n"
    "power,12,9,OLinear,embed=8,2023,0.5,0.25,-1.5,0.75,3.5,16,2,7,3.5,100,,olinear 0.1.0,abc,,0.375\n"
)


def test_schema_1_is_read(tmp_path):
    """Files without the number are of schema 1, whose `mase` is called `window_mase` now."""
    (tmp_path / "OLinear.csv").write_text(V1)
    (row,) = read_results(tmp_path)
    assert row.job == varied(POWER, "embed=8")
    assert row.scores == {"mse": 0.5, "mae": 0.25, "r2": -1.5, "pearson": 0.75, "window_mase": 3.5}
    assert (row.windows, row.peak_memory_mb, row.validation_loss, row.error) == (16, None, 0.375, "")


def test_a_file_of_schema_1_goes_on_as_schema_2(tmp_path):
    (tmp_path / "OLinear.csv").write_text(V1)
    (old,) = read_results(tmp_path)
    add_row(tmp_path, result(ILI))
    assert {row.job: row for row in read_results(tmp_path)} == {old.job: old, ILI: result(ILI)}
    assert (tmp_path / "OLinear.csv").read_text().startswith("schema,dataset,")


def test_metrics_may_differ_from_row_to_row(tmp_path):
    """An older row lacks what a newer one has, and the other way round; neither is lost."""
    older = Row(job=ILI, scores={"mse": 0.5, "mae": 0.5, "elsewhere": 2.0})
    newer = Row(job=POWER, scores={"mse": 0.5, "mae": 0.5, "brand_new": 1.5})
    for row in (older, newer):
        add_row(tmp_path, row)
    assert read_results(tmp_path) == [older, newer]


def test_facts_may_be_absent(tmp_path):
    (tmp_path / "OLinear.csv").write_text("schema,dataset,lookback,horizon,model,variant,seed,mse,mae\n"
                                          "2,Power,12,9,OLinear,main,2023,0.5,0.25\n")  # fmt: skip
    assert read_results(tmp_path) == [Row(job=POWER, scores={"mse": 0.5, "mae": 0.25})]


def test_a_column_of_a_later_version_is_kept(tmp_path):
    add_row(tmp_path, result(POWER))
    path = tmp_path / "OLinear.csv"
    head, line = path.read_text().splitlines()
    path.write_text(f"{head},machine\n{line},my laptop\n")
    add_row(tmp_path, result(ILI))
    assert {row.job: dict(row.other) for row in read_results(tmp_path)} == {
        POWER: {"machine": "my laptop"},
        ILI: {"machine": ""},
    }


def test_a_dataset_of_ones_own(tmp_path):
    own = replace(POWER, key=TaskKey("sales", 48, 12))
    for job in (own, ILI):
        add_row(tmp_path, result(job))
    assert [row.job for row in read_results(tmp_path)] == [ILI, own]


def test_round_trip(tmp_path):
    rows = [FULL, result(POWER), failed(ILI, 'a comma, a "quote"\nand a second line')]
    for row in rows:
        add_row(tmp_path, row)
    found = read_results(tmp_path)
    assert sorted(map(repr, found)) == sorted(map(repr, rows))
    facts = [getattr(row, name) for row in found for name in FACTS]
    assert {type(value) for value in facts} == {str, int, float, type(None)}
    assert [path.name for path in tmp_path.iterdir() if path.name != ".runs"] == ["OLinear.csv"]


def test_numbers_keep_six_digits(tmp_path):
    add_row(tmp_path, result(POWER, mse=1 / 3))
    assert read_results(tmp_path)[0].mse == pytest.approx(1 / 3, rel=1e-6)
    text = (tmp_path / "OLinear.csv").read_text()
    assert "0.333333,0.333333," in text
    assert "\r" not in text


def test_a_file_for_each_model(tmp_path):
    for model in ("OLinear", "DLinear"):
        add_row(tmp_path, result(replace(POWER, model=model)))
    assert sorted(path.name for path in tmp_path.glob("*.csv")) == ["DLinear.csv", "OLinear.csv"]
    assert {row.model for row in read_results(tmp_path)} == {"OLinear", "DLinear"}


def test_a_failure_is_replaced_by_a_result_and_by_a_later_failure(tmp_path):
    for row in (failed(POWER, "first"), failed(ILI, "other"), failed(POWER, "second")):
        add_row(tmp_path, row)
    assert {row.error for row in read_results(tmp_path)} == {"second", "other"}
    assert finished(tmp_path) == set()
    add_row(tmp_path, result(POWER))
    assert finished(tmp_path) == {POWER}
    assert len(read_results(tmp_path)) == 2


def test_a_result_is_replaced_by_a_result_and_never_by_a_failure(tmp_path):
    """A worker may be killed, and be taken for failed, when its row is written already."""
    for row in (result(POWER, 1.0), result(POWER, 2.0), failed(POWER, "killed")):
        add_row(tmp_path, row)
    (row,) = read_results(tmp_path)
    assert (row.mse, row.error) == (2.0, "")
    assert finished(tmp_path) == {POWER}


def test_jobs_that_differ_in_anything_have_rows_of_their_own(tmp_path):
    job = JobKey(TaskKey("ILI", 36, 24))
    others = [
        replace(job, seed=2024),
        varied(job, "embed=8"),
        replace(job, model="DLinear"),
        replace(job, key=job.key._replace(horizon=36)),
        replace(job, key=job.key._replace(lookback=12)),
        replace(job, key=job.key._replace(dataset="Power")),
    ]
    for each in [job, *others, job]:
        add_row(tmp_path, result(each))
    assert finished(tmp_path) == {job, *others}
    assert len(read_results(tmp_path)) == 7


def test_order(tmp_path):
    """Main rows first, datasets as in the list of tasks, then lookback, horizon and seed as numbers."""
    wanted = [
        JobKey(TaskKey("ETTh1", 96, 96)),
        JobKey(TaskKey("ETTh1", 96, 192), seed=2023),
        JobKey(TaskKey("ETTh1", 96, 192), seed=2024),
        JobKey(TaskKey("ILI", 12, 12)),
        JobKey(TaskKey("ILI", 36, 24)),
        varied(JobKey(TaskKey("ETTh1", 96, 96)), "OLinear-C"),
        varied(JobKey(TaskKey("ETTh1", 96, 96)), "embed=8"),
    ]
    for job in (wanted[index] for index in (5, 3, 0, 6, 2, 4, 1)):
        add_row(tmp_path, result(job))
    assert [row.job for row in read_results(tmp_path)] == wanted


def test_an_error_is_one_line_of_bearable_length():
    row = failed(POWER, "two\n   lines " + 1000 * "x")
    assert row.error.startswith("two lines xxx")
    assert len(row.error) == 500
    assert {getattr(row, name) for name in FACTS} <= {None, "", row.error}
    assert row.scores == {}
    assert row.job == POWER


def test_nothing_yet(tmp_path):
    assert read_results(tmp_path) == []
    assert finished(tmp_path / "no such folder") == set()


def test_what_a_killed_process_left_is_not_read(tmp_path):
    add_row(tmp_path, result(POWER))
    part = tmp_path / ".OLinear.csv.0123456789ab.part"
    part.write_text("dataset,lookback\nPow")
    os.utime(part, (0, 0))  # as old as a file can be: no writer is at work on it
    assert [row.job for row in read_results(tmp_path)] == [POWER]
    add_row(tmp_path, result(ILI))
    assert finished(tmp_path) == {POWER, ILI}
    assert not part.exists()


DAMAGE = {
    "the last line is cut": (lambda text: text[: text.rindex("main")], "line 3 is damaged"),
    "a cell too many": (lambda text: text.rstrip("\n") + ",1\n", "line 3 is damaged"),
    "no number": (lambda text: text.replace("0.25", "quarter"), "line 3 is damaged .*'quarter'"),
    "no whole number": (lambda text: text.replace(",12,9,", ",12,9.5,"), "line 3 is damaged .*'9.5'"),
    "no seed": (lambda text: text.replace(",main,2023,0.25", ",main,,0.25"), "line 3 is damaged"),
    "no dataset": (lambda text: text.replace("Power", "two words"), "line 3 is damaged .*'two words'"),
    "a column of the job lost": (lambda text: text.replace("seed,", ""), "lacks the columns seed"),
    "a column of scores lost": (lambda text: text.replace("mse,", ""), "line 2 is damaged"),
    "no schema": (lambda text: text.replace("\n2,", "\nnew,", 1), "line 2 is damaged .*'new'"),
    "of a newer olinear": (
        lambda text: text.replace("\n2,", "\n3,", 1),
        "line 2 .* schema 3 .* reads up to 2: install",
    ),
    "another table": (lambda text: "a,b\n1,2\n", "lacks the columns .*: it is no file of results"),
    "empty": (lambda text: "", "lacks the columns"),
    "not text": (lambda text: text.replace("Power", "P\0wer"), "damaged"),
}


@pytest.mark.parametrize(("damage", "told"), DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_file_is_named_and_left_alone(tmp_path, damage, told):
    """Never read past, never written over: what it holds took hours."""
    for job in (ILI, POWER):
        add_row(tmp_path, result(job, mse=0.25 if job == POWER else 0.5))
    path = tmp_path / "OLinear.csv"
    damaged = damage(path.read_text())
    assert damaged != path.read_text()
    path.write_text(damaged)
    for attempt in (lambda: read_file(path), lambda: finished(tmp_path), lambda: add_row(tmp_path, result(EXCHANGE))):
        with pytest.raises(DataError, match=f"OLinear.csv.*{told}"):
            attempt()
    assert path.read_text() == damaged


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / "OLinear.csv").write_bytes(b"dataset,\xff\xfe\n")
    with pytest.raises(DataError, match=r"OLinear.csv is damaged"):
        read_results(tmp_path)


def add_rows(folder: Path, first: int) -> None:
    for seed in range(first, first + 20):
        add_row(folder, result(replace(POWER, seed=seed), mse=float(seed)))


def test_two_processes_lose_no_row(tmp_path):
    processes = [quick_processes().Process(target=add_rows, args=(tmp_path, first)) for first in (100, 110, 200)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0, "see the captured standard error"
    rows = read_results(tmp_path)
    assert [row.seed for row in rows] == [*range(100, 130), *range(200, 220)]
    assert all(row.mse == row.seed for row in rows)
    with (tmp_path / "OLinear.csv").open(newline="") as file:
        assert {len(line) for line in csv.reader(file)} == {len(columns_of(rows))}
