"""What a user of `Forecaster` is promised: frames, dates, units, intervals, repeatability and readable refusals."""

import numpy as np
import pandas as pd
import pytest
import torch
from forecaster_parts import (
    HORIZON,
    KINDS,
    LOOKBACK,
    assert_same_frames,
    same_weights,
    small,
    to_long,
    to_pandas,
    values_of,
    waves,
    weights_of,
)

from olinear.errors import CheckpointError, ConfigError, DataError, NotFittedError
from olinear.forecaster import Forecaster
from olinear.training import loop

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


# Repeatability


def test_one_seed_gives_one_model(fitted, frame):
    again = small(max_epochs=3, learning_rate=5e-3).fit(frame[:130])
    assert same_weights(weights_of(again), weights_of(fitted))
    assert_same_frames(again.predict(levels=[80]), fitted.predict(levels=[80]))
    other = small(max_epochs=3, learning_rate=5e-3, seed=1).fit(frame[:130])
    assert not same_weights(weights_of(other), weights_of(fitted))
    assert not np.allclose(values_of(other.predict()), values_of(fitted.predict()))


def test_the_callers_random_numbers_are_left_alone(frame, tmp_path):
    """Whoever seeds torch for an experiment of their own must not find the seed moved."""
    before, global_state = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    forecaster = small(refit=True).fit(frame)
    forecaster.predict(levels=[80])
    forecaster.backtest(frame, windows=2)
    forecaster.save(tmp_path / "model")
    assert torch.equal(torch.get_rng_state(), before)
    Forecaster.load(tmp_path / "model")
    assert torch.equal(torch.get_rng_state(), before)
    np.testing.assert_array_equal(np.random.get_state()[1], global_state)  # noqa: NPY002


def test_a_second_fit_forgets_the_first(frame):
    """What was chosen from one dataset must not be kept for the next."""
    forecaster = small(lookback=None).fit(frame)
    assert_same_frames(forecaster.fit(frame[:40]).predict(), small(lookback=None).fit(frame[:40]).predict())


def test_a_fit_that_fails_leaves_the_one_before(frame):
    forecaster = small().fit(frame)
    expected = forecaster.predict()
    with pytest.raises(DataError):
        forecaster.fit(frame[:10])
    assert_same_frames(forecaster.predict(), expected)


class Stop(BaseException):
    """As Ctrl-C, or the end of a job."""


def interrupt(monkeypatch, name, call):
    """Let the training loop's function `name` raise at its call number `call`."""
    real, calls = getattr(loop, name), 0

    def stopping(*arguments, **options):
        nonlocal calls
        calls += 1
        if calls == call:
            raise Stop
        return real(*arguments, **options)

    monkeypatch.setattr(loop, name, stopping)


@pytest.mark.parametrize(
    ("name", "call"),
    [("_step", 20), ("_validate", 2), ("_step", 60)],
    ids=["in the second epoch", "while validating", "while refitting"],
)
def test_an_interrupted_fit_goes_on_as_if_it_never_was(frame, tmp_path, monkeypatch, name, call):
    """With resume=True the end is the same bit by bit: weights, intervals, scores."""
    steps, step = [0], loop._step

    def counted(*arguments):
        steps[-1] += 1
        return step(*arguments)

    monkeypatch.setattr(loop, "_step", counted)

    def fit(**where):
        steps.append(0)
        return small(max_epochs=3, batch_size=8, refit=True).fit(frame[:130], **where)

    whole = fit()
    with monkeypatch.context() as patch:
        interrupt(patch, name, call)
        with pytest.raises(Stop):
            fit(checkpoint=tmp_path / "run")
    assert (tmp_path / "run.refit").exists() == (call == 60)
    resumed = fit(checkpoint=tmp_path / "run", resume=True)
    assert 0 < steps[3] < steps[1]  # it did not begin again
    assert same_weights(weights_of(resumed), weights_of(whole))
    assert_same_frames(resumed.predict(levels=[80]), whole.predict(levels=[80]))
    first, second = ({k: v for k, v in one.report().items() if k != "seconds"} for one in (resumed, whole))
    assert first == second


def test_a_checkpoint_of_other_data_is_refused(frame, tmp_path):
    small().fit(frame, checkpoint=tmp_path / "run")
    with pytest.raises(CheckpointError, match="start again without resume"):
        small().fit(frame[:100], checkpoint=tmp_path / "run", resume=True)


# Report and options


