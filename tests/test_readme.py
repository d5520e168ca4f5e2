"""The README is a promise: its code runs, in order, in an empty folder."""

import csv
import re
from pathlib import Path

import pytest

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


def test_the_result_in_the_readme_is_the_one_that_was_measured():
    with (ROOT / "benchmarks" / "results" / "etth1.csv").open() as file:
        row = next(row for row in csv.DictReader(file) if (row["horizon"], row["seed"]) == ("96", "2023"))
    assert (
        f"| OLinear, this library | {float(row['mse']):.3f} | {float(row['mae']):.3f} |"
        in (ROOT / "README.md").read_text()
    )
    assert int(row["windows"]) == 2785
