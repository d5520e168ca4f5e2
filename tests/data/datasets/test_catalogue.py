"""The catalogue says what the MANIFEST and the paper say, and nothing more."""

import re
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from olinear.core.errors import ConfigError, DataError
from olinear.data.datasets import Dataset, catalogue, find_dataset, load_values, require
from olinear.data.datasets.entries import all_datasets

FETCHED = ["ETTh1", "ETTh2", "ETTm1", "ETTm2", "Exchange"]
SHORT = {12: (3, 6, 9, 12), 36: (24, 36, 48, 60)}
PEMS = ["PEMS03", "PEMS04", "PEMS07", "PEMS08"]


def test_all_24_are_there():
    assert len(catalogue()) == 24
    assert len({name for dataset in catalogue().values() for name in dataset.files}) == 25  # METR-LA has two


def test_the_tasks_are_140():
    assert sum(len(horizons) for dataset in catalogue().values() for horizons in dataset.horizons.values()) == 140
    assert catalogue()["ILI"].horizons == SHORT
    assert catalogue()["PEMS03"].horizons == {96: (12, 24, 48, 96)}


def test_kin_hold_the_same_measurements_and_name_each_other():
    kin = {dataset.name: dataset.kin for dataset in all_datasets().values() if dataset.kin}
    assert kin == {
        "ETTh1": ("ETTm1",),
        "ETTh2": ("ETTm2",),
        "ETTm1": ("ETTh1",),
        "ETTm2": ("ETTh2",),
        "PEMS08": ("PEMS08_tail",),
        "PEMS08_tail": ("PEMS08",),
    }


@pytest.mark.parametrize("number", ["1", "2"])
def test_an_hour_is_every_fourth_row_of_a_quarter(number, dataset_folder):
    """What the kinship rests on, looked up in the files, whose digits are rounded."""
    hours, quarters = (find_dataset(f"ETT{step}{number}") for step in "hm")
    first, second = (load_values(each, require(each, dataset_folder))[:4000] for each in (hours, quarters))
    np.testing.assert_allclose(second[::4], first[:1000], atol=1e-5)


def test_names_in_any_case():
    assert find_dataset("etth1") is catalogue()["ETTh1"]
    with pytest.raises(ConfigError, match=r"no dataset is called 'ETTh3': there are ETTh1, .*Unemp"):
        find_dataset("ETTh3")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"sha256": "abc"}, "sha256"),
        ({"split": "7:1:3"}, "sum to ten"),
        ({"address": "http://example.org/x.csv"}, "address"),
        ({"colour": "red"}, "colour"),
        ({"files": []}, "files"),
        ({"sha256": "unknown"}, "could not be checked"),
    ],
)
def test_a_catalogue_with_mistakes_is_refused(change, reason):
    with pytest.raises(ValidationError, match=reason):
        Dataset(**catalogue()["ETTh1"].model_dump() | change)


# Splits


@pytest.mark.parametrize("name", catalogue())
def test_the_split_of_the_published_file(name):
    """By the MANIFEST's formula: int(0.7 n), the rest, int(0.2 n); ETT by months of 30 days."""
    dataset = catalogue()[name]
    split = dataset.split_rows(dataset.rows)
    if name.startswith("ETT"):
        per_day = 24 if name.startswith("ETTh") else 96
        expected = tuple(months * 30 * per_day for months in (12, 4, 4))
    else:
        train = int((0.6 if dataset.split == "6:2:2" else 0.7) * dataset.rows)
        test = int(0.2 * dataset.rows)
        expected = train, dataset.rows - train - test, test
    assert tuple(map(len, (split.train, split.validation, split.test))) == expected
    assert split.borrow == (name not in PEMS)


def test_another_ratio():
    split = catalogue()["COVID-19"].split_rows(100, "6:2:2")
    assert (split.train, split.validation, split.test) == (range(60), range(60, 80), range(80, 100))


@pytest.mark.parametrize("ratio", ["7:1", "7-1-2", "a:b:c", "7:1:1", "-7:15:2"])
def test_a_ratio_that_is_none(ratio):
    with pytest.raises(ConfigError, match=re.escape(f"such as 7:1:2, found {ratio!r}")):
        catalogue()["Weather"].split_rows(100, ratio)


