"""`olinear bench costs`: what it plans, measures, prints, draws and refuses."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest
from cli_parts import call, done, refused

from olinear.bench.costs.running import Runner
from olinear.bench.spec.identity import JobKey, TaskKey
from olinear.bench.store.results import add_row
from olinear.bench.store.rows import Row

COSTS = ("bench", "costs")
FORMER = ("bench", "study", "efficiency")
OWN = ("--model", "dlinear", "--model", "OLinear", "--series", 7)
TWO = ("--model", "dlinear", "--model", "RLinear", "--series", 7)


@pytest.fixture
def results(tmp_path, monkeypatch) -> Path:
    """A folder of results; what is measured is made up, in no time."""

    def made_up(runner: Runner, case, stage: str) -> tuple[dict[str, float], str]:
        ratio = 0.1 if case.model == "DLinear" else 1.5 if case.form == "plain" else 1.0
        times = {f"{stage}_ms": 10 * ratio, f"reference_{stage}_ms": 10.0, f"{stage}_ratio": ratio}
        return times | {f"{stage}_memory_mb": 80 * ratio}, ""

    monkeypatch.setattr(Runner, "measure_stage", made_up)
    return tmp_path / "results"


def costs(results: Path) -> list[dict[str, str]]:
    with (results / "costs" / "efficiency.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_it_measures_and_prints(results):
    outcome = done(*COSTS, *OWN, "--results", results)
    assert "4 cases to measure, 0 measured before; about" in outcome.err
    assert "DLinear, 7 series: inference 1 ms, 0.1 × OLinear, training 1 ms, 0.1 × OLinear; 0 left" in outcome.err
    assert [(row["model"], row["form"]) for row in costs(results)] == [
        ("OLinear", "plain"), ("OLinear", "folded"), ("OLinear", "compact"), ("DLinear", "main")
    ]  # fmt: skip
    assert "Parameters as printed: OLinear, DLinear." in outcome.out
    assert list(results.glob("*.csv")) == []  # which would be read as scores


def test_what_is_there_is_not_measured_again(results):
    done(*COSTS, "--model", "DLinear", "--series", 7, "--results", results)
    outcome = done(*COSTS, *TWO, "--results", results)
    assert "1 case to measure, 1 measured before" in outcome.err
    assert "DLinear, 7 series" not in outcome.err
    outcome = done(*COSTS, *TWO, "--again", "--results", results)
    assert "2 cases to measure" in outcome.err


def test_its_former_name_works_and_says_the_new_one(results):
    """All of its options, too; they are not in the help of the studies."""
    outcome = done(*FORMER, "--model", "DLinear", "--series", 7, "--again", "--results", results)
    assert outcome.err.startswith("hint: this is `olinear bench costs` now\n")
    assert [row["model"] for row in costs(results)] == ["DLinear"]
    assert "--series" not in done("bench", "study", "--help").out
    assert "--series" in done("bench", "costs", "--help").out


def test_a_dry_run_measures_nothing(results):
    outcome = done(*COSTS, *OWN, "--dry-run", "--results", results)
    assert [line.split()[:5] for line in outcome.out.splitlines()[1:]] == [
        ["OLinear", "plain", "7", "4.52", "33.65"],
        ["OLinear", "folded", "7", "4.52", "27.78"],
        ["OLinear", "compact", "7", "0.00", "13.58"],
        ["DLinear", "main", "7", "0.02", "0.13"],
    ]
    assert not results.exists()


def test_the_table_in_other_formats(results, tmp_path):
    done(*COSTS, *TWO, "--results", results)
    table = (*COSTS, *TWO, "--table", "--results", results)
    counts, training, inference = done(*table, "--format", "markdown").out.split("\n\n")[:3]  # a page is narrow
    assert "| 7 | DLinear | main | 0.019 | 0.02 | 0.13 | 0.13 |" in counts
    assert "| 7 | DLinear | main | 0.100 |  | 0.176 |" in training
    assert "| inference ratio |" in inference
    done(*table, "--format", "csv", "--out", tmp_path / "costs.csv")
    assert (tmp_path / "costs.csv").read_text().startswith("series,model,form,parameters (M),")
    assert "\\begin{tabular}" in done(*table, "--format", "latex").out


def test_nothing_yet(results):
    assert "nothing like that is measured" in done(*COSTS, "--table", "--results", results).err


def test_the_picture(results, tmp_path):
    for model in ("OLinear", "DLinear"):
        job = JobKey(TaskKey("ETTh1", 96, 96), model)
        add_row(results, Row(job=job, scores={"mse": 0.4, "mae": 0.4}))
    outcome = done(*COSTS, *OWN, "--results", results, "--plot", tmp_path / "costs.png")
    assert (tmp_path / "costs.png").exists()
    assert "2 models drawn in" in outcome.err
    assert "; not drawn: OLinear-C, RLinear, iTransformer" in outcome.err


def test_a_picture_of_nothing_is_refused(results, tmp_path):
    """Without accuracies before anything is measured; without costs when that is known."""
    picture = ("--results", results, "--plot", tmp_path / "costs.png")
    assert "has no result on ETTh1 96->96 to draw costs against" in refused(*COSTS, *TWO, *picture)
    job = JobKey(TaskKey("ETTh1", 96, 96))
    add_row(results, Row(job=job, scores={"mse": 0.4, "mae": 0.4}))
    outcome = call(*COSTS, "--model", "DLinear", "--series", 8, *picture)
    assert outcome.code == 2
    assert "nothing to draw: no model with an accuracy has a training step measured with 7 series" in outcome.err
    assert "DLinear" in outcome.out
    assert not (tmp_path / "costs.png").exists()


def test_a_model_without_an_entry_is_told(results, monkeypatch):
    from olinear.bench.costs import cases as efficiency

    monkeypatch.setitem(efficiency.MODELS._cards, "Newest", replace(efficiency.MODELS.find("DLinear"), name="Newest"))
    outcome = done(*COSTS, "--model", "newest", "--series", 7, "--results", results)
    assert "note: Newest has no entry in efficiency.toml and is taken with its defaults" in outcome.err


def test_an_interrupt_keeps_what_was_measured(results, monkeypatch):
    made_up = Runner.measure_stage

    def interrupted(runner: Runner, case, stage: str) -> tuple[dict[str, float], str]:
        if case.model == "RLinear":
            raise KeyboardInterrupt
        return made_up(runner, case, stage)

    monkeypatch.setattr(Runner, "measure_stage", interrupted)
    outcome = call(*COSTS, *TWO, "--results", results)
    assert outcome.code == 130
    assert outcome.err.endswith("stopped; start it again to go on\n")
    assert [row["model"] for row in costs(results)] == ["DLinear"]
    monkeypatch.setattr(Runner, "measure_stage", made_up)
    assert "1 case to measure, 1 measured before" in done(*COSTS, *TWO, "--results", results).err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([*COSTS, "--series", 9], "--series must be one of 7, 8, 21, 137, 321, 862, found 9"),
        ([*COSTS, "--model", "GPT"], "no model is called 'GPT': there are OLinear, OLinear-C, DLinear"),
        ([*FORMER, "--dataset", "ETTh1"], "--dataset is not for costs: choose by --model and --series"),
        ([*FORMER, "--seeds", 2], "--seeds is not for costs"),
        ([*FORMER, "--under", 60], "--under is not for costs"),
        ([*COSTS, "--table", "--again"], "--table measures nothing and --again measures anew"),
        ([*COSTS, "--plot", "-"], "a picture needs a file"),
        (["bench", "study", "bases", "--plot", "a.png"], "--plot belongs to `olinear bench costs`"),
        (["bench", "study", "bases", "--model", "DLinear"], "--model belongs to `olinear bench costs`"),
        (["bench", "study", "efficient"], "no study is called 'efficient': there are bases"),
    ],
)
def test_what_is_refused(arguments, reason, tmp_path):
    assert reason in refused(*arguments, "--results", tmp_path / "results")


def test_the_measurements_are_not_overwritten(results):
    done(*COSTS, "--model", "DLinear", "--series", 7, "--results", results)
    path = results / "costs" / "efficiency.csv"
    reason = refused(*COSTS, "--table", "--results", results, "--format", "csv", "--out", path)
    assert "holds what was measured: write the table to another file" in reason
    (results / "file").touch()
    assert "--results must be a folder" in refused(*COSTS, "--table", "--results", results / "file")
