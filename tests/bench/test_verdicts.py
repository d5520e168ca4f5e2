"""A claim is held against the numbers of its figure, and against those that are committed."""

import csv
from dataclasses import asdict
from pathlib import Path

import pytest

from olinear.bench.figures import FIGURES, judge
from olinear.bench.figures.verdicts import PARTS
from olinear.core import DataError

ROOT = Path(__file__).parent.parent.parent
NUMBERS, PICTURES = ROOT / "results" / "paper", ROOT / "docs" / "images" / "paper"


def rows(*cells: tuple[str, str, float]) -> list[dict[str, object]]:
    return [dict(zip(("dataset", "what", "value"), cell, strict=True)) for cell in cells]


def read(name: str) -> list[dict[str, str]]:
    with (NUMBERS / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_it_holds_where_it_holds():
    """Two datasets agree, one does not, one lacks a number, one was left out."""
    left, right = "MSE of the kept windows", "MSE of the kept windows, last value"
    cells = [("a", left, 1.0), ("a", right, 2.0), ("b", left, 1.0), ("b", right, 3.0), ("c", left, 5.0)]
    given = rows(*cells, ("c", right, 4.0), ("d", left, 0.0))
    found = judge("forecasts", [*given, {"dataset": "e", "what": "left out", "value": "no file"}])
    (verdict,) = found
    assert (verdict.holds, verdict.of, verdict.left, verdict.right) == (2, 3, 1.0, 3.0)


def test_blocks_are_compared_each_with_itself():
    kinds = ("NormLin: p", "before training: p", "what training changed: p")
    cells = [("a", f"block {block}, {kind}", block / 25) for block in (1, 2) for kind in kinds]
    strength = ("NormLin", "before training")
    cells += [
        ("a", f"block {block}, {kind}: correlation off the diagonal", value)
        for block, pair in ((1, (0.2, 0.1)), (2, (0.1, 0.2)))
        for kind, value in zip(strength, pair, strict=True)
    ]
    found = judge("normlin-and-correlation", rows(*cells, ("a", "|W - W0| / |W0|", 0.01)))
    assert [(each.holds, each.of) for each in found] == [(1, 2), (1, 2), (1, 2), (1, 2), (0, 1)]


def test_numbers_that_are_not_there_are_missed():
    with pytest.raises(DataError, match="make the figure again"):
        judge("forecasts", [])
    assert judge("correlation-matrices", []) == []


def test_every_figure_is_committed_with_its_numbers():
    """Pictures small enough for a page, and the verdicts are those of the numbers."""
    committed = [name for name in FIGURES if (NUMBERS / f"{name}.csv").exists()]
    assert committed == list(FIGURES)
    for name in FIGURES:
        pictures = list(PICTURES.glob(f"{name}*.png"))
        assert pictures, name
        assert all(each.stat().st_size < 250_000 for each in pictures), name
    verdicts = [asdict(verdict) for name in FIGURES for verdict in judge(name, read(name))]
    assert [{key: str(cell) for key, cell in verdict.items()} for verdict in verdicts] == read("verdicts")


def test_parts_are_of_figures():
    assert set(PARTS) <= set(FIGURES)
