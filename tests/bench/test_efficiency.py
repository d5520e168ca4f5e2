"""What a model costs: counted as by hand, measured beside OLinear, recorded whatever happens."""

import csv
import os
import signal
import time
from collections import Counter
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
import torch
from efficiency_parts import cost, find_case
from filelock import FileLock

from olinear.bench.efficiency import cases as efficiency
from olinear.bench.efficiency import measuring
from olinear.bench.efficiency.cases import (
    Case,
    find_models,
    find_series,
    known_models,
    make_cases,
    reference_case,
    settings,
    without_entry,
)
from olinear.bench.efficiency.counting import _count, build, count
from olinear.bench.efficiency.measuring import Budget, Told, _in_words, _measure, best_times
from olinear.bench.efficiency.paper import Printed, printed_cell, printed_costs, printed_ratio
from olinear.bench.efficiency.rows import COLUMNS, CostRow, add_cost, costs_file, read_costs
from olinear.bench.efficiency.running import Runner, make_plan
from olinear.bench.efficiency.table import PARTS, cost_lines, cost_table
from olinear.bench.results import runs_folder
from olinear.bench.table import FORMATS
from olinear.errors import ConfigError, DataError
from olinear.nn.folding import shapes_of
from olinear.zoo import MODELS, check_options

# From Python 3.12 on, forking a process that has threads is warned of; what is forked here uses none of them.
pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")

SMALL = Case("DLinear", "main", 2, lookback=8, horizon=4, batch=2)
OTHER = replace(SMALL, model="RLinear")
THIRD = replace(SMALL, model="FITS")
SOLVED = replace(SMALL, model="Ridge")
QUICK = Budget(seconds=0.02, call=20.0)
SPEED = 1e9

# What is measured


def test_every_registered_model_is_measured_in_all_its_forms():
    cases = make_cases(find_models(None), find_series(None))
    assert {case.model for case in cases} == {*MODELS, "OLinear-C"}
    assert [case.series for case in cases] == sorted(case.series for case in cases)
    forms = Counter((case.model, case.form) for case in cases)
    assert set(forms.values()) == {6}
    assert {form for model, form in forms if model == "OLinear-C"} == {"plain", "folded", "compact"}
    assert {model for model, form in forms if form == "normlin"} == {"iTransformer", "PatchTST", "Leddam", "Fredformer"}
    without_training = {(case.model, case.form) for case in cases if "training" not in case.stages}
    assert without_training == {
        ("OLinear", "compact"), ("OLinear-C", "compact"), ("Ridge", "main"), ("Gaussian", "main")
    }  # fmt: skip


def test_the_file_names_registered_models_and_their_options():
    assert set(settings().models) <= set(known_models())
    for name, entry in settings().models.items():
        assert set(entry.at) <= set(settings().shapes.datasets.values())
        for options in (entry.options, *entry.at.values(), entry.normlin or {}):
            check_options("OLinear" if name == "OLinear-C" else name, options)
            assert options.get("dropout", 0.0) == 0.0


def test_a_setting_for_some_series_replaces_the_others():
    assert find_case("CARD", series=7).options["blocks"] == 2
    assert find_case("CARD", series=137).options["blocks"] == 3
    assert find_case("iTransformer", "normlin").options | {"blocks": 3} == find_case("iTransformer").options | {
        "mixer": "normlin"
    }


def test_a_model_without_an_entry_is_taken_with_its_defaults(monkeypatch):
    monkeypatch.setitem(efficiency.MODELS, "Newest", MODELS["DLinear"])
    assert without_entry(find_models(None)) == ["Newest"]
    (case,) = make_cases(find_models(["newest"]), [7])
    assert case.options == {}
    assert count(case) == count(find_case("DLinear"))


# Counting


@pytest.mark.parametrize("series", [7, 321])
def test_multiplications_of_dlinear_by_hand(series):
    """Season and trend, each through one layer; the moving average adds and multiplies nothing."""
    assert count(find_case("DLinear", series=series)) == (2 * (96 * 96 + 96), 2 * series * 96 * 96)


@pytest.mark.parametrize("series", [7, 137])
def test_multiplications_of_itransformer_by_hand(series):
    """Embedding, three blocks of four maps, two products of attention and two layers, and the head."""
    width = 512
    block = 4 * series * width**2 + 2 * series**2 * width + 2 * series * width**2
    expected = series * 96 * width + 3 * block + series * width * 96
    assert count(find_case("iTransformer", series=series)).multiplications == expected


