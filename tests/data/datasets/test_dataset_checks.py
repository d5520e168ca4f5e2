"""What `check` finds in a file, and what of it is a problem."""

import numpy as np
import pytest
from dataset_parts import numbers, times, write_csv

from olinear.core.errors import DataError
from olinear.data.datasets import Dataset, catalogue, check, locate
from olinear.data.datasets.checking import STEPS, file_sha256


def expecting(path, sha256: str | None = None, **changes) -> Dataset:
    """A dataset of which the file is the right one, but for the changes."""
    facts = {"files": (path.name,), "rows": 40, "series": 3, "step": "hour", "sha256": sha256 or file_sha256(path)}
    return catalogue()["ECL"].model_copy(update=facts | changes)


@pytest.fixture
def path(tmp_path):
    return write_csv(tmp_path / "electricity.csv", numbers(), times())


def test_the_right_file(path):
    found = check(expecting(path), path)
    assert (found.shape, found.sha256, found.problems, found.notes) == ((40, 3), "ok", [], [])


def test_an_unknown_checksum_is_no_problem(path):
    found = check(expecting(path, "unknown"), path)
    assert (found.sha256, found.problems) == ("unknown", [])


def test_another_checksum_is_told_not_refused(path):
    found = check(expecting(path, "0" * 64), path)
    assert (found.sha256, found.shape) == ("different", (40, 3))
    assert found.problems == ["another sha256 than the file of the committed results"]


def test_another_shape_is_told_not_refused(path):
    found = check(expecting(path, "unknown", rows=41), path)
    assert found.problems == ["40 × 3 rows × series, expected 41 × 3"]


def test_empty_cells_are_counted(tmp_path):
    values = numbers()
    values[[1, 2, 5], [0, 2, 2]] = np.nan
    path = write_csv(tmp_path / "electricity.csv", values, times())
    found = check(expecting(path, "unknown"), path)
    assert (found.empty_cells, found.problems, found.notes) == (3, [], ["empty cells: 3"])


@pytest.mark.parametrize("known", [True, False])
def test_dates_out_of_order(tmp_path, known):
    """A problem, unless the checksum says that the file must be so, as Weather is."""
    index = times().to_series()
    index.iloc[5], index.iloc[10] = index.iloc[4], index.iloc[2]
    path = write_csv(tmp_path / "electricity.csv", numbers(), type(times())(index))
    found = check(expecting(path, None if known else "unknown"), path)
    assert (found.repeated_times, found.backward_steps, found.long_steps) == (2, 1, 2)
    disorder, gaps = ["repeated times: 2", "steps back in time: 1"], ["steps longer than one of hour: 2"]
    assert (found.problems, found.notes) == (([], gaps + disorder) if known else (disorder, gaps))


def test_trading_days_have_no_gaps(tmp_path):
    index = times("day")[[0, 1, 4, 5, 20]]
    path = write_csv(tmp_path / "SP500.csv", numbers(5), index)
    assert check(expecting(path, step="trading day"), path).long_steps == 0
    assert check(expecting(path, step="day"), path).long_steps == 2


def test_every_step_of_the_catalogue_is_known():
    assert {dataset.step for dataset in catalogue().values()} == {*STEPS, "trading day"}


def test_a_file_without_times(tmp_path):
    path = tmp_path / "solar_AL.txt"
    path.write_text("1,2,3\n" * 40)
    assert check(expecting(path), path).notes == []


def test_a_file_that_cannot_be_read_is_told(tmp_path):
    path = tmp_path / "electricity.csv"
    path.write_text("date,a\n2020-01-01,x\n")
    found = check(expecting(path, "unknown"), path)
    assert found.shape is None
    [problem] = found.problems
    assert "no number in row 1 of 'a'" in problem


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match=r"nowhere\.csv cannot be read: No such file"):
        check(catalogue()["ECL"], tmp_path / "nowhere.csv")


def test_the_files_we_have_are_right(dataset_folder):
    """All 16: shape and checksum; Weather's clock stumbles once, as it does in the published file."""
    present = {name: path for name, dataset in catalogue().items() if (path := locate(dataset, dataset_folder))}
    assert len(present) >= 16
    for name, path in present.items():
        found = check(catalogue()[name], path)
        assert found.problems == []
        stumbles = ["steps longer than one of 10 min: 1", "repeated times: 1"]
        assert found.notes == (stumbles if name == "Weather" else [])
