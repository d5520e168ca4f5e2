"""Rows of a fit and rows to forecast from, in files and frames: the second are read as the first were."""

import numpy as np
import pandas as pd
import pytest
from forecaster_parts import small, waves

from olinear.core.errors import DataError, OLinearError
from olinear.data.frames import read_panel
from olinear.forecaster import Forecaster

nan = np.nan
ROWS = 60


def german(frame: pd.DataFrame, path, form: str = "%d/%m/%Y") -> str:
    """Days before months, commas before decimals, and a column of text."""
    written = frame.assign(time=frame["time"].dt.strftime(form), station="north")
    written.to_csv(path, index=False, sep=";", decimal=",")
    return str(path)


@pytest.fixture(scope="module")
def days() -> pd.DataFrame:
    frame = waves()[: ROWS + 20]
    return frame.assign(time=pd.date_range("2024-01-01", periods=len(frame)))


@pytest.fixture(scope="module")
def folder(days, tmp_path_factory):
    """A model that was fitted on a file, and saved."""
    place = tmp_path_factory.mktemp("german")
    forecaster = small(lookback=8, horizon=4).fit(german(days[:ROWS], place / "fit.csv"))
    forecaster.save(place / "model")
    return place / "model"


def test_a_file_is_fitted_and_forecast_from_as_its_frame(days, folder, tmp_path):
    from_frame = small(lookback=8, horizon=4).fit(days[:ROWS])
    loaded = Forecaster.load(folder)
    pd.testing.assert_frame_equal(loaded.predict(), from_frame.predict(), check_dtype=False)
    newer = from_frame.predict(days)
    pd.testing.assert_frame_equal(loaded.predict(german(days, tmp_path / "new.csv")), newer, check_dtype=False)
    pd.testing.assert_frame_equal(loaded.predict(days), newer, check_dtype=False)


def test_few_rows_are_read_in_the_order_of_the_fit(days, folder, tmp_path):
    """1/3 to 10/3: by themselves they could be the third of ten months."""
    few = days[(days["time"] >= "2024-03-01") & (days["time"] <= "2024-03-10")]
    forecast = Forecaster.load(folder).predict(german(few, tmp_path / "few.csv"))
    assert list(forecast["time"]) == list(pd.date_range("2024-03-11", periods=4))


@pytest.mark.parametrize("freq", [None, "rows"])
def test_dates_and_whole_numbers_do_not_follow_each_other(days, freq):
    """Rows that are steps whatever the clock says ended in a TypeError."""
    counted = days.assign(time=range(len(days)))
    for first, later in ((days, counted), (counted, days)):
        fitted = small(lookback=8, horizon=4, freq=freq).fit(first[:ROWS])
        for further in (later, read_panel(later)):
            for ask in (fitted.predict, fitted.backtest):
                with pytest.raises(OLinearError, match=r"whole numbers|freq"):
                    ask(further)


def test_rows_much_further_apart_than_those_of_the_fit_are_noted(days):
    """They are dated by the step of the fit, which hourly rows after daily ones do not have."""
    fitted = small(lookback=8, horizon=4, freq="rows").fit(days[:ROWS])
    trading = days[days["time"].dt.day_of_week < 5]
    assert "rows-other-step" not in {note.code for note in fitted.predict_panel(trading).history.notes}
    hours = days.assign(time=pd.date_range("2024-06-01", periods=len(days), freq="h"))
    assert "rows-other-step" in {note.code for note in fitted.predict_panel(hours).history.notes}


def test_notes_of_reading_are_kept_in_the_folder(folder):
    notes = {note.code: note.about for note in Forecaster.load(folder).report()["notes"]}
    assert notes["time-dayfirst"] == ("time",)
    assert notes["series-left-out"] == ("station",)
    assert {"read-delimiter", "read-decimal"} <= notes.keys()


def test_a_model_of_a_zone_forecasts_from_text_with_offsets(tmp_path):
    """pandas writes no zone into a CSV, only offsets, which change within the year."""
    frame = waves().assign(time=pd.date_range("2024-10-24", periods=150, freq="h", tz="Europe/Berlin"))
    frame.to_parquet(tmp_path / "rows.parquet")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    forecaster = small().fit(tmp_path / "rows.parquet")
    pd.testing.assert_frame_equal(forecaster.predict(tmp_path / "rows.csv"), forecaster.predict(frame))
    forecaster.save(tmp_path / "model", context=False)
    loaded = Forecaster.load(tmp_path / "model")
    pd.testing.assert_frame_equal(loaded.predict(tmp_path / "rows.csv"), forecaster.predict(frame))


def test_a_series_that_has_no_value_any_more_is_no_obstacle(fitted, frame, tmp_path):
    """It is left out of a fit, but a model that knows it forecasts it from what it learnt."""
    frame.assign(b=nan).to_csv(tmp_path / "rows.csv", index=False)
    prediction = fitted.predict_panel(tmp_path / "rows.csv")
    assert any(note.code == "series-unknown" and note.about == ("b",) for note in prediction.notes)
    assert np.isfinite(prediction.forecast.values).all()


def test_a_column_that_a_fit_left_out_is_left_out_of_further_rows(frame):
    forecaster = small().fit(frame.assign(new=nan)[:130])
    forecast = forecaster.predict(frame.assign(new=1.5))
    pd.testing.assert_frame_equal(forecast, small().fit(frame[:130]).predict(frame))


def test_a_panel_of_another_step_is_refused(fitted, frame):
    daily = read_panel(frame.assign(time=pd.date_range("2024-01-01", periods=len(frame))))
    with pytest.raises(DataError, match="'h'"):
        fitted.predict(daily)


def test_a_fit_leaves_the_notes_of_a_panel_alone(frame):
    panel = read_panel(frame.assign(b=3.0).drop(index=5)[:130])
    before = list(panel.notes)
    forecaster = small().fit(panel)
    assert panel.notes == before
    assert len(forecaster.report()["notes"]) > len(before)


def test_shuffled_rows_of_a_long_table_give_the_same_model(frame):
    long = frame[:100].melt("time", var_name="unique_id", value_name="y").rename(columns={"time": "ds"})
    one, other = (small().fit(rows) for rows in (long, long.sample(frac=1, random_state=1)))
    pd.testing.assert_frame_equal(one.predict(), other.predict())