def test_attention_counts_the_same_where_its_kernel_is_fused():
    case = Case("iTransformer", "main", 3, '{"model_dim": 16, "heads": 2}', lookback=8, horizon=4, batch=2)
    assert _count(build(case), case, "cpu") == count(case)


def test_fourier_transforms_do_not_count_and_complex_products_count_once():
    assert count(find_case("FITS")).multiplications == 7 * 40 * 80


def test_multiplications_of_olinear_by_hand():
    """Folding pays by what it says it does; the extension by φ, of single numbers, is left out."""
    plain, folded, compact = (count(find_case("OLinear", form)) for form in ("plain", "folded", "compact"))
    shapes = shapes_of(build(find_case("OLinear", "plain")), 16)
    assert 16 * plain.multiplications == shapes.forward(2).plain - shapes.rows * 16 * 96
    assert compact.multiplications < folded.multiplications < plain.multiplications
    assert (plain.parameters, folded.parameters, compact.parameters) == (4_518_944, 4_518_944, 0)


@pytest.mark.parametrize(
    ("model", "form", "series", "norms"),
    [("DLinear", "main", 7, 0), ("iTransformer", "main", 7, 7), ("iTransformer", "main", 321, 7)]
    + [("OLinear", "plain", series, 5) for series in (7, 321, 862)],
)
def test_the_paper_counts_multiplications_and_five_for_a_number_in_a_norm(model, form, series, norms):
    """Its "FLOPs" are not twice the multiplications."""
    ours = count(find_case(model, form, series)).multiplications + 5 * norms * series * 512
    assert printed_cell(model, form, series, "multiplications").agrees(ours)


SAME = {7: "OLinear OLinear-C DLinear iTransformer PatchTST CARD TimeMixer TimesNet FreTS", 21: "CARD TimeMixer++"}
SAME |= {321: "OLinear OLinear-C TimeMixer TimesNet", 862: "OLinear TimeMixer"}
PRINTED = [(name, series) for series, names in SAME.items() for name in names.split()]


@pytest.mark.parametrize(("model", "series"), PRINTED)
def test_parameters_are_the_printed_ones(model, series):
    form = "plain" if model in efficiency.OWN else "main"
    assert printed_cell(model, form, series, "parameters").agrees(count(find_case(model, form, series)).parameters)


def test_parameters_with_normlin_are_the_printed_ones():
    for model, ours in (("iTransformer", 2_205_378), ("PatchTST", 2_710_400)):
        assert count(find_case(model, "normlin")).parameters == ours
        assert printed_cell(model, "normlin", 7, "parameters").agrees(ours)


def test_where_the_difference_is_known_it_is_as_large_as_said():
    """Fredformer's unused parameters, CARD's unused maps."""
    for form in ("main", "normlin"):
        ours = count(find_case("Fredformer", form)).parameters
        assert not printed_cell("Fredformer", form, 7, "parameters").agrees(ours)
        assert printed_cell("Fredformer", form, 7, "parameters").agrees(ours + 55_903)
    for series, attentions in ((137, 6), (862, 4)):
        ours = count(find_case("CARD", series=series)).parameters
        cell = printed_cell("CARD", "main", series, "parameters")
        assert not cell.agrees(ours)
        assert cell.agrees(ours + attentions * (128 * 128 + 128))


# Measuring


def test_sides_take_turns_and_the_best_counts(monkeypatch):
    monkeypatch.setattr("olinear.bench.efficiency.measuring.IN_A_ROW", 0.01)
    order: list[str] = []

    def side(name: str, seconds: float) -> Any:
        def call() -> None:
            order.append(name)
            time.sleep(seconds)

        return call

    slow, quick = best_times(side("slow", 0.02), side("quick", 0.001), seconds=0.1)
    assert slow >= 0.02
    assert 0.001 <= quick < slow
    turns = [name for name, before in zip(order, ["", *order], strict=False) if name != before]
    assert turns[:4] == ["slow", "quick", "slow", "quick"]
    assert order.count("quick") > order.count("slow")


@pytest.mark.parametrize("stage", SMALL.stages)
def test_a_stage_tells_memory_time_and_ratio(stage, monkeypatch):
    monkeypatch.setattr("olinear.bench.efficiency.measuring.IN_A_ROW", 0.0001)
    told: list[Told] = []
    _measure(SMALL, stage, QUICK, told.append)
    found = {name: value for message in told for name, value in message.found.items()}
    assert found[f"{stage}_ratio"] == pytest.approx(found[f"{stage}_ms"] / found[f"reference_{stage}_ms"])
    assert 0 < found[f"{stage}_ratio"] < 1  # DLinear against OLinear
    assert f"{stage}_memory_mb" in found or not Path("/proc/self/status").exists()
    assert told[0].silence == QUICK.call


