"""`olinear data`: what is here, whether it is right, and how to get the rest."""

import hashlib
import subprocess
from collections.abc import Iterator
from unittest.mock import patch

import pytest
from cli_parts import SCRIPT, call, done, refused, strict_json
from local_server import serving

from olinear.data.datasets import Dataset, catalogue, fetching
from olinear.data.datasets.entries import all_datasets

CONTENT = b"date,a\n2020-01-01,1\n2020-01-02,2\n"


@pytest.fixture
def small(monkeypatch) -> Iterator[dict[str, Dataset]]:
    """A catalogue of three: two small ones with addresses on this machine, and one without."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    size = {"rows": 2, "series": 1, "step": "day", "sha256": hashlib.sha256(CONTENT).hexdigest()}
    with serving(CONTENT) as server:
        entries = {
            name: catalogue()[name].model_copy(update=size | {"address": server.address(f"{name}.csv")})
            for name in ("ETTh1", "ETTh2")
        } | {"ECL": catalogue()["ECL"]}
        with patch.dict(all_datasets(), entries, clear=True):
            yield entries


@pytest.mark.parametrize("command", ["list", "check", "fetch"])
def test_help_has_an_example(command):
    assert f"Example: olinear data {command}" in " ".join(done("data", command, "--help").out.split())


def test_help_says_where_files_are_looked_for():
    shown = " ".join(done("data", "--help").out.split())
    assert "--data, then in the one that OLINEAR_DATA names, then in a cache folder" in shown
    assert "Usage" in call("data").out + call("data").err


# list


def test_list_tells_of_all_24(bare_machine, tmp_path):
    """One line each, whole however long: piped into grep it must still hold its path or the way to get it."""
    folder = tmp_path / ("a long name " * 15)
    folder.mkdir()
    (folder / "SP500.csv").touch()
    lines = done("data", "list", "--data", folder).out.splitlines()
    here, missing = lines[: lines.index("")], lines[lines.index("") + 1 :]
    assert [line.split()[0] for line in here[1:]] == list(catalogue())
    [line] = [line for line in here if line.startswith("SP500")]
    assert " ".join(line.split()) == f"SP500 SP500.csv 8077 × 5 trading day {' '.join(str(folder).split())}"
    assert [line.split()[0] for line in missing[1:]] == [name for name in catalogue() if name != "SP500"]
    told = {line.split()[0]: line.split(maxsplit=1)[1] for line in missing[1:]}
    assert told["ETTh1"] == "olinear data fetch ETTh1 (this address has not been tried by us)"
    assert told["Unemp"].startswith("download it by hand from https://www.bls.gov/web/laus.supp.toc.htm, put it as")
    assert told["Unemp"].endswith(f"unemployment.csv into {folder}".rstrip())
    assert told["PEMS03"].startswith("source unknown: put PEMS03.npz into ")


def test_list_when_nothing_is_missing(bare_machine):
    for dataset in catalogue().values():
        (bare_machine / dataset.files[-1]).touch()
    printed = done("data", "list").out
    assert "missing" not in printed
    assert "metr-la.h5" in printed


def test_list_for_machines(bare_machine):
    (bare_machine / "ETTh1.csv").touch()
    records = {record["name"]: record for record in strict_json(done("data", "list", "--json").out)}
    assert list(records) == list(catalogue())
    assert records["ETTh1"]["path"] == str(bare_machine / "ETTh1.csv")
    assert records["ETTh1"]["how_to_get"] is None
    assert records["ETTh1"]["tried"] is False
    assert records["ECL"]["path"] is None
    assert (records["ECL"]["source"], records["ECL"]["licence"]) == ("unknown", "unknown")
    assert records["ILI"]["horizons"] == {"12": [3, 6, 9, 12], "36": [24, 36, 48, 60]}


def test_list_on_a_narrow_terminal(bare_machine, monkeypatch):
    """Nothing is cut off: what is long goes on below."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    printed = done("data", "list").out
    assert "…" not in printed
    assert max(map(len, printed.splitlines()[1:20])) <= 80


def test_the_script_in_a_pipe(bare_machine):
    outcome = subprocess.run([SCRIPT, "data", "list"], capture_output=True, check=True, timeout=120)
    assert outcome.stdout.decode() == done("data", "list").out
    assert outcome.stderr == b""


@pytest.mark.parametrize("command", ["list", "check"])
def test_a_folder_that_is_not_there(command, tmp_path):
    """A slip in --data must not pass for files that are missing."""
    found = refused("data", command, "--data", tmp_path / "nowhere")
    assert found == f"--data must be a folder, found {tmp_path / 'nowhere'}: check the spelling"


# check


def test_check_of_what_is_right(bare_machine, small):
    (bare_machine / "ETTh1.csv").write_bytes(CONTENT)
    outcome = done("data", "check")
    assert outcome.out.splitlines()[1].split() == ["ETTh1", "ETTh1.csv", "2", "×", "1", "ok", "0", "ok"]
    assert outcome.err == "note: 2 of 3 are missing: see olinear data list\n"
    assert done("data", "check", "etth1").out == outcome.out


