"""Costs next to the paper's printed ones."""

import csv

import pytest
from efficiency_parts import cost, find_case

from olinear.bench.costs import cases as efficiency
from olinear.bench.costs.cases import (
    reference_case,
    settings,
)
from olinear.bench.costs.paper import Printed, printed_cell, printed_costs, printed_ratio
from olinear.bench.costs.rows import COLUMNS, CostRow
from olinear.bench.costs.table import PARTS, cost_lines, cost_table
from olinear.bench.show.tables import FORMATS

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
                own = "plain" if efficiency.entry_of(model).forms else "main"
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
        cost("iTransformer", "matched", ratio=1.25),
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
    assert plain["training ratio to plain"] == 1.0
    assert by_model["iTransformer", "main", 7]["training ratio to plain"] == pytest.approx(2.0 / 1.5)
    assert by_model["TimesNet", "main", 7]["training ratio to plain"] is None
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
    assert "iTransformer: 0.80 like for like, 0.50 (paper 0.70) with 7 series; the paper's pair has blocks 2" in pair
    assert lines[-1] == "Not measured, TimesNet, 7 series, training: too slow: stopped after 60 seconds."
    assert any(line.endswith("less than half of the paper's multiplications: TimesNet.") for line in lines)


def test_rows_of_different_threads_are_told():
    lines = cost_lines([cost("DLinear"), cost("RLinear", threads=1)])
    assert lines[0].endswith("on 1 or 2 threads: ratios of different rows compare only roughly.")


def test_rows_of_different_versions_are_told():
    one, other = cost("DLinear", versions="olinear 1", commit="a"), cost("RLinear", versions="olinear 1", commit="b")
    lines = cost_lines([one, other])
    assert lines[1] == "Measured by several versions (olinear 1, commit a; olinear 1, commit b)."
    assert not any("several versions" in line for line in cost_lines([one]))


def test_what_else_to_know_of_a_model_is_told():
    assert any(line.startswith("TiDE: as trained on ETTh1") for line in cost_lines([cost("TiDE")]))


def test_the_columns_are_those_promised():
    assert COLUMNS[:3] == ["model", "form", "series"]
    assert {"threads", "versions", "commit", "training_ratio", "inference_ratio"} <= set(COLUMNS)
    assert reference_case(find_case("DLinear", series=321)) == find_case("OLinear", "folded", 321)