def test_want_of_memory_is_called_so():
    assert _in_words(MemoryError()).startswith("out of memory")
    assert _in_words(RuntimeError("[enforce fail] can't allocate memory: …")).startswith("out of memory: [enforce")
    assert _in_words(ValueError("too\nmany")) == "ValueError: too many"


# Running


def quick_runner(results: Path, work: Any, **options: Any) -> Runner:
    """A runner whose processes start in a moment and do what they are told to."""
    runner = Runner(results, budget=QUICK, **options)
    runner.context, runner.work = get_context("fork"), work
    return runner


def behave(case: Case, stage: str, threads: int, budget: Budget, channel: Any) -> None:
    """By model and stage: well, by an error, killed with something told, and not at all."""
    channel.send(Told({f"{stage}_memory_mb": 3.0}))
    if case.model == "RLinear":
        if stage == "training":
            os.kill(os.getpid(), signal.SIGKILL)
        channel.send(Told(error="out of memory: so much"))
    if case.model == "FITS" and stage == "training":
        channel.send(Told(silence=0.1))
        time.sleep(60)
    channel.send(Told({f"{stage}_ms": 4.0, f"reference_{stage}_ms": 2.0, f"{stage}_ratio": 2.0}))
    channel.send(Told(done=True))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_what_ends_badly_is_recorded_and_stops_nothing(tmp_path):
    plan = make_plan([SMALL, OTHER, THIRD, replace(SMALL, form="again")], tmp_path, SPEED)
    assert quick_runner(tmp_path, behave).run(plan) == 4
    rows = {(row.model, row.form): row for row in read_costs(tmp_path)}
    good, killed, slow = rows["DLinear", "main"], rows["RLinear", "main"], rows["FITS", "main"]
    assert rows["DLinear", "again"].training_ratio == good.training_ratio == 2.0
    assert (good.training_error, good.inference_error) == ("", "")
    assert killed.inference_error == "out of memory: so much"
    assert killed.training_error == "killed: its process ended with code -9 (out of memory?)"
    assert (killed.training_ratio, killed.training_memory_mb) == (None, 3.0)
    assert slow.training_error == "too slow: stopped after 0 seconds"
    assert slow.inference_ms == 4.0
    assert (good.parameters, good.multiplications) == (2 * (8 * 4 + 4), 2 * 2 * 8 * 4)
    assert good.threads
    assert "torch" in good.versions


def fall_asleep(case: Case, stage: str, threads: int, budget: Budget, channel: Any) -> None:
    channel.send(Told(silence=0.05))
    time.sleep(60)


def test_a_model_too_slow_for_inference_is_not_trained(tmp_path):
    asked: list[str | CostRow] = []
    runner = quick_runner(tmp_path, fall_asleep, show=lambda case, news: asked.append(news))
    runner.run(make_plan([SMALL], tmp_path, SPEED))
    assert asked[:-1] == ["inference"]
    (row,) = read_costs(tmp_path)
    assert row.training_error.startswith("too slow")


