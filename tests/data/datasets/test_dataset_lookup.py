"""Where files are looked for, and what is said of those that are nowhere."""

import sys

import pytest

from olinear.core.errors import DataError
from olinear.data.datasets import cache_folder, catalogue, how_to_get, locate, require
from olinear.data.datasets.lookup import data_folders

ETTH1, METR = catalogue()["ETTh1"], catalogue()["METR-LA"]


def test_given_then_variable_then_cache(bare_machine, tmp_path, monkeypatch):
    """Each place is asked only if those before it have nothing."""
    given, named = tmp_path / "given", tmp_path / "named"
    monkeypatch.setenv("OLINEAR_DATA", str(named))
    assert data_folders(given) == [given, named, bare_machine]
    assert locate(ETTH1, given) is None
    for folder in (bare_machine, named, given):
        folder.mkdir(exist_ok=True)
        (folder / "ETTh1.csv").touch()
        assert locate(ETTH1, given) == require(ETTH1, given) == folder / "ETTh1.csv"
    assert locate(ETTH1) == named / "ETTh1.csv"


def test_an_empty_variable_is_none(bare_machine, monkeypatch):
    monkeypatch.setenv("OLINEAR_DATA", "")
    assert data_folders() == [bare_machine]


def test_the_home_folder_may_be_a_tilde(bare_machine, tmp_path, monkeypatch):
    monkeypatch.setenv("OLINEAR_DATA", "~/data")
    assert data_folders("~/mine")[:2] == [tmp_path / "home" / "mine", tmp_path / "home" / "data"]


def test_a_folder_is_no_file(bare_machine):
    (bare_machine / "ETTh1.csv").mkdir()
    assert locate(ETTH1) is None


def test_either_name_will_do(bare_machine):
    (bare_machine / "metr-la.h5").touch()
    assert locate(METR) == bare_machine / "metr-la.h5"
    (bare_machine / "METR_LA.csv").touch()
    assert locate(METR) == bare_machine / "METR_LA.csv"


@pytest.mark.parametrize(
    ("platform", "place"), [("linux", "cache"), ("win32", "cache"), ("darwin", "home/Library/Caches")]
)
def test_the_cache_folder_of_each_system(bare_machine, tmp_path, monkeypatch, platform, place):
    with monkeypatch.context() as patch:
        patch.setattr(sys, "platform", platform)
        found = cache_folder()
    assert found == tmp_path / place / "olinear"


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="they have other folders")
def test_the_cache_folder_without_a_variable(tmp_path, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "olinear"


# How to get it


def test_a_missing_file_is_told_with_what_to_do(bare_machine, tmp_path):
    with pytest.raises(DataError) as error:
        require(ETTH1, tmp_path)
    assert str(error.value) == (
        f"ETTh1 needs ETTh1.csv, not found in {tmp_path}, {bare_machine} (name another folder with --data or "
        "OLINEAR_DATA); to get it: olinear data fetch ETTh1 (this address has not been tried by us)"
    )


def test_a_tried_address_needs_no_warning():
    assert how_to_get(ETTH1.model_copy(update={"tried": True})) == "olinear data fetch ETTh1"


def test_by_hand_from_a_page(bare_machine):
    page = "https://www.kaggle.com/datasets/sai14karthik/nasdq-dataset"
    expected = f"download it by hand from {page}, put it as nasdaq.csv into {bare_machine}"
    assert how_to_get(catalogue()["NASDAQ"]) == expected


def test_an_unknown_source_is_unknown(bare_machine, tmp_path):
    ending = "or name its folder with --data or OLINEAR_DATA"
    assert how_to_get(catalogue()["ECL"]) == f"source unknown: put electricity.csv into {bare_machine}, {ending}"
    found = how_to_get(catalogue()["Weather"], tmp_path)
    assert found == f"from Max Planck Institute, Jena, no address known: put weather.csv into {tmp_path}, {ending}"
