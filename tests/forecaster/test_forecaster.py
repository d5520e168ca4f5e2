"""What a user of `Forecaster` is promised: frames, dates, units, intervals, and forecasts from new rows."""

import numpy as np
import pandas as pd
import pytest
from forecaster_parts import HORIZON, KINDS, LOOKBACK, assert_same_frames, small, to_long, to_pandas, values_of, waves

from olinear.core.errors import ConfigError, DataError
from olinear.forecaster import Forecaster

nan = np.nan


# Frames in, frames out


@pytest.mark.parametrize("layout", ["wide", "long"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_answer_is_a_frame_of_the_same_kind(fitted, frame, kind, layout):
    """Whatever frame library and layout a user has, the numbers are the same and come back in it."""
    reference = fitted.predict(levels=[80])
    known = frame[:130] if layout == "wide" else to_long(frame[:130])
    data = KINDS[kind](known)
    answer = small(max_epochs=3, learning_rate=5e-3).fit(data).predict(levels=[80])
    assert type(answer) is type(data)
    table = to_pandas(answer)
    if layout == "wide":
        assert list(table) == ["time", *(f"{name}{end}" for name in "abc" for end in ("", "-lo-80", "-hi-80"))]
        assert table["time"].tolist() == frame["time"][130:134].tolist()
        np.testing.assert_array_equal(table.drop(columns="time"), reference.drop(columns="time"))
    else:
        assert list(table) == ["unique_id", "ds", "y", "y-lo-80", "y-hi-80"]
        assert table["unique_id"].tolist() == [*"aaaabbbbcccc"]
        assert table["ds"].tolist() == 3 * frame["time"][130:134].tolist()
        np.testing.assert_array_equal(table["y"], values_of(reference).T.ravel())
        np.testing.assert_array_equal(
            table["y-hi-80"], reference[["a-hi-80", "b-hi-80", "c-hi-80"]].T.to_numpy().ravel()
        )


def test_times_in_the_index_stay_there(fitted, frame):
    answer = small(max_epochs=3, learning_rate=5e-3).fit(frame[:130].set_index("time")).predict()
    assert answer.index.name == "time"
    assert answer.index.tolist() == frame["time"][130:134].tolist()
    np.testing.assert_array_equal(answer, values_of(fitted.predict()))


def test_columns_may_have_any_names(frame):
    data = to_long(frame).rename(columns={"unique_id": "sensor", "ds": "when", "y": "level"})
    forecaster = small(time="when", id="sensor", value="level").fit(data)
    assert list(forecaster.predict(levels=[90])) == ["sensor", "when", "level", "level-lo-90", "level-hi-90"]
    assert_same_frames(forecaster.predict(data), forecaster.predict())


def test_the_users_frame_is_left_alone(frame):
    data = frame.copy()
    data.loc[20:22, "a"] = nan
    before = data.copy()
    small().fit(data).predict(data)
    pd.testing.assert_frame_equal(data, before)


@pytest.mark.parametrize("freq", ["15min", "h", "D", "B", "W-SUN", "W-WED", "MS", "ME", "QS-JAN", "YS-JAN"])
def test_the_future_has_real_dates(freq):
    """The forecast goes on along the calendar: months of unequal length, weekends left out."""
    data = waves(100, 2, freq)
    answer = small().fit(data[:96]).predict()
    assert answer["time"].tolist() == data["time"][96:].tolist()


@pytest.mark.parametrize("step", [1, 5])
def test_whole_numbers_are_times_too(step):
    data = waves(100).assign(time=1900 + step * np.arange(100))
    assert small().fit(data).predict()["time"].tolist() == [1900 + step * (100 + i) for i in range(4)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_time_zone_is_kept(kind):
    """Over the night in which the clocks go forward in Berlin, too."""
    times = pd.date_range(end=pd.Timestamp("2024-03-31 00:00", tz="Europe/Berlin"), periods=150, freq="h")
    forecaster = small().fit(KINDS[kind](waves().assign(time=times)))
    table = to_pandas(forecaster.predict())
    assert str(table["time"].dt.tz) == "Europe/Berlin"
    assert [stamp.hour for stamp in table["time"]] == [1, 3, 4, 5]


def test_rows_as_steps_fill_nothing_in():
    """Trading days with holidays: no row is added, no gap is seen, the future is dated by business days."""
    days = pd.bdate_range("2024-01-01", periods=160)
    days = days.delete([10, 30, 31, 77, 100, 131])[:150]
    forecaster = small(freq="rows").fit(waves(150).assign(time=days))
    report = forecaster.report()
    assert report["rows"] == 150
    assert report["notes"] == []
    assert forecaster.predict()["time"].tolist() == pd.bdate_range(days[-1], periods=5)[1:].tolist()


def test_rows_as_steps_with_whole_numbers():
    """A counter that skips: rows are steps, and the future goes on by the usual step."""
    counter = np.cumsum(np.where(np.arange(150) % 7, 1, 3))
    forecaster = small(freq="rows").fit(waves(150).assign(time=counter))
    assert forecaster.report()["rows"] == 150
    assert forecaster.predict()["time"].tolist() == [counter[-1] + i for i in range(1, 5)]


# Units


def test_forecasts_are_in_original_units(fitted, frame):
    """The same data in other units gives the same forecast in those units, intervals included."""
    other = frame.assign(**{name: 1000 * frame[name] + 5000 for name in "abc"})
    there = small(max_epochs=3, learning_rate=5e-3).fit(other[:130]).predict(levels=[80]).drop(columns="time")
    here = fitted.predict(levels=[80]).drop(columns="time")
    np.testing.assert_allclose(there, 1000 * here + 5000, rtol=0, atol=0.1)  # of waves of amplitude 1000


def test_it_learns(frame):
    """A fit that did nothing would pass many tests: this one must beat the last value by far."""
    forecaster = small(max_epochs=30, model_dim=16, learning_rate=5e-3).fit(frame[:130])
    scores = forecaster.backtest(frame, windows=5)
    assert scores.score() < 0.2 * scores.score("last value")


def test_whole_numbers_are_values_too(frame):
    data = frame.assign(a=np.arange(150) % 7, b=(10 * frame["b"]).astype("int8"))
    answer = small().fit(data).predict()
    assert np.isfinite(values_of(answer)).all()
    assert answer["a"].dtype == np.float64


def test_one_series_alone():
    answer = small().fit(waves(n_series=1)).predict(levels=[80])
    assert list(answer) == ["time", "a", "a-lo-80", "a-hi-80"]
    assert np.isfinite(answer.drop(columns="time").to_numpy()).all()


# Intervals


def test_intervals_are_nested(fitted):
    """95 contains 80 contains 50 contains the forecast, at every step of every series."""
    answer = fitted.predict(levels=[95, 50, 80])
    for name in "abc":
        order = [f"{name}-lo-95", f"{name}-lo-80", f"{name}-lo-50", name, *(f"{name}-hi-{k}" for k in (50, 80, 95))]
        assert (np.diff(answer[order].to_numpy(), axis=1) >= 0).all()
        assert (answer[f"{name}-lo-95"] < answer[f"{name}-hi-95"]).all()
        assert (answer[f"{name}-hi-95"] - answer[f"{name}-lo-95"]).sum() > (
            answer[f"{name}-hi-50"] - answer[f"{name}-lo-50"]
        ).sum()


def test_asking_for_intervals_does_not_change_the_forecast(fitted):
    np.testing.assert_array_equal(values_of(fitted.predict(levels=[80, 95])), values_of(fitted.predict()))


@pytest.mark.parametrize("level", [0, 0.5, 99.5, 100, -80, nan])
def test_a_level_is_a_per_cent_between_1_and_99(fitted, level):
    with pytest.raises(ConfigError, match="between 1 and 99"):
        fitted.predict(levels=[80, level])


def test_too_few_rows_to_validate(frame):
    """Then there is a forecast and a note, and asking for intervals says why there are none."""
    few = frame[: LOOKBACK + HORIZON + 1]
    forecaster = small().fit(few)
    assert not forecaster.has_intervals
    assert any("too few to validate" in note for note in forecaster.report()["notes"])
    assert forecaster.report()["validation_loss"] is None
    assert np.isfinite(values_of(forecaster.predict())).all()
    with pytest.raises(DataError, match=r"no intervals.*too few rows"):
        forecaster.predict(levels=[80])
    with pytest.raises(DataError, match="no intervals"):
        forecaster.backtest(few, levels=[80])


def test_with_one_more_horizon_it_validates(frame):
    forecaster = small().fit(frame[: LOOKBACK + 2 * HORIZON])
    assert forecaster.has_intervals
    assert forecaster.report()["validation_loss"] > 0


# New rows


def test_the_same_last_rows_give_the_same_forecast(fitted, frame):
    """A refit is not needed, and rows before the lookback do not matter."""
    expected = fitted.predict(levels=[80])
    for first in (0, 130 - LOOKBACK):
        assert_same_frames(fitted.predict(frame[first:130], levels=[80]), expected)


def test_other_rows_give_another_forecast_at_other_dates(fitted, frame):
    answer = fitted.predict(frame[100:146])
    assert answer["time"].tolist() == frame["time"][146:].tolist()
    assert not np.allclose(values_of(answer), values_of(fitted.predict()))


def test_the_order_of_columns_does_not_matter(fitted, frame):
    assert_same_frames(fitted.predict(frame[["c", "time", "a", "b"]][:130]), fitted.predict())


def test_a_gap_at_the_end_is_bridged(fitted, frame):
    """The last value known is carried forward, so the gap and the carried value are the same to the model."""
    gap, carried = frame[:130].copy(), frame[:130].copy()
    gap.loc[127:, "b"] = nan
    carried.loc[127:, "b"] = frame.loc[126, "b"]
    assert_same_frames(fitted.predict(gap), fitted.predict(carried))


def test_the_series_must_be_those_of_the_fit(fitted, frame):
    with pytest.raises(DataError, match="does not know: 'd'"):
        fitted.predict(frame.assign(d=1.0))
    with pytest.raises(DataError, match="missing from the data: 'b'"):
        fitted.predict(frame.drop(columns="b"))


def test_too_few_rows_to_look_back_on(fitted, frame):
    with pytest.raises(DataError, match=r"lookback needs 12 rows, found 11.*lookback=11"):
        fitted.predict(frame[:11])


def test_rows_on_another_grid_are_refused(fitted):
    """An hourly model must not date the future of daily rows."""
    with pytest.raises(DataError, match="'h'"):
        fitted.predict(waves(freq="D"))


def test_whole_numbers_on_another_step_are_refused():
    forecaster = small().fit(waves().assign(time=np.arange(150)))
    with pytest.raises(DataError):
        forecaster.predict(waves().assign(time=2 * np.arange(150)))


def test_times_of_another_kind_are_refused(frame):
    """Wall time or whole numbers cannot be compared with the instants of the fit: a word, not a TypeError."""
    zoned, counted = waves(tz="Europe/Berlin"), frame.assign(time=np.arange(150))
    for here, there in ((zoned, frame), (frame, zoned), (counted, frame), (frame, counted)):
        with pytest.raises((DataError, ConfigError)):
            small().fit(here).backtest(there)


# Horizons


def test_a_shorter_horizon_cuts_the_forecast(fitted):
    assert_same_frames(fitted.predict(levels=[80], horizon=2), fitted.predict(levels=[80])[:2])


def test_a_longer_horizon_must_be_asked_for(fitted):
    with pytest.raises(ConfigError, match=r"trained for 4 steps, asked for 5.*recursive=True"):
        fitted.predict(horizon=5)


def test_recursion_feeds_forecasts_back_in(fitted, frame):
    """The first steps are those of the plain forecast; the next are its forecast from rows that end with them."""
    plain, longer = fitted.predict(), fitted.predict(horizon=10, recursive=True)
    assert longer["time"].tolist() == frame["time"][130:140].tolist()
    assert_same_frames(longer[:4], plain)
    again = fitted.predict(pd.concat([frame[:130], plain]))
    np.testing.assert_array_equal(values_of(longer)[4:8], values_of(again))
    assert_same_frames(fitted.predict(horizon=3, recursive=True), plain[:3])


def test_no_intervals_beyond_the_trained_horizon(fitted):
    with pytest.raises(ConfigError, match="calibrated for 4 steps"):
        fitted.predict(horizon=5, recursive=True, levels=[80])
    assert "a-lo-80" in fitted.predict(horizon=4, recursive=True, levels=[80])


@pytest.mark.parametrize("horizon", [0, -1])
def test_a_horizon_is_at_least_1(fitted, horizon):
    with pytest.raises(ConfigError, match=f"horizon must be at least 1, found {horizon}"):
        Forecaster(horizon)
    with pytest.raises(ConfigError, match=f"horizon must be at least 1, found {horizon}"):
        fitted.predict(horizon=horizon)


def test_too_few_rows_to_fit(frame):
    with pytest.raises(DataError, match=r"lookback 12 and horizon 4 need 16 rows, found 15"):
        small().fit(frame[:15])
