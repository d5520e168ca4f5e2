"""The corpus of CSV dialects itself: well-formed, and no answer that its own file cannot bear out."""

import gzip
import io
import lzma
import re
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from dialect_parts import FOLDER, SETTINGS, Answer, Case, cases, check, check_refusal

from olinear.data.frames import read_panel

CASES = cases()
READINGS = [
    pytest.param(case, settings, answer, id=f"{case}-{'-'.join(settings) or 'alone'}-{at}")
    for case in CASES
    for at, (settings, answer) in enumerate(case.readings())
]


def text_of(case: Case) -> str:
    """Undone by other means than it was made: unpacked, and decoded by its mark or the first encoding that fits."""
    content = case.content
    if case.file.endswith(".gz"):
        content = gzip.decompress(content)
    elif case.file.endswith(".xz"):
        content = lzma.decompress(content)
    elif case.file.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            assert archive.namelist() == ["data.csv"]
            content = archive.read("data.csv")
    encodings = {"gbk": "gbk", "shift-jis": "shift_jis", "cyrillic": "cp1251"}
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode(encodings.get(case.name, "cp1252"))


def test_there_are_120_of_them():
    assert len(CASES) == len({case.name for case in CASES}) == 120
    assert sum(case.answer is not None for case in CASES) >= 95
    assert sum(case.ambiguous is not None for case in CASES) >= 12
    assert {path.suffix for path in FOLDER.iterdir()} == {".toml"}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_case_has_one_verdict_and_a_reason(case: Case):
    assert re.fullmatch("[a-z0-9-]+", case.name)
    assert len(case.why) > 10
    assert case.why.endswith(".")
    assert sum([case.answer is not None, case.ambiguous is not None, bool(case.refused)]) == 1
    assert case.file.startswith("data.")
    if case.ambiguous:
        assert case.ambiguous in SETTINGS
        assert any(case.ambiguous in settings for settings, _ in case.given)
    assert all(settings and set(settings) <= SETTINGS for settings, _ in case.given)


def test_every_setting_has_a_case():
    assert {name for case in CASES for settings, _ in case.given for name in settings} == SETTINGS


def test_no_two_cases_are_one():
    assert len({case.content for case in CASES}) == len(CASES)


@pytest.mark.parametrize(("case", "settings", "answer"), READINGS)
def test_an_answer_is_well_formed(case: Case, settings: dict[str, object], answer: Answer):
    """As many values as times, times that follow each other, and no series without a value."""
    times, values = answer.grid(), answer.values()
    assert values.shape == (len(times), len(answer.series))
    assert len(times) >= 4
    assert times.is_monotonic_increasing
    assert times.is_unique
    assert np.isfinite(values).any(axis=0).all()
    assert not np.isinf(values).any()
    assert bool(answer.times) == (answer.step == "rows") == (not answer.rows)
    assert not set(answer.left_out) & set(answer.series)
    assert set(answer.noted) <= set(answer.series)


@pytest.mark.parametrize(("case", "settings", "answer"), READINGS)
def test_an_answer_is_in_its_file(case: Case, settings: dict[str, object], answer: Answer):
    """Names as they are written there, and every number as the digits of a cell, whatever marks stand between them."""
    text = text_of(case)
    for name in (*answer.series, *answer.left_out):
        assert name.startswith("?") or name.replace('"', '""') in text, name
    if case.name == "year-with-offsets":  # compared with pandas below
        return
    text = re.sub(r"(?<=\d)[eE][+-]?\d+\b", "", text)
    written = {
        digits(cell) for parts in ("[\n\r\t;|]", "[\n\r,]", r"[\s,;]+", '["\n]') for cell in re.split(parts, text)
    }
    for value in (value for cells in answer.series.values() for value in cells if value == value):
        assert digits(np.format_float_positional(value) if isinstance(value, float) else str(value)) in written, value


def digits(number: str) -> str:
    """What is left without signs, marks and the zeros at both ends."""
    return re.sub(r"\D", "", number).strip("0")


def test_lines_end_as_they_should():
    content = {case.name: case.content for case in CASES}
    assert b"\r" in content["cr"]
    assert b"\n" not in content["cr"]
    for name in ("everything-quoted", "sep-line", "latin1"):
        assert content[name].count(b"\r\n") == content[name].count(b"\n") > 8
    assert sum(b"\r" in each for each in content.values()) > 5


def test_bytes_are_what_they_claim():
    content = {case.name: case.content for case in CASES}
    assert content["utf8-bom"].startswith(b"\xef\xbb\xbfdate")
    assert content["utf16-le-tab"].startswith(b"\xff\xfeD\x00")
    assert b"H\xf6he" in content["latin1"]
    assert b"\x80" in content["cp1252"]
    assert content["gbk"].startswith(b"\xca\xb1\xbc\xe4,")
    assert content["shift-jis"].startswith("年月日,".encode("cp932"))


def test_a_year_of_berlin_is_what_pandas_writes():
    year = pd.date_range("2024-01-01", "2025-01-01", freq="h", inclusive="left", tz="Europe/Berlin", name="time")
    case = next(case for case in CASES if case.name == "year-with-offsets")
    written = pd.DataFrame({"load": np.arange(len(year))}, index=year).to_csv(lineterminator="\n")
    assert case.content.decode() == written
    assert case.answer is not None
    assert (case.answer.grid() == year).all()


def plain() -> tuple[Case, Answer]:
    case = CASES[[case.name for case in CASES].index("comma")]
    assert case.answer is not None
    return case, case.answer


def test_the_check_agrees_with_a_right_panel():
    case, answer = plain()
    check(answer, read_panel(pd.read_csv(io.BytesIO(case.content))))


@pytest.mark.parametrize(
    "change",
    [
        {"first": "2024-01-26"},
        {"first": "2024-01-25T00:00Z"},
        {"first": 1, "step": "1"},
        {"step": "2D"},
        {"left_out": ("wind",)},
        {"noted": ("load",)},
        {"notes": ("sentinel-suspected",)},
        {"series": {"load": [0.0] * 10, "temp": [0.0] * 10}},
    ],
    ids=str,
)
def test_the_check_finds_what_is_wrong(change: dict[str, object]):
    case, answer = plain()
    panel = read_panel(pd.read_csv(io.BytesIO(case.content)))
    with pytest.raises(AssertionError):
        check(replace(answer, **change), panel)


@pytest.mark.parametrize("order", [["temp", "load"], ["load"], ["load", "temp", "wind"], ["load", "load"]])
def test_the_check_finds_other_series(order: list[str]):
    case, answer = plain()
    panel = read_panel(pd.read_csv(io.BytesIO(case.content)))
    with pytest.raises(AssertionError):
        check(answer, replace(panel, series=order))


def test_a_refusal_names_its_way_out():
    case = next(case for case in CASES if case.ambiguous == "time_format")
    check_refusal(case, "pass --time-format")
    check_refusal(case, "pass time_format='yyyymm'")
    for message in ("pass --time", "the time_format is unknown", "pass --time-formats"):
        with pytest.raises(AssertionError):
            check_refusal(case, message)