def test_check_of_what_is_wrong(bare_machine, small):
    """All are told, and the exit code is 1."""
    (bare_machine / "ETTh1.csv").write_bytes(CONTENT)
    (bare_machine / "ETTh2.csv").write_bytes(CONTENT + b"2020-01-03,\n")
    (bare_machine / "electricity.csv").write_bytes(b"date,a\n2020-01-01,x\n")
    outcome = call("data", "check")
    assert outcome.code == 1
    first, second, third = outcome.out.splitlines()[1:]
    assert first.endswith(" ok")
    told = "3 × 1 rows × series, expected 2 × 1; another sha256 than the file of the committed results"
    assert second.endswith(f"different  1      WRONG: {bare_machine / 'ETTh2.csv'}: {told} (empty cells: 1)")
    assert "WRONG" in third
    assert "no number in row 1 of 'a'" in third
    assert outcome.err == ""


def test_check_for_machines(bare_machine, small):
    (bare_machine / "ETTh1.csv").write_bytes(CONTENT[:-2] + b"3\n")
    outcome = call("data", "check", "ETTh1", "--json")
    assert outcome.code == 1
    [record] = strict_json(outcome.out)
    assert record["path"] == str(bare_machine / "ETTh1.csv")
    assert (record["shape"], record["expected"], record["sha256"]) == ([2, 1], [2, 1], "different")
    assert record["problems"] == ["another sha256 than the file of the committed results"]


def test_check_of_nothing(bare_machine):
    outcome = done("data", "check")
    assert outcome.out == ""
    assert "24 of 24 are missing" in outcome.err


def test_check_of_a_dataset_that_is_missing(bare_machine):
    assert "ECL needs electricity.csv, not found in" in refused("data", "check", "ECL")
    assert "no dataset is called 'ETT'" in refused("data", "check", "ETT")


def test_check_of_the_files_we_have(dataset_folder):
    outcome = done("data", "check", "Weather", "Exchange", "--data", dataset_folder)
    weather, exchange = outcome.out.splitlines()[1:]
    assert weather.endswith("ok (steps longer than one of 10 min: 1; repeated times: 1)")
    assert exchange.endswith(" ok")


# fetch


def test_fetch_into_the_cache(bare_machine, small):
    """Where it is then found; the path is all that standard output gets."""
    outcome = done("data", "fetch", "etth1")
    assert outcome.out == f"{bare_machine / 'ETTh1.csv'}\n"
    assert outcome.err == f"fetching {small['ETTh1'].address} (this address has not been tried by us)\n"
    assert (bare_machine / "ETTh1.csv").read_bytes() == CONTENT
    assert done("data", "check", "ETTh1").code == 0


def test_fetch_what_is_here(bare_machine, small, tmp_path, monkeypatch):
    """A folder that OLINEAR_DATA names need not be the cache; a folder given must have it."""
    (tmp_path / "named").mkdir()
    (tmp_path / "named" / "ETTh1.csv").write_bytes(CONTENT)
    monkeypatch.setenv("OLINEAR_DATA", str(tmp_path / "named"))
    outcome = done("data", "fetch", "ETTh1")
    assert (outcome.out, outcome.err) == (f"{tmp_path / 'named' / 'ETTh1.csv'}\n", "ETTh1 is here already\n")
    given = tmp_path / "given"
    assert done("data", "fetch", "ETTh1", "--data", given).out == f"{given / 'ETTh1.csv'}\n"


def test_fetch_all(bare_machine, small):
    """Those that have an address; the others are told."""
    outcome = done("data", "fetch", "all")
    assert outcome.out.splitlines() == [str(bare_machine / name) for name in ("ETTh1.csv", "ETTh2.csv")]
    assert outcome.err.splitlines()[-1].startswith("ECL: source unknown: put electricity.csv into")


def test_one_that_fails_does_not_stop_the_others(bare_machine, small):
    outcome = call("data", "fetch", "ECL", "ETTh2")
    assert outcome.code == 2
    assert outcome.out == f"{bare_machine / 'ETTh2.csv'}\n"
    assert "ECL: ECL has no address" in outcome.err
    assert outcome.err.endswith("olinear: not fetched: ECL (why is said above)\n")


def test_fetch_by_hand(bare_machine):
    told = refused("data", "fetch", "NASDAQ")
    page = "https://www.kaggle.com/datasets/sai14karthik/nasdq-dataset"
    assert told.endswith(f"download it by hand from {page}, put it as nasdaq.csv into {bare_machine}")
    assert "source unknown: put electricity.csv into" in refused("data", "fetch", "ECL")
    assert "no dataset is called" in refused("data", "fetch", "ETT")


def test_fetch_needs_a_name():
    assert call("data", "fetch").code == 2


def test_ctrl_c_says_how_to_go_on(bare_machine, small):
    def stop(*_):
        raise KeyboardInterrupt

    with patch.object(fetching._Bar, "show", stop):
        outcome = call("data", "fetch", "ETTh1")
    assert outcome.code == 130
    assert outcome.err.endswith("stopped; the same command goes on from what has come\n")
    assert (bare_machine / "ETTh1.csv.part").exists()
    done("data", "fetch", "ETTh1")
    assert (bare_machine / "ETTh1.csv").read_bytes() == CONTENT
