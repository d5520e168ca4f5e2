"""A user's own tasks: what a file says is what is run, and a mistake is named by its key."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from olinear.bench.run.planning import make_plan
from olinear.bench.run.running import run_job
from olinear.bench.spec.identity import JobKey, TaskKey
from olinear.bench.spec.jobs import recipe
from olinear.bench.spec.own_file import read_own_tasks
from olinear.bench.spec.study import find_study, studies
from olinear.core.errors import ConfigError, DataError, OLinearError

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_tasks" / "tasks.toml"
SALES = """
[datasets.sales]
file = "sales.csv"
lookbacks = [8]
horizons = [2, 4]
"""
TASKS = "[[tasks]]\n"


@pytest.fixture
def folder(tmp_path) -> Path:
    """A folder with sixty rows of two series, as CSV and as Parquet."""
    values = np.random.default_rng(0).normal(size=(60, 2)).cumsum(0)
    frame = pd.DataFrame(values, columns=["north", "south"])
    frame.insert(0, "date", pd.date_range("2024-01-01", periods=60))
    frame.to_csv(tmp_path / "sales.csv", index=False)
    frame.to_parquet(tmp_path / "sales.parquet")
    return tmp_path


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text)
    return path


def test_the_example():
    own = read_own_tasks(EXAMPLE)
    assert list(map(str, own.tasks.tasks)) == ["bakery 28->7", "bakery 28->14"]
    assert len(own.jobs) == 2 * (2 * 2 + 1)
    dataset = own.tasks.find_dataset("BAKERY")
    assert (dataset.rows, dataset.series, dataset.paper) == (360, 3, False)


def test_a_job_is_what_the_file_says(folder):
    entry = 'models = ["olinear"]\nseeds = 2\ntraining = { max_epochs = 3 }\noptions.OLinear = { model_dim = 8 }\n'
    own = read_own_tasks(written(folder, SALES + TASKS + entry))
    assert [str(job) for job in own.jobs] == [
        f"sales 8->{horizon} OLinear seed {seed}" for horizon in (2, 4) for seed in (2023, 2024)
    ]
    plan = recipe(own.jobs[0], own.tasks)
    assert (plan.options["model_dim"], plan.options["blocks"]) == (8, 1)  # the rest as for data of this size
    assert (plan.training.max_epochs, plan.training.loss) == (3, "weighted_l1")
    assert plan.trained.dataset.split_rows(60).test == range(48, 60)


def test_a_setting_of_the_benchmark_by_its_name(folder):
    entry = 'models = ["DLinear"]\nsettings.DLinear = "tsl"\ntraining = { patience = 7 }\n'
    own = read_own_tasks(written(folder, SALES + TASKS + entry))
    plan = recipe(own.jobs[0], own.tasks)
    assert plan.options == {"init": "mean"}
    assert (plan.training.learning_rate, plan.training.patience, plan.training.loss) == (1e-4, 7, "l2")


def test_variants_are_those_of_the_benchmark(folder):
    other = SALES.replace("sales]", "elsewhere]")
    variants = ["main", "few-shot=last", "zero-shot=ELSEWHERE", "embed=4", "mixers/flowformer", "swapped-q=elsewhere"]
    own = read_own_tasks(written(folder, SALES + other + TASKS + f"datasets = ['sales']\nvariants = {variants}\n"
                                 + TASKS + "datasets = ['elsewhere']\n"))  # fmt: skip
    found = {str(job.variant): recipe(job, own.tasks) for job in own.jobs if job.key == TaskKey("sales", 8, 2)}
    assert list(found) == [
        "main", "few-shot=last", "zero-shot=elsewhere", "embed=4", "mixers/Flowformer", "swapped-q=elsewhere"
    ]  # fmt: skip
    assert found["zero-shot=elsewhere"].trained.dataset.name == "elsewhere"
    assert found["embed=4"].options["embed_dim"] == 4


def test_rows_of_the_split_and_parquet(folder):
    text = SALES.replace("sales.csv", "sales.parquet") + "split = [30, 10, 20]\nborrow = false\n" + TASKS
    own = read_own_tasks(written(folder, text))
    split = own.tasks.find_dataset("sales").split_rows(60)
    assert (split.train, split.validation, split.test) == (range(30), range(30, 40), range(40, 60))


def test_such_a_job_trains_and_scores(folder):
    """The same runner: its scores are those of a forecast by hand."""
    own = read_own_tasks(written(folder, SALES + TASKS + 'models = ["Ridge"]\n'))
    job = own.jobs[0]
    plan = make_plan(own.jobs, set(), None, 1e9, own.tasks)
    assert {planned.job for planned in plan.jobs} == set(own.jobs)
    row, drawn, errors = run_job(job, recipe(job, own.tasks), None, folder / "run")
    values = pd.read_csv(folder / "sales.csv").iloc[:, 1:].to_numpy()
    scaled = ((values - values[:42].mean(0)) / values[:42].std(0)).astype(np.float32)
    assert (row.job, row.windows, len(errors)) == (job, 12 - 2 + 1, 11)
    assert drawn is None
    assert 0 < row.mse < 10 * np.var(scaled[48:])
    assert torch.tensor(errors).mean().item() == pytest.approx(row.mse, rel=1e-5)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (SALES, "tasks: Field required"),
        (TASKS, "datasets: Field required"),
        (SALES + "colour = 'red'\n" + TASKS, "datasets.sales.colour is not a key that is known here"),
        (SALES + TASKS + "epochs = 3\n", "tasks.0.epochs is not a key that is known here"),
        (SALES.replace("[8]", "[0]") + TASKS, "datasets.sales.lookbacks.0: Input should be greater"),
        (SALES.replace("[8]", "[]") + TASKS, "datasets.sales.lookbacks"),
        (SALES.replace(".sales]", ".'my sales']") + TASKS, "datasets.my sales"),
        (SALES + "split = '7:1'\n" + TASKS, "three numbers of tenths .*found '7:1'"),
        (SALES + "split = [50, 10, 20]\n" + TASKS, "needs 80 rows for its split, found 60"),
        (SALES + TASKS + "datasets = ['sale']\n", "tasks name the dataset 'sale': there are sales"),
        (SALES + TASKS + "models = ['GPT']\n", "no model is called 'GPT'"),
        (SALES + TASKS + "options.OLinear = { width = 3 }\n", "OLinear has no option 'width'"),
        (SALES + TASKS + "options.DLinear = { init = 'mean' }\n", "options or settings of DLinear, which is not among"),
        (SALES + TASKS + "training = { epochs = 3 }\n", "training.epochs is not a key that is known here"),
        (SALES + TASKS + "training = { patience = 0 }\n", "training.patience: Input should be greater"),
        (SALES + TASKS + "settings.OLinear = 'tsl'\n", "OLinear has no setting 'tsl'"),
        (SALES + TASKS + TASKS, "sales 8->2 is asked of OLinear twice"),
        (SALES + TASKS + "variants = ['few']\n", "no variant is called 'few'"),
        (SALES + TASKS + "variants = ['rank=3']\n", "at most the number of series, 2"),
        ("datasets = ", "mine.toml is not a TOML file"),
    ],
)  # fmt: skip
def test_a_mistake_is_named(folder, text, reason):
    with pytest.raises(OLinearError, match=reason) as caught:
        read_own_tasks(written(folder, text))
    assert "mine.toml" in str(caught.value)


def test_a_file_that_is_not_there(folder):
    with pytest.raises(DataError, match=r"mine.toml cannot be read: No such file"):
        read_own_tasks(folder / "mine.toml")
    with pytest.raises(OLinearError, match=r"there is no file .*sold\.csv"):
        read_own_tasks(written(folder, SALES.replace("sales.csv", "sold.csv") + TASKS))


def test_studies_stay_the_papers(folder):
    """A task of one's own is not one of the paper's."""
    own = read_own_tasks(written(folder, SALES + TASKS))
    with pytest.raises(ConfigError, match=r"ILI 36->24 is not one of the tasks of .*mine\.toml"):
        recipe(JobKey(TaskKey("ILI", 36, 24)), own.tasks)
    assert all(find_study(name).on for name in studies())
