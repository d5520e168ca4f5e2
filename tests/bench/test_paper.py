"""The paper's list: complete, answered by results, and wrong where they are wrong."""

from pathlib import Path

import pytest
from reading_parts import change, paper_rows

from olinear.bench import read_results
from olinear.bench.paper import Evidence, Item, find_item, items, judge, paper_page, picture_of
from olinear.bench.paper.numbers import read_numbers, write_numbers
from olinear.bench.read.variants import paper_scores
from olinear.bench.spec.identity import TaskKey, Variant
from olinear.core import ConfigError

ROOT = Path(__file__).parent.parent.parent
COMMITTED = Evidence(
    read_results(ROOT / "results"), ROOT / "results", ROOT / "docs" / "images" / "paper", ROOT / "tests"
)


def evidence(folder: Path, rows=()) -> Evidence:
    return Evidence(list(rows), folder, folder)


def made(**answer: object) -> Item:
    return Item(name="x", kind="table", where="Table 0", claim="c", commands=("bench run",), answer=answer)


def test_it_has_the_papers_tables_figures_and_equations():
    kinds = [item.kind for item in items().values()]
    assert len(kinds) >= 45
    assert set(kinds) == {"table", "figure", "equation", "system"}


@pytest.mark.parametrize("item", items().values(), ids=list(items()))
def test_every_item_is_answered_or_says_why_not(item):
    """An open item says why; one that is answered says so no more; a difference has a reason."""
    verdict = judge(item, COMMITTED)
    assert bool(item.open) == (verdict.word == "open"), (verdict, item.open)
    assert item.why or verdict.word != "different", verdict


def test_data_that_cannot_be_had_is_the_only_excuse(tmp_path):
    absent = made(by="tasks", suite="long", datasets=["ECL", "Traffic"])
    assert judge(absent, evidence(tmp_path)).word == "not to be had"
    present = made(by="tasks", suite="long", datasets=["ECL", "ETTh1"])
    found = judge(present, evidence(tmp_path))
    assert (found.word, found.done, found.here, found.printed) == ("open", 0, 4, 8)


@pytest.mark.parametrize(("factor", "word"), [(1.0, "same"), (1.015, "same"), (0.95, "different"), (1.03, "different")])
def test_tasks_are_the_same_within_two_per_cent(tmp_path, factor, word):
    rows = paper_rows(factor, [TaskKey("ETTh1", 96, horizon) for horizon in (96, 192, 336, 720)])
    assert judge(find_item("long-term"), evidence(tmp_path, rows)).word == word


def test_a_mean_over_horizons_needs_all_of_them(tmp_path):
    """The paper prints few-shot results as means over four horizons."""
    printed = paper_scores(Variant.parse("few-shot=last"))["ETTh1", 96, "avg"]
    keys = [TaskKey("ETTh1", 96, horizon) for horizon in (96, 192, 336, 720)]
    rows = [change(row, variant="few-shot=last", mse=printed.mse, mae=printed.mae) for row in paper_rows(1.0, keys)]
    item = made(by="variants", variants=["few-shot=last"])
    assert judge(item, evidence(tmp_path, rows[:3])).word == "open"
    found = judge(item, evidence(tmp_path, rows))
    assert (found.word, found.done) == ("same", 1)


def test_a_claim_holds_on_every_dataset_or_not_at_all(tmp_path):
    item = made(by="numbers", figure="f", holds=[{"what": "a", "below": "b"}, {"what": "b", "at_most": 5}])
    assert judge(item, evidence(tmp_path)).word == "open"
    rows = [{"dataset": name, "what": what, "value": value} for name in "xy" for what, value in (("a", 1), ("b", 2))]
    write_numbers(tmp_path, "f", rows)
    assert judge(item, evidence(tmp_path)).word == "same"
    write_numbers(tmp_path, "f", [*rows, {"dataset": "x", "what": "a", "value": 3}])
    found = judge(item, evidence(tmp_path))
    assert found.word == "different"
    assert found.how == "a is below b on 1 of 2 datasets; b is at most 5 on 2 of 2 datasets"
    assert read_numbers(tmp_path, "f")["x"] == {"a": 3.0, "b": 2.0}


def test_a_test_that_is_not_there_proves_nothing():
    item = made(by="test", tests=["tests/bench/test_paper.py::test_of_nothing"])
    assert judge(item, COMMITTED).word == "open"


def test_a_picture_has_to_be_drawn(tmp_path):
    item = made(by="picture", picture="p.png")
    assert judge(item, evidence(tmp_path)).word == "open"
    (tmp_path / "p.png").write_bytes(b"")
    assert judge(item, evidence(tmp_path)).word == "same"
    assert picture_of(item, evidence(tmp_path)) == tmp_path / "p.png"


def test_an_unknown_name_is_answered_with_the_nearest():
    assert find_item("Long-Term").name == "long-term"
    with pytest.raises(ConfigError, match="did you mean jacobians"):
        find_item("jacobian")
    with pytest.raises(ConfigError, match="olinear paper list"):
        find_item("???")


def test_the_page_is_up_to_date():
    page = ROOT / "docs" / "paper.md"
    assert page.read_text("utf-8") == paper_page(COMMITTED, page)
