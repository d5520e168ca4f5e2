"""The tasks and the published results are data: as many as the paper has, and value by value the paper's."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from olinear.bench.spec.identity import TaskKey
from olinear.bench.spec.task import CORRELATION, paper_tasks, published, tasks
from olinear.core.errors import ConfigError
from olinear.data.datasets import catalogue
from olinear.models import MAIN
from olinear.training.schedules import SCHEDULES

MISSING = {"ECL", "Traffic", "Solar-Energy", "PEMS03", "PEMS04", "PEMS07", "METR-LA"}
MODELS = "OLinear TimeMixer FilterNet FITS DLinear TimeMixer++ Leddam CARD Fredformer iTransformer PatchTST TimesNet"


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_there_are_140_tasks():
    assert len(tasks()) == 140
    assert sum(CORRELATION in task.settings for task in tasks().values()) == 124
    assert all(MAIN in task.settings for task in tasks().values())
    assert Counter(key.suite for key in tasks()) == {"long": 52, "short": 88}
    assert sum(key.dataset not in MISSING for key in tasks()) == 108


def test_the_catalogue_has_the_same_tasks():
    """A dataset's horizons are told in two files."""
    named = {
        TaskKey(name, lookback, horizon)
        for name, dataset in catalogue().items()
        for lookback, horizons in dataset.horizons.items()
        for horizon in horizons
    }
    assert named == tasks().keys()


def test_every_published_cell_is_there():
    assert published().keys() == tasks().keys()
    for models in published().values():
        assert list(models) == MODELS.split()
        assert all(cell.keys() == {"mse", "mae"} and min(cell.values()) > 0 for cell in models.values())


@pytest.mark.parametrize("variant", [MAIN, CORRELATION])
def test_settings_are_those_of_the_paper(paper_folder, variant):
    rows = [row for row in read(paper_folder / "hyperparameters.csv") if row["variant"] == variant]
    assert len(rows) == sum(variant in task.settings for task in tasks().values())
    for row in rows:
        task = tasks()[TaskKey(row["dataset"], int(row["lookback"]), int(row["horizon"]))]
        own = task.settings[variant]
        for name in ("model_dim", "ff_dim", "embed_dim", "blocks"):
            assert own.options[name] == int(row[name]), (row, name)
        for name in ("batch_size", "max_epochs", "patience"):
            assert getattr(own.config, name) == int(row[name]), (row, name)
        assert own.config.learning_rate == float(row["learning_rate"])
        assert own.options["dropout"] == float(row["dropout"])
        assert own.config.schedule == row["schedule"]
        assert own.config.loss == "weighted_l1"
        split = task.split or catalogue()[row["dataset"]].split
        months = (8640, 2880, 2880) if row["dataset"].startswith("ETTh") else (34560, 11520, 11520)
        assert split == (months if row["split"] == "12/4/4 months" else row["split"])


def test_published_values_are_those_of_the_paper(paper_folder):
    rows = read(paper_folder / "published.csv")
    cells = {
        (key, model, metric): value
        for key, models in published().items()
        for model, metrics in models.items()
        for metric, value in metrics.items()
    }
    assert len(cells) == len(rows) == 140 * 12 * 2
    for row in rows:
        key = TaskKey(row["dataset"], int(row["lookback"]), int(row["horizon"]))
        assert cells[key, row["model"], row["metric"]] == float(row["value"]), row


def test_settings_can_be_used():
    for key, task in tasks().items():
        assert task.key == key
        assert all(setting.config.schedule in SCHEDULES for setting in task.settings.values())
        assert key.suite == ("long" if key.lookback == 96 else "short")


def test_one_dataset_has_a_split_of_its_own_at_lookback_36():
    own = {key for key, task in tasks().items() if task.split is not None}
    assert own == {TaskKey("COVID-19", 36, horizon) for horizon in (24, 36, 48, 60)}


def test_a_task_is_found_by_its_key():
    key = TaskKey("COVID-19", 36, 24)
    assert paper_tasks().find(key) == tasks()[key]
    with pytest.raises(ConfigError, match="ILI 96->96 is not one of the paper's tasks: `olinear bench run --dry-run`"):
        paper_tasks().find(TaskKey("ILI", 96, 96))


def test_the_split_of_a_dataset_is_that_of_its_own_task():
    like = TaskKey("ILI", 36, 24)
    assert paper_tasks().split_of("COVID-19", like) == "6:2:2"
    assert paper_tasks().split_of("Power", like) is None
    assert paper_tasks().split_of("COVID-19", TaskKey("ILI", 12, 3)) is None
