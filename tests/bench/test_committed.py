"""Every committed row of results is what it says: of a task, once, over all of its test windows."""

import csv
import hashlib
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from olinear.bench import published, read_results, recipe
from olinear.bench.costs.cases import find_models, find_series, make_cases
from olinear.bench.costs.counting import Counts, count
from olinear.bench.costs.rows import CostRow, read_costs
from olinear.bench.read.remarks import read_remarks
from olinear.bench.read.summary import score_tasks, summarise
from olinear.bench.spec.task import own_tasks
from olinear.bench.store.results import errors_path, read_file, results_files
from olinear.bench.store.rows import Row, columns_of
from olinear.models import MODELS

ROOT = Path(__file__).parent.parent.parent
RESULTS = ROOT / "results"
ROWS = read_results(RESULTS)
COSTS = read_costs(RESULTS)


def expected_windows(row: Row) -> int:
    """By hand: each window has its targets among the test rows, and where nothing is borrowed its lookback too."""
    dataset, own = recipe(row.job).scored
    split = own or dataset.split
    test = split[2] if not isinstance(split, str) else int(int(split.split(":")[2]) / 10 * dataset.rows)
    return test - row.key.horizon + 1 - (0 if dataset.borrow else row.key.lookback)


def test_there_are_results():
    assert ROWS


def test_a_job_has_one_row():
    jobs = [row.job for row in ROWS]
    assert len(jobs) == len(set(jobs))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.job.name)
def test_a_row_belongs_to_a_task_and_covers_its_test_windows(row: Row):
    searched = row.variant.has("lookback-search")
    assert (row.key._replace(lookback=96) if searched else row.key) in {*published(), *own_tasks()}
    assert not row.error
    assert row.windows == expected_windows(row)
    assert row.mse is not None
    assert row.mae is not None
    assert 0 < row.mse < 20
    assert 0 < row.mae < 5
    assert row.best_epoch is not None
    assert row.epochs is not None
    training = recipe(row.job).training
    assert 1 <= row.best_epoch <= row.epochs <= training.max_epochs
    assert row.epochs in (
        training.max_epochs,
        row.best_epoch + training.patience,
    )  # it ended for one of the two reasons
    assert row.parameters or MODELS.find(row.model).traits.closed_form
    assert row.seconds
    assert re.fullmatch(r"[0-9a-f]{7,40}", row.commit), "made from changed or unknown source"


def test_window_errors_are_of_a_row_and_agree_with_it():
    rows = {errors_path(RESULTS, row.job).name: row for row in ROWS}
    for path in (RESULTS / "windows").iterdir():
        errors, row = np.load(path), rows[path.name]
        assert (row.job.is_first, len(errors)) == (True, row.windows)
        assert errors.mean(dtype=np.float64) == pytest.approx(row.mse, rel=1e-4)


def test_drawn_forecasts_are_of_a_row():
    names = {f"{row.job.name}.json" for row in ROWS}
    assert {path.name for path in (RESULTS / "forecasts").iterdir()} <= names


def test_the_costs_of_every_case_of_the_table_are_there_from_one_run():
    assert [row.case for row in COSTS] == make_cases(find_models(None), find_series(None))
    assert len({(row.threads, row.versions, row.commit) for row in COSTS}) == 1
    assert re.fullmatch(r"[0-9a-f]{7,40}", COSTS[0].commit), "made from changed or unknown source"


@pytest.mark.parametrize("row", COSTS, ids=lambda row: str(row.case))
def test_a_stage_was_measured_or_says_why_not(row: CostRow):
    for stage in row.case.stages:
        numbers = [getattr(row, f"{stage}_{what}") for what in ("ms", "ratio", "memory_mb")]
        error = getattr(row, f"{stage}_error")
        if error:
            assert error.startswith(("too slow", "out of memory", "killed"))
            assert numbers[:2] == [None, None]
        else:
            assert min(numbers) > 0


@pytest.mark.parametrize("row", [row for row in COSTS if row.series == 7], ids=lambda row: str(row.case))
def test_committed_counts_are_those_of_the_model(row: CostRow):
    assert Counts(row.parameters, row.multiplications) == count(row.case)


def test_every_worse_task_and_no_other_has_a_remark():
    worse = summarise(score_tasks(ROWS)).worse
    assert set(read_remarks(RESULTS, "OLinear")) == set(worse)


def test_nothing_was_lost_when_the_rows_got_a_schema():
    """As many as there were, and each value to the digit: the sums of what schema 1 held."""
    before = [row for row in ROWS if not row.precision]  # which rows have had since
    assert len(before) == 1111
    digest = hashlib.sha256()
    for row in sorted(before, key=lambda row: str(row.job)):
        numbers = [row.scores[name] for name in ("mse", "mae", "r2", "pearson", "window_mase")]
        facts = (row.windows, row.best_epoch, row.epochs, row.seconds, row.parameters, row.peak_memory_mb)
        digest.update(repr((str(row.job), numbers, facts, row.versions, row.commit, row.validation_loss)).encode())
    assert digest.hexdigest() == "e0d36cebd693d1bc32fb8f420d375bb6823a770a8049642e8805e901d917608e"


def test_files_have_the_columns_of_their_schema():
    promised = (
        "schema dataset lookback horizon model variant seed mse mae r2 pearson window_mase windows best_epoch epochs "
        "seconds parameters peak_memory_mb versions commit error validation_loss"
    )
    for path in results_files(RESULTS):
        with path.open(newline="") as file:
            names = next(csv.reader(file))
        assert [name for name in names if name in promised.split()] == promised.split()
        assert names == columns_of(read_file(path))


def test_the_tables_in_readme_and_docs_are_what_the_commands_print():
    command = [sys.executable, str(ROOT / "tools" / "update_docs.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