def test_the_report_says_what_was_chosen(frame):
    report = Forecaster(4, max_epochs=1, progress=False).fit(frame).report()
    assert report["series"] == 3
    assert report["frequency"] == "h"
    assert report["rows"] == 150
    assert (report["first"], report["last"]) == ("2024-01-01 00:00:00", "2024-01-07 05:00:00")
    assert (report["horizon"], report["lookback"], report["seed"], report["basis"]) == (4, 37, 0, "pearson")
    assert report["parameters"] > 1000
    assert report["validation_loss"] > 0
    assert (report["best_epoch"], report["epochs"]) == (1, 1)
    assert report["notes"] == []
    assert {"model_dim", "blocks", "dropout", "batch_size", "learning_rate", "schedule", "patience"} <= report.keys()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("lookback", 9),
        ("validation", 0.3),
        ("refit", True),
        ("seed", 7),
        ("basis", "fourier"),
        ("model_dim", 5),
        ("blocks", 0),
        ("dropout", 0.0),
        ("batch_size", 13),
        ("learning_rate", 0.25e-3),
        ("schedule", "cosine"),
        ("max_epochs", 2),
        ("patience", 1),
        ("loss", "l2"),
        ("device", "cpu"),
    ],
)
def test_each_choice_can_be_overridden(fitted, frame, name, value):
    assert small(**{name: value}).fit(frame[:80]).report()[name] == value
    assert fitted.report()[name] != value


def test_the_report_tells_the_gap_rule_and_the_count_apart(frame):
    """Two things are called missing: what to do with gaps, and how many there were."""
    data = frame.copy()
    data.loc[5:7, "a"] = nan
    assert small().fit(data).report()["missing"] == "bridge"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("lookback", 0),
        ("lookback", -3),
        ("lookback", 2.5),
        ("missing", "ignore"),
        ("validation", 0),
        ("validation", 1),
        ("validation", "some"),
        ("seed", -1),
        ("basis", "sines"),
        ("model_dim", 0),
        ("blocks", -1),
        ("dropout", 1.0),
        ("batch_size", 0),
        ("learning_rate", 0.0),
        ("learning_rate", nan),
        ("schedule", "type7"),
        ("max_epochs", 0),
        ("patience", 0),
        ("loss", "huber"),
        ("device", "abacus"),
        ("freq", "fortnight"),
    ],
)
def test_a_bad_option_is_named(frame, name, value):
    """A ConfigError that has the option's name and the value given."""
    with pytest.raises(ConfigError) as caught:
        small(**{name: value}).fit(frame)
    assert name in str(caught.value)
    assert str(value) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("horizon", ["4", 2.5, None])
def test_a_horizon_that_is_no_whole_number(frame, horizon):
    with pytest.raises(ConfigError, match="horizon"):
        Forecaster(horizon).fit(frame)


@pytest.mark.parametrize(
    "ask",
    [
        lambda f: f.predict(),
        lambda f: f.backtest(waves()),
        lambda f: f.save("nowhere"),
        lambda f: f.report(),
        lambda f: f.has_intervals,
    ],
)
def test_before_fit_there_is_nothing_to_ask(ask):
    with pytest.raises(NotFittedError, match="call fit"):
        ask(small())


def test_refit_trains_a_second_model_on_all_rows(frame, monkeypatch):
    """Its intervals are still those of the judged model, and it trains for as many epochs as were best."""
    calls, train = [], loop.train

    def watched(model, training, validation, config, **options):
        calls.append((len(training), validation is not None, config.max_epochs))
        return train(model, training, validation, config, **options)

    monkeypatch.setattr("olinear.forecaster.fitting.train", watched)
    options = {"max_epochs": 12, "learning_rate": 0.05, "patience": 2, "dropout": 0.3}
    once, twice = small(**options).fit(frame), small(refit=True, **options).fit(frame)
    best = once.report()["best_epoch"]
    assert 1 <= best < once.report()["epochs"], "best epoch must differ from the last for this test to tell"
    assert calls == [(105, True, 12), (105, True, 12), (135, False, best)]
    assert not same_weights(weights_of(once), weights_of(twice))
    np.testing.assert_array_equal(once.fitted.intervals.quantiles, twice.fitted.intervals.quantiles)
    for key in ("validation_loss", "best_epoch", "epochs"):
        assert once.report()[key] == twice.report()[key]


# Gaps and constants


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
    forecaster = small().fit(data)
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


# No look into the newest rows


def test_the_newest_rows_never_change_scaler_or_basis(frame):
    """They judge the model: had they a part in it, its score and intervals would flatter."""
    other = frame.copy()
    other.loc[120:, ["a", "b", "c"]] = 7 * frame.loc[120:, ["c", "a", "b"]].to_numpy() + 100
    first, second = small().fit(frame).fitted, small().fit(other).fitted
    older = small().fit(frame.assign(a=frame["a"].where(frame.index != 119, 50.0))).fitted
    for part in ("mean", "deviation"):
        np.testing.assert_array_equal(getattr(first.scaler, part), getattr(second.scaler, part))
        assert getattr(first.scaler, part)[0] != getattr(older.scaler, part)[0]
    for name in ("input_transform", "output_transform"):
        here, there = (getattr(one.model, name).basis for one in (first, second))
        assert torch.equal(here, there)
    assert not torch.equal(first.model.input_transform.basis, older.model.input_transform.basis)


def test_the_newest_rows_never_change_the_weights_of_an_epoch(frame):
    """With one epoch there is nothing to choose between, so the weights come from the older rows alone."""
    other = frame.copy()
    other.loc[120:, ["a", "b", "c"]] *= 3
    assert same_weights(weights_of(small().fit(frame)), weights_of(small().fit(other)))
