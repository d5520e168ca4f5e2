"""The README is a promise: its code runs, in order, in an empty folder."""

import csv
import re
from importlib import import_module
from pathlib import Path

import pytest

from olinear.forecaster.choosing import MOST_REFITTED

ROOT = Path(__file__).parent.parent


def test_every_python_block_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert blocks
    namespace: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), namespace)


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_make_targets_named_in_the_documents_exist():
    targets = set(re.findall(r"^([\w.-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        for line in re.findall(r"(?:^|`)make ([\w.-]+)", page.read_text(), re.MULTILINE):
            assert line in targets, f"{page.name}: make {line}"


def read_rows(name: str) -> list[dict[str, str]]:
    with (ROOT / "benchmarks" / "results" / name).open() as file:
        return list(csv.DictReader(file))


def test_the_speed_table_is_what_was_measured():
    text = (ROOT / "docs" / "speed.md").read_text()
    for row in read_rows("speed.csv"):
        assert (float(row["ratio"]) < float(row["floor"])) == row["note"].startswith("MISSED"), row
        line = f"| {row['what']} | {row['shapes']} | {row['ratio']} | {row['floor']} |"
        assert line in text


def test_the_rank_table_is_what_was_measured():
    text = (ROOT / "docs" / "speed.md").read_text()
    rows = read_rows("rank.csv")
    for name in {row["mixing"] for row in rows}:
        same = [row for row in rows if row["mixing"] == name]
        mse, mae = (sum(float(row[key]) for row in same) / len(same) for key in ("mse", "mae"))
        assert len(same) == 2
        assert f"| {name} | {same[0]['mixing_weights']} | {mse:.4f} | {mae:.4f} |" in text


def test_the_table_of_marks_is_what_was_measured():
    text = (ROOT / "docs" / "benchmark.md").read_text()
    rows = read_rows("marks.csv")
    assert len(rows) == 10
    for row in rows:
        keys = ("setting", "seed", "marks", "validation_loss", "mse", "mse_alone")
        assert f"| {' | '.join(row[key] for key in keys)} |" in text


def test_twenty_thousand_series_fit():
    row = next(row for row in read_rows("scaling.csv") if row["n"] == "20000")
    assert (row["rank"], row["m"], row["b"]) == ("64", "128", "2")
    assert float(row["megabytes"]) < 1000


def test_the_refit_table_is_what_was_measured(monkeypatch: pytest.MonkeyPatch):
    """And it is what the default follows: up to so many rows a second training gains more than two per cent."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    lines = import_module("refit").table()
    assert "\n".join(lines) in (ROOT / "docs" / "forecasting.md").read_text()
    cells = [[cell.strip() for cell in line.split("|")] for line in lines]
    errors = {int(row[1]): float(row[4]) for row in cells if row[2] == "refit"}
    assert {rows for rows, error in errors.items() if error < 0.98} == {
        rows for rows in errors if rows <= MOST_REFITTED
    }


def test_the_errors_beside_those_of_llmtime_are_what_the_paper_prints(
    monkeypatch: pytest.MonkeyPatch, paper_folder: Path
):
    """Of the dataset that was forecast; on which other models were trained makes no difference."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    with (paper_folder / "tables" / "zero_shot.csv").open() as file:
        header, _, *lines = csv.reader(file)
    place = header.index("LLMTime")
    printed = {line[0].partition("->")[2]: tuple(map(float, line[place : place + 2])) for line in lines}
    assert printed == import_module("llmtime").PRINTED


def test_what_can_be_relied_on_was_kept():
    """The table of docs/trust.md comes from this file (tools/update_docs.py); no line of it may be a broken promise."""
    rows = read_rows("torture/summary.csv")
    assert rows
    assert [row for row in rows if row["ok"] != "yes"] == []
