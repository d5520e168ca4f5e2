"""A promise to users: every release loads the model folders of the releases before it."""

from pathlib import Path

import pandas as pd
import pytest

from olinear import Forecaster

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.mark.parametrize(
    "folder", sorted(path for path in FIXTURES.iterdir() if path.is_dir()), ids=lambda path: path.name
)
def test_an_old_model_folder_gives_its_old_forecast(folder: Path):
    forecast = Forecaster.load(folder).predict(levels=[80, 95])
    expected = pd.read_csv(FIXTURES / f"{folder.name}-forecast.csv")
    assert list(forecast["time"]) == list(pd.to_datetime(expected["time"]))
    assert list(forecast.columns) == list(expected.columns)
    pd.testing.assert_frame_equal(forecast.drop(columns="time"), expected.drop(columns="time"), rtol=1e-5)
