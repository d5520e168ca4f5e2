"""Series with gaps, and series that never move."""

import numpy as np
import pandas as pd
import pytest
from forecaster_parts import HORIZON, LOOKBACK, small, values_of

from olinear.core.errors import ConfigError, DataError

nan = np.nan


def test_gaps_can_be_refused(frame):
    data = frame.copy()
    data.loc[[20, 40], "b"] = nan
    with pytest.raises(DataError, match=r"'b' has no value at 2024-01-01 20:00:00 \(2 are missing in all\).*bridge"):
        small(missing="error").fit(data)
    assert small(missing="error").fit(frame).predict().shape == (4, 4)


def test_refused_gaps_are_refused_in_later_rows_too(frame):
    fitted, data = small(missing="error").fit(frame), frame.copy()
    data.loc[data.index[-3], "b"] = nan
    for use in (fitted.predict, fitted.backtest):
        with pytest.raises(DataError, match=r"'b' has no value at .*fit with missing='bridge'"):
            use(data)


def test_missing_rows_are_gaps_too(frame):
    with pytest.raises(DataError, match=r"'a' has no value at 2024-01-03 02:00:00"):
        small(missing="error").fit(frame.drop(index=[50, 51]))


def test_bridged_gaps_are_counted(frame):
    data = frame.drop(index=[50, 51])
    data.loc[[20, 40, 100], "b"] = nan
    forecaster = small().fit(data)
    notes = " | ".join(forecaster.report()["notes"])
    assert "2 rows are missing from the h grid" in notes
    assert "9 values (2.0%) are missing" in notes
    assert np.isfinite(values_of(forecaster.predict())).all()


def test_gaps_are_left_out_of_the_score(frame):
    """The validation loss, by hand, over the values that are there; the bridge is input and never a target."""
    data = frame.copy()
    data.loc[125:134, "b"] = nan
    data.loc[[140, 141], "a"] = nan
    forecaster = small(holdout=0).fit(data)
    fitted, values = forecaster.fitted, data[["a", "b", "c"]].to_numpy()
    bridged = data[["a", "b", "c"]].ffill().to_numpy()
    losses = []
    for origin in range(120, 150 - HORIZON + 1):  # the newest fifth of 150 rows
        forecast = fitted.forecast(bridged[None, origin - LOOKBACK : origin])[0][0]
        error = np.abs(forecast - values[origin : origin + HORIZON]) / fitted.scaler.deviation
        losses.append(error / np.sqrt(np.arange(1, HORIZON + 1))[:, None])
    assert forecaster.report()["validation_loss"] == pytest.approx(np.nanmean(losses), rel=1e-4)
    assert np.isnan(losses).sum() > 30


@pytest.mark.parametrize("begins", [60, 125, 145])
def test_a_series_that_begins_late(frame, begins):
    """In the training rows, in the validation rows, or at the very end: it is forecast near its level."""
    data = frame.assign(b=frame["b"] + 500)
    data.loc[: begins - 1, "b"] = nan
    answer = small().fit(data).predict(levels=[80])
    assert np.isfinite(answer.drop(columns="time").to_numpy()).all()
    assert answer["b"].between(490, 510).all()


def test_a_constant_series_stays_constant(frame):
    """It is forecast as it is, its interval has no width, and the others are forecast as without it."""
    data = frame.assign(b=42.5)
    forecaster = small().fit(data)
    answer = forecaster.predict(levels=[80])
    assert (answer[["b", "b-lo-80", "b-hi-80"]] == 42.5).all(axis=None)
    assert any("1 constant series" in note and note.endswith("b") for note in forecaster.report()["notes"])
    alone = small().fit(frame[["time", "a", "c"]]).predict(levels=[80])
    pd.testing.assert_frame_equal(answer[alone.columns], alone, check_exact=True)


def test_a_constant_series_with_gaps(frame):
    data = frame.assign(b=np.where(np.arange(150) % 5, 3.0, nan))
    data.loc[148:, "b"] = nan
    assert (small().fit(data).predict()["b"] == 3.0).all()


def test_nothing_but_constants(frame):
    """No model is needed, and the intervals have no width."""
    forecaster = small().fit(frame.assign(a=1.0, b=-2.0, c=0.0))
    assert forecaster.has_intervals
    assert forecaster.report()["parameters"] == 0
    answer = forecaster.predict(levels=[95])
    assert answer["time"].tolist() == pd.date_range("2024-01-07 06:00", periods=4, freq="h").tolist()
    for name, value in (("a", 1.0), ("b", -2.0), ("c", 0.0)):
        assert (answer[[name, f"{name}-lo-95", f"{name}-hi-95"]] == value).all(axis=None)
    assert (values_of(forecaster.predict(horizon=9, recursive=True)) == [1.0, -2.0, 0.0]).all()


def test_levels_are_checked_for_constants_too(frame):
    with pytest.raises(ConfigError, match="between 1 and 99"):
        small().fit(frame.assign(a=1.0, b=-2.0, c=0.0)).predict(levels=[150])


def test_a_basis_that_cannot_be_computed_is_replaced_with_a_note(frame):
    """Series that move only in the newest rows leave nothing to correlate in the training rows."""
    data = frame.copy()
    data.loc[:119, ["a", "b", "c"]] = 1.0
    forecaster = small(refit=True).fit(data)
    assert sum("the fourier basis was used" in note for note in forecaster.report()["notes"]) == 1
    assert np.isfinite(values_of(forecaster.predict())).all()
