"""The page: well-formed, complete, self-contained, and right."""

import json
import math
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from bench_parts import varied
from reading_parts import ILI, SMALL, change, paper_rows, row

from olinear.bench.read.summary import Selection
from olinear.bench.show.report import make_report, write_report
from olinear.bench.spec.identity import JobKey
from olinear.bench.spec.task import published
from olinear.bench.store.results import add_row
from olinear.bench.store.rows import Row
from olinear.core.errors import OutputError

VOID = {"meta"}
EVIL = "<script>alert('x')</script> & \"quoted\""


class Page(HTMLParser):
    """Every element is closed in its turn; text is kept by the section it stands in."""

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.sections: dict[str, list[str]] = {"": []}
        self.section = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "section":
            self.section = dict(attrs)["id"]
            self.sections[self.section] = []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag == "section":
            self.section = ""

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.sections[self.section].append(data)

    def text(self, section: str = "") -> str:
        return " ".join(" ".join(self.sections[section]).split())

    def count(self, name: str, kind: str | None = None) -> int:
        return sum(tag == name and (kind is None or kind in (attrs.get("class") or "")) for tag, attrs in self.tags)


@pytest.fixture
def no_data(tmp_path, monkeypatch):
    """No dataset is found anywhere."""
    monkeypatch.delenv("OLINEAR_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def make(tmp_path, no_data):
    """The page of some rows, parsed."""

    def made(rows: list[Row], selection: Selection | None = None, forecasts: dict[str, str] | None = None) -> Page:
        for one in rows:
            add_row(tmp_path, one)
        for name, text in (forecasts or {}).items():
            (tmp_path / "forecasts").mkdir(exist_ok=True)
            (tmp_path / "forecasts" / name).write_text(text)
        return Page(make_report(tmp_path, None, selection or Selection()))

    return made


def some_rows() -> list[Row]:
    failed = change(row(ILI, 1.0, seed=2024), mse=None, mae=None, error="killed")
    gone = change(row(ILI._replace(horizon=6), 1.0), mse=None, mae=None, error=EVIL)
    return [*paper_rows(1.1, [SMALL]), *paper_rows(0.9, [ILI]), failed, gone]


def window(**changes: object) -> dict[str, object]:
    values = {"history": [0.0, 1.0, 0.5], "actual": [0.2, 0.4], "forecast": [0.3, 0.3]}
    return {"start": 7, "series": EVIL} | values | changes


def forecasts(*windows: dict[str, object], variant: str = "main") -> dict[str, str]:
    names = dict(zip(("dataset", "lookback", "horizon"), SMALL, strict=True))
    text = json.dumps(names | {"variant": variant, "seed": 2023, "windows": list(windows)})
    return {f"{varied(JobKey(SMALL), variant).name}.json": text}


# The whole page


def test_it_opens_from_disk_and_loads_nothing(make, tmp_path):
    page = make(some_rows(), forecasts=forecasts(window()))
    text = make_report(tmp_path, None, Selection())
    assert "http://" not in text
    assert "https://" not in text
    assert "url(" not in text
    assert "@import" not in text
    for _, attributes in page.tags:
        assert not {"src", "href", "srcset", "data"} & set(attributes)
    assert {"link", "img", "iframe", "object", "embed", "base"}.isdisjoint({name for name, _ in page.tags})
    assert "default-src 'none'" in text


def test_both_themes_and_phones(make):
    make(some_rows())
    text = (Path(make_report.__code__.co_filename).parent / "report.css").read_text()
    light, dark = text.split("@media (prefers-color-scheme: dark)")
    named = set(re.findall(r"(--\w+):", light))
    assert named == set(re.findall(r"(--\w+):", dark.split("* {")[0]))  # every colour has a dark one
    assert set(re.findall(r"var\((--\w+)\)", text)) <= named
    assert "max-width: 800px" in text


def test_the_viewport_is_the_phones(make):
    page = make(some_rows())
    assert ("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}) in page.tags


def test_all_140_tasks_are_there_without_javascript(make):
    page = make(paper_rows())
    for key, models in published().items():
        assert f"{key.dataset} {key.lookback} {key.horizon} 1 {models['OLinear']['mse']:.3f}" in page.text("tasks")
    assert "Nothing: every task has a result." in page.text("missing")
    assert page.count("rect") == 24
    assert page.count("circle") == 2 * 140
    assert "seeds: 1" in page.text()


def test_the_same_results_give_the_same_page(make, tmp_path):
    make(some_rows(), forecasts=forecasts(window()))
    assert make_report(tmp_path, None, Selection()) == make_report(tmp_path, None, Selection())


def test_it_is_written(tmp_path, no_data):
    add_row(tmp_path, row(SMALL, 0.3))
    write_report(tmp_path, tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text("utf-8") == make_report(tmp_path, None, Selection())
    with pytest.raises(OutputError, match="cannot be written"):
        write_report(tmp_path, tmp_path / "none" / "r.html")


# Sections


def test_the_figures(make):
    head = make(some_rows()).text()
    assert "with a result 2/140" in head
    assert "mean MSE ratio 1.000" in head
    assert "mean MAE ratio 1.000" in head
    assert "above 1.05 in MSE 1 of 2 tasks" in head
    assert "best MSE 1 published OLinear: 2" in head  # ILI is won with 0.9, ETTm1 lost with 1.1
    assert "best MAE 1 published OLinear: 2" in head


def test_the_charts(make):
    page = make(some_rows())
    charts = page.text("charts")
    assert charts.count("no result") == 22
    assert "ETTm1: 1.1000" in charts
    assert "ILI: 0.9000" in charts
    assert page.count("rect", "worse") == page.count("rect", "better") == 1
    assert "ETTm1 96->96: ours 0.332, published 0.302, ratio 1.100" in charts
    assert "ILI 12->3: MSE ratio 0.900, MAE ratio 0.900" in charts
    assert (page.count("circle", "long"), page.count("circle", "short")) == (2, 2)


def test_ratios_are_coloured(make):
    page = make(some_rows())
    assert page.count("td", "worse") == page.count("td", "better") == 4  # two metrics in two tables


def test_worse_tasks_say_why(make, tmp_path):
    (tmp_path / "remarks.toml").write_text('[OLinear]\n"ETTm1 96->96" = "a <short> remark"\n')
    assert "ETTm1 96 96 1 0.332 0.302 1.100 a <short> remark" in make(some_rows()).text("worse")
    assert "worse" not in make(paper_rows(1.0, [SMALL])).sections


def test_what_is_missing_and_why(make):
    missing = make(some_rows()).text("missing")
    assert "138 of 140 tasks have no result. For data that is not here, `olinear data list` says" in missing
    assert f"12->6 failed: {EVIL}" in missing
    assert "12->9, 12->12, 36->24, 36->36, 36->48, 36->60 no data: national_illness.csv" in missing
    assert "ILI 12->3 OLinear seed 2024: killed" in missing


def test_how_it_was_made(make):
    rows = [row(SMALL, 0.3), change(row(SMALL, 0.3, seed=2024), commit="def456+", versions="olinear 9, torch 8")]
    making = make(rows).text("making")
    assert "2 with a result, 0.0 hours" in making
    assert "2023, 2024" in making
    assert "abc123, def456+" in making
    assert "olinear 0.1.0, torch 2.13; olinear 9, torch 8" in making
    assert "olinear bench report --results" in making
    assert "--variant" not in making


def test_variants_have_a_line_next_to_our_main_results(make):
    other = [change(one, variant="rank=2") for one in paper_rows(1.32, [SMALL])]
    alone = [change(one, variant="rank=4") for one in paper_rows(1.0, [SMALL._replace(horizon=192)])]
    page = make([*some_rows(), *other, *alone])
    assert page.text("variants").endswith("OLinear rank=2 1 1.200 1.200")  # some_rows has 1.1 times the paper's there


def test_other_models_have_a_line(make):
    other = [change(one, model="DLinear", mse=0.345 * 1.2, mae=0.372) for one in paper_rows(1.0, [SMALL])]
    assert make([*some_rows(), *other]).text("models").endswith("DLinear 1 140 1.200 1.000 1 0 0")


def test_without_others_no_line(make):
    assert not {"variants", "models"} & set(make(some_rows()).sections)


def test_another_selection(make):
    rows = paper_rows(1.2, [SMALL, SMALL._replace(dataset="ETTm2")])
    page = make([*rows, *some_rows()], Selection(suite="long", datasets=("ETTm1", "ETTm2")))
    assert "Our results, long suite" in page.text()
    assert "with a result 2/8" in page.text()
    assert page.text("making").endswith("--suite long --dataset ETTm1 --dataset ETTm2")


def test_only_failures_still_make_a_page(make):
    page = make([change(row(SMALL, 1.0), mse=None, mae=None, error="killed")])
    assert "mean MSE ratio –" in page.text()
    assert "charts" not in page.sections
    assert "96->96 failed: killed" in page.text("missing")


def test_all_text_is_escaped(make, tmp_path):
    page = make(some_rows(), forecasts=forecasts(window()))
    assert "<script>alert" not in make_report(tmp_path, None, Selection())
    assert EVIL in page.text("forecasts")


# Forecasts


def test_windows_are_drawn(make):
    page = make(some_rows(), forecasts=forecasts(window(), window(start=8)))
    assert "ETTm1: 2 windows" in page.text("forecasts")
    assert f"ETTm1 96->96, series {EVIL}, test window 8, seed 2023" in page.text("forecasts")
    assert [page.count("path", kind) for kind in ("history", "actual", "forecast")] == [2, 2, 2]


def test_windows_of_others_are_not(make):
    page = make(some_rows(), forecasts=forecasts(window(), variant="rank=16"))
    assert page.count("path") == 0
    assert "None is drawn" in page.text("forecasts")


def test_no_forecasts_are_noted(make):
    assert "None is drawn" in make(some_rows()).text("forecasts")


@pytest.mark.parametrize("text", ["{", "[]", '{"dataset": "ETTm1"}', "", "\x00"])
def test_a_damaged_file_is_noted_and_left_out(make, text):
    page = make(some_rows(), forecasts=forecasts(window()) | {"bad.json": text})
    assert "bad.json could not be read" in page.text("forecasts")
    assert page.count("path", "forecast") == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"history": [], "actual": [], "forecast": []},
        {"history": [], "actual": []},
        {"history": [1.0], "actual": [1.0], "forecast": [1.0]},
        {"history": [math.nan, math.inf], "actual": [math.nan], "forecast": [-math.inf]},
        {"history": [1e300, -1e300]},
        {"history": [1e-300, 0.0], "actual": [], "forecast": []},
    ],
)
def test_odd_windows_do_no_harm(make, changes):
    page = make(some_rows(), forecasts=forecasts(window(**changes)))
    paths = [attributes["d"] for name, attributes in page.tags if name == "path"]
    assert len(paths) == 3
    assert not re.search("nan|inf", " ".join(paths))