@pytest.mark.skipif(not Path("/proc/meminfo").exists(), reason="needs Linux")
def test_want_of_memory_ends_only_the_case(tmp_path, monkeypatch):
    """A process may take a share of what is available; beyond it an allocation fails, before the system must kill."""
    available = int(Path("/proc/meminfo").read_text().partition("MemAvailable:")[2].split()[0])
    monkeypatch.setattr(measuring, "SPARE", 0.2)
    monkeypatch.setattr(measuring, "warm_up", lambda make: None)
    monkeypatch.setattr(measuring, "build", lambda case: torch.empty(available // 2, 1024, dtype=torch.int8))
    quick_runner(tmp_path, measuring.measure).run(make_plan([SOLVED], tmp_path, SPEED))
    (row,) = read_costs(tmp_path)
    assert row.inference_error.startswith("out of memory: ")
    assert row.multiplications == 2 * 8 * 4


def test_a_case_that_cannot_be_built_is_recorded(tmp_path):
    wrong = replace(SMALL, settings='{"width": 3}')
    plan = make_plan([wrong], tmp_path, SPEED)
    assert Runner(tmp_path).run(plan) == 1
    (row,) = read_costs(tmp_path)
    assert "width" in row.training_error
    assert row.parameters is None


def test_a_real_process_measures(tmp_path):
    """One that has only inference: torch's optimizers take seconds to import, and a step was measured above."""
    assert Runner(tmp_path, budget=QUICK).run(make_plan([SOLVED], tmp_path, SPEED)) == 1
    (row,) = read_costs(tmp_path)
    assert (row.inference_error, row.training_error, row.training_ms) == ("", "", None)
    assert row.inference_ratio == pytest.approx(row.inference_ms / row.reference_inference_ms, rel=1e-3)


def test_what_is_there_is_not_measured_again(tmp_path):
    add_cost(tmp_path, cost("DLinear"))
    cases = [find_case("DLinear"), find_case("RLinear")]
    assert [planned.case.model for planned in make_plan(cases, tmp_path, SPEED)] == ["RLinear"]
    assert len(make_plan(cases, tmp_path, SPEED, again=True)) == 2
    other = replace(find_case("DLinear"), settings='{"window": 13}')
    assert [planned.case for planned in make_plan([other], tmp_path, SPEED)] == [other]


def test_a_row_takes_the_place_of_the_earlier_one(tmp_path):
    for row in (cost("RLinear"), cost("DLinear"), cost("OLinear", "plain"), cost("DLinear", ratio=3.0)):
        add_cost(tmp_path, row)
    rows = read_costs(tmp_path)
    assert [row.model for row in rows] == ["OLinear", "DLinear", "RLinear"]
    assert rows[1] == cost("DLinear", ratio=3.0)
    assert list(costs_file(tmp_path).parent.iterdir()) == [costs_file(tmp_path)]


def test_an_interrupt_leaves_what_was_measured(tmp_path):
    def interrupt(case: Case, news: str | CostRow) -> None:
        if case == OTHER:
            raise KeyboardInterrupt

    runner = quick_runner(tmp_path, behave, show=interrupt)
    with pytest.raises(KeyboardInterrupt):
        runner.run(make_plan([SMALL, OTHER], tmp_path, SPEED))
    assert [row.case for row in read_costs(tmp_path)] == [SMALL]
    runner = quick_runner(tmp_path, behave, hours=0)
    assert runner.run(make_plan([OTHER], tmp_path, SPEED)) == 0


def test_two_at_once_are_refused(tmp_path):
    with FileLock(runs_folder(tmp_path) / "costs.lock"), pytest.raises(ConfigError, match="two at once"):
        Runner(tmp_path).run([])


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [("series", "many", "lacks the columns series"), (",7,", ",seven,", "line 2 is damaged"), ("\n", ",\n", "damaged")],
)
def test_a_damaged_file_is_named(tmp_path, before, after, reason):
    add_cost(tmp_path, cost("DLinear"))
    path = costs_file(tmp_path)
    head, line = path.read_text().splitlines(keepends=True)
    path.write_text(head.replace(before, after, 1) + line if before == "series" else head + line.replace(before, after))
    with pytest.raises(DataError, match=reason):
        read_costs(tmp_path)


def test_time_is_estimated_by_multiplications(tmp_path):
    quick, slow = (make_plan([find_case(name)], tmp_path, 50e9)[0].seconds for name in ("DLinear", "TimesNet"))
    assert 15 < quick < 30
    assert 100 < slow < 300


# The paper's table


def test_units_change_from_row_to_row():
    assert printed_cell("OLinear", "plain", 862, "training_time").value == 20.0  # ms, printed in s
    assert printed_cell("OLinear", "plain", 7, "inference_memory").value == 156.41
    assert printed_cell("OLinear", "plain", 321, "inference_memory").value == pytest.approx(0.17 * 1024)
    assert printed_cell("OLinear", "plain", 321, "multiplications").value == 1.65e9
    assert printed_cell("TimeMixer++", "main", 862, "training_time").value is None
    assert printed_ratio("TimeMixer++", "main", 862, "training_time") == "OOM"
    assert printed_ratio("Leddam", "main", 7, "training_time") == pytest.approx(25.02 / 8.09)
    assert printed_cell("OLinear", "folded", 7, "parameters") is None


def test_counts_agree_at_the_printed_decimals():
    cell = Printed("4.52", "M")
    assert cell.agrees(4_515_000)
    assert not cell.agrees(4_525_000)
    assert not Printed("OOM", "M").agrees(1)


def test_every_cell_is_the_papers(paper_folder):
    names = {"OL (Ours)": "OLinear", "OL-C (Ours)": "OLinear-C", "iTrans.": "iTransformer", "TimeMix.++": "TimeMixer++"}
    names |= {"TimeMix.": "TimeMixer", "Dlinear": "DLinear"}
    kinds = {"Params": "parameters", "FLOPs": "multiplications", "T.T.": "training_time", "T.M.": "training_memory"}
    kinds |= {"I.T.": "inference_time", "I.M.": "inference_memory"}
    series = settings().shapes.datasets | {"ETTm1": 7}
    checked = 0
    for file, heads in (("GPU", 1), ("GPU_normlin_plugin_compare", 2)):
        head, *lines = csv.reader((paper_folder / "tables" / f"{file}.csv").read_text().splitlines())
        for dataset, label, *cells in lines[heads - 1 :]:
            kind, _, unit = label.rstrip(")").partition("(")
            for place, text in enumerate(cells if dataset in series else []):
                model = names.get(head[2 + place - place % heads], head[2 + place - place % heads])
                own = "plain" if model in efficiency.OWN else "main"
                form = "normlin" if heads == 2 and place % 2 else own
                cell = printed_costs()[model, form, series[dataset]][kinds[kind.strip()]]
                assert cell == Printed(text, unit.removesuffix("/iter"))
                checked += 1
    assert checked == 6 * 6 * 12 + 4 * 6 * 8


# Beside ours


def some_costs() -> list[CostRow]:
    slow = {"training_ratio": None, "training_ms": None, "training_error": "too slow: stopped after 60 seconds"}
    return [
        cost("OLinear", "plain", ratio=1.5, parameters=4_518_944),
        cost("OLinear", "folded", ratio=1.02),
        cost("OLinear", "plain", 8, parameters=4_519_168),
        cost("iTransformer", ratio=2.0, parameters=4_833_888),
        cost("iTransformer", "normlin", ratio=1.0, parameters=2_205_378),
        cost("TimesNet", parameters=299_939_015, **slow),
        cost("Ridge", parameters=0),
    ]


def test_the_table_has_ours_and_the_papers():
    table = cost_table(some_costs())
    names = [column.name for column in table.columns]
    by_model = {(row[1], row[2], row[0]): dict(zip(names, row, strict=True)) for row in table.cells}
    plain = by_model["OLinear", "plain", 7]
    assert (plain["parameters (M)"], plain["paper parameters (M)"]) == (4.518944, "4.52")
    assert (plain["training ratio"], plain["paper training ratio"], plain["paper training (MB)"]) == (1.5, 1.0, "205")
    assert by_model["OLinear", "folded", 7]["paper parameters (M)"] is None
    assert by_model["iTransformer", "main", 7]["paper inference ratio"] == pytest.approx(1.72 / 1.19)
    assert by_model["TimesNet", "main", 7]["training ratio"] == "too slow"
    assert by_model["Ridge", "main", 7]["training ratio"] is None
    parts = [cost_table(some_costs(), [part]) for part in PARTS]
    assert [column.name for part in parts for column in part.columns[3:]] == names[3:]


@pytest.mark.parametrize("format", FORMATS)
def test_the_table_in_every_format(format):
    text = FORMATS[format](cost_table(some_costs()), cost_lines(some_costs()))
    assert "iTransformer" in text
    assert "too slow" in text


def test_the_lines_say_what_agrees_and_what_does_not():
    lines = cost_lines(some_costs())
    assert any(line.endswith("on 2 threads.") for line in lines)
    assert "OLinear folded against itself is 1.02 to 1.02: so much is noise." in lines
    assert "Parameters as printed: OLinear (with 7 series), iTransformer, iTransformer normlin, TimesNet." in lines
    (other,) = (line for line in lines if line.startswith("Parameters not as printed"))
    assert other.startswith("Parameters not as printed, OLinear: 4,519,168 against 1.74 M with 8 series; for Exchange")
    (pair,) = (line for line in lines if line.startswith("NormLin for attention"))
    assert "iTransformer: 0.50 (paper 0.70) with 7 series; as in the paper with blocks 2 instead of 3." in pair
    assert lines[-1] == "Not measured, TimesNet, 7 series, training: too slow: stopped after 60 seconds."
    assert any(line.endswith("less than half of the paper's multiplications: TimesNet.") for line in lines)


def test_rows_of_different_threads_are_told():
    lines = cost_lines([cost("DLinear"), cost("RLinear", threads=1)])
    assert lines[0].endswith("on 1 or 2 threads: ratios of different rows compare only roughly.")


def test_the_columns_are_those_promised():
    assert COLUMNS[:3] == ["model", "form", "series"]
    assert {"threads", "versions", "commit", "training_ratio", "inference_ratio"} <= set(COLUMNS)
    assert reference_case(find_case("DLinear", series=321)) == find_case("OLinear", "folded", 321)
