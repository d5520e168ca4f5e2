"""The embedded dataset: what the README and the tutorials are built on."""

from importlib.resources import files

import pandas as pd
import pytest

import olinear
from olinear.data.datasets import load_demo


@pytest.fixture(scope="module")
def demo() -> pd.DataFrame:
    return load_demo()


def test_two_years_of_hours_and_seven_series(demo):
    assert demo.shape == (17520, 8)
    assert demo.columns[0] == "time"
    assert all(pd.api.types.is_numeric_dtype(demo[name]) for name in demo.columns[1:])


def test_the_time_grid_is_hourly_without_holes(demo):
    assert demo["time"].iloc[0] == pd.Timestamp("2013-01-01 00:00")
    assert (demo["time"].diff().iloc[1:] == pd.Timedelta(hours=1)).all()


def test_only_pm25_has_missing_values(demo):
    missing = demo.isna().sum()
    assert missing["pm25"] == 181
    assert missing.sum() == 181


def test_values_are_plausible_for_beijing(demo):
    """A shifted or renamed column would show here."""
    assert demo["pm25"].min() >= 0
    assert demo["temperature"].between(-25, 45).all()
    assert demo["pressure"].between(980, 1060).all()


def test_the_short_name_is_the_same_function():
    assert olinear.load_demo is load_demo


def test_each_call_gives_a_frame_of_its_own(demo):
    again = load_demo()
    pd.testing.assert_frame_equal(again, demo)
    assert again is not demo


def test_the_attribution_is_shipped():
    """CC BY asks for credit wherever the data goes."""
    text = (files("olinear.data.datasets") / "files" / "ATTRIBUTION.md").read_text(encoding="utf-8")
    assert "CC BY 4.0" in text
    assert "Liang" in text
    assert "Changes:" in text
