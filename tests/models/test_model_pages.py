"""The pages on the models are a promise: one each, with its paper, its doubts and the settings that were used."""

import ast
import json
import re
from pathlib import Path

import pytest

from olinear.bench.spec.model_settings import settings
from olinear.models import MODELS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SOURCE = ROOT / "src" / "olinear" / "models"
OWN_SECTIONS = ("What it computes", "What is not in the paper, or uncertain", "Settings used")
PAGES = [*sorted((DOCS / "models").glob("*.md")), DOCS / "plugins.md"]


def stem_of(name: str) -> str:
    """A page is called as the file that holds the model."""
    return MODELS.find(name).use.partition(":")[0].rpartition(".")[2]


def page_of(name: str) -> str:
    return (DOCS / "models" / f"{stem_of(name)}.md").read_text()


def anchors_of(page: Path) -> set[str]:
    """The anchors of a page's headings, as renderers of Markdown make them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_model_has_a_page_and_every_page_a_model():
    found = {page.stem for page in (DOCS / "models").glob("*.md")} - {"README"}
    assert found == {stem_of(name) for name in MODELS}


@pytest.mark.parametrize("name", MODELS)
def test_a_page_has_the_paper_and_says_what_was_not_checked(name):
    text = page_of(name)
    assert text.startswith(f"# {name}\n\n{MODELS.find(name).about}\n")
    citation = text.split("\n\n")[2]
    assert re.search(r"\b(19|20)\d\d\b", citation)
    assert ": " in citation
    assert re.search(r"^Not checked: \S+", text, re.MULTILINE)
    assert [line[3:] for line in text.splitlines() if line.startswith("## ")] == list(OWN_SECTIONS)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "OLinear"])
def test_the_page_and_the_docstring_cite_the_same_paper(name):
    citation = page_of(name).split("\n\n")[2].replace("\n", " ")
    said = (MODELS.find(name).load().__doc__ or "").split("\n\n")[1]
    year = re.findall(r"\b(?:19|20)\d\d\b", said)[-1]
    family_name = re.search(r"[A-Z]\w+(?= et al| *,|:)", said)
    assert year in citation
    assert family_name is not None
    assert family_name.group() in citation


@pytest.mark.parametrize("name", MODELS)
def test_the_settings_are_those_that_were_used(name):
    text, rows = page_of(name), settings().get(name, {})
    for key, setting in rows.items():
        options = ", ".join(f"{option}={json.dumps(value)}" for option, value in setting.options.items()) or "defaults"
        loss = "the task's" if setting.of_task else setting.loss
        row = f"| {key} | {options} | {loss} |"
        fields = ("learning_rate", "schedule", "batch_size", "max_epochs", "patience")
        for field in fields:
            value = setting.training.get(field, "the task's")
            row += f" {value:g} |" if isinstance(value, float) else f" {value} |"
        assert row in text
    assert text.count("\n| ") == len(rows) + bool(rows)  # the heading, and no setting that is gone


def test_the_index_has_every_model_with_what_its_card_says():
    text = (DOCS / "models" / "README.md").read_text()
    for name in MODELS:
        card = MODELS.find(name)
        series = "any" if card.traits.any_series else "its own"
        solved = "solved" if card.traits.closed_form else "trained"
        assert f"| [{name}]({stem_of(name)}.md) | {card.about} | {series} | {solved} |" in text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)]+)\)", page.read_text())
    assert links or page.stem == "plugins"
    for target, _, anchor in (link.partition("#") for link in links if not link.startswith("http")):
        goal = page.parent / target if target else page
        assert goal.exists(), target
        assert not anchor or anchor in anchors_of(goal), f"{target}#{anchor}"


def test_docstrings_leave_provenance_to_the_pages():
    """A docstring is read while coding: sentence, paper, equation, arguments."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.Module):
                text = ast.get_docstring(node) or ""
                assert len(text.splitlines()) <= 25, f"{path.name}: {getattr(node, 'name', 'the file')}"