def test_too_few_rows_for_counts():
    with pytest.raises(DataError, match="ETTh1 needs 14400 rows for its split, found 14399"):
        catalogue()["ETTh1"].split_rows(14399)


# Against the sources


def tables(path: Path) -> list[dict[str, str]]:
    """Every row of every table of a Markdown file, by its column."""
    found: list[dict[str, str]] = []
    header: list[str] = []
    for line in path.read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            header = []
        elif not header:
            header = cells
        elif set(line) - set("|- "):
            found.append(dict(zip(header, cells, strict=True)))
    return found


def expand(row: dict[str, str]) -> list[dict[str, str]]:
    """One row for each dataset of a row that tells of several."""
    names = row["dataset"].split(", ")
    if names == ["PEMS03/04/07"]:
        names = PEMS[:3]
        files = [f"{name}.npz" for name in names]
    else:
        files = row["file"].split(", ")
    sizes = [size.strip().replace(" ", "") for size in row["rows × series"].split(", ")]
    sizes *= len(names) // len(sizes)
    return [
        row | {"dataset": name, "file": file, "rows × series": size}
        for name, file, size in zip(names, files, sizes, strict=True)
    ]


def test_the_manifest_says_the_same(dataset_folder):
    """Names, files, sizes, steps, splits, sources and licences, row by row."""
    rows = [entry for row in tables(dataset_folder / "MANIFEST.md") if "dataset" in row for entry in expand(row)]
    assert sorted(row["dataset"] for row in rows) == sorted(catalogue())
    above = ""
    for row in rows:
        dataset = catalogue()[row["dataset"]]
        assert [f for f in re.split(r"[ ()]|or ", row["file"]) if f] == list(dataset.files)
        assert row["rows × series"] == f"{dataset.rows}×{dataset.series}"
        assert row["step"] == dataset.step
        months = "12/4/4 months of 30 days" if isinstance(dataset.split, tuple) else dataset.split
        assert row["split"].startswith(months)
        if row["split"] not in (months, f"{months}, see below"):
            assert dataset.notes == "horizons 24 to 60 are split 6:2:2"
            assert row["split"] == "7:1:2 (horizons 3-12), 6:2:2 (24-60)"
        above = origin = above if (told := row.get("source, licence", "unknown")) == "same" else told
        ours = re.sub(r"^unknown, unknown$", "unknown", f"{dataset.source}, {dataset.licence}")
        assert origin.replace(";", ",") == ours
        straight = "do **not** borrow" in row["notes"] or "see below" in row["split"]  # where PEMS is told of
        assert straight != dataset.borrow


def test_the_checksums_are_the_same(dataset_folder):
    sums = dict(reversed(line.split()) for line in (dataset_folder / "SHA256SUMS").read_text().splitlines())
    del sums["PEMS08_tail.npz"]  # a part of a dataset is none
    assert sums == {d.files[0]: d.sha256 for d in catalogue().values() if d.sha256 != "unknown"}


def test_addresses_come_from_the_manifest(dataset_folder):
    """An address lies in the repository that the MANIFEST names for that dataset; none has been tried."""
    assert [dataset.name for dataset in catalogue().values() if dataset.address] == FETCHED
    manifest = (dataset_folder / "MANIFEST.md").read_text("utf-8")
    for name in FETCHED:
        dataset = catalogue()[name]
        repository = dataset.source.removeprefix("github.com/")
        assert dataset.source in manifest
        assert dataset.address.startswith(f"https://raw.githubusercontent.com/{repository}/")
        assert not dataset.tried


def test_pages_come_from_the_paper(paper_folder):
    paper = (paper_folder / "olinear.tex.txt").read_text("utf-8").splitlines()
    pages = {dataset.name: dataset.page for dataset in catalogue().values() if dataset.page}
    assert len(pages) == 8
    for name, page in pages.items():
        [line] = [line for line in paper if page in line]
        assert rf"\textbf{{{name}}}" in line
