"""What a fit is worth: scored on its newest rows, which no choice sees, next to naive forecasts."""

import numpy as np
import pandas as pd
import pytest
from forecaster_parts import HORIZON, LOOKBACK, assert_same_frames, same_weights, small, values_of, waves, weights_of

from olinear.core import ConfigError, as_note
from olinear.forecaster import Forecaster, describe_worth
from olinear.forecaster.choosing import default_holdout, validation_rows
from olinear.training import Callback

HELD_OUT = 12
SERIES = ["a", "b", "c"]
MANY = {"max_epochs": 8, "learning_rate": 0.05, "patience": 2, "dropout": 0.3, "holdout": HELD_OUT}


def walks(rows: int = 150, seed: int = 0) -> pd.DataFrame:
    """Random walks, of which nothing is known but the last value."""
    frame = waves(rows)
    frame[SERIES] = np.random.default_rng(seed).normal(size=(rows, 3)).cumsum(0)
    return frame


def codes(forecaster: Forecaster) -> list[str]:
    return [as_note(note).code for note in forecaster.report()["notes"]]


@pytest.fixture(scope="module")
def judged(frame) -> Forecaster:
    """Chosen from several epochs; nobody may change it."""
    return small(**MANY).fit(frame)


# No choice sees the held-out rows


@pytest.mark.parametrize("change", ["wild", "gone", "still"])
def test_the_held_out_rows_change_nothing_but_their_score(judged, frame, change):
    """Whatever they are, the judged model is the same bit by bit: its best epoch, its weights, its scale."""
    other = frame.copy()
    rng = np.random.default_rng(1)
    new = {"wild": rng.normal(50, 30, (HELD_OUT, 3)), "gone": np.nan, "still": 7.0}[change]
    other.loc[150 - HELD_OUT :, SERIES] = new
    first, second = judged, small(**MANY).fit(other)
    assert 1 < first.report()["best_epoch"] < first.report()["epochs"], "or this test could not tell"
    for key in ("best_epoch", "epochs", "validation_loss"):
        assert first.report()[key] == second.report()[key]
    assert same_weights(weights_of(first), weights_of(second))
    np.testing.assert_array_equal(first.fitted.scaler.deviation, second.fitted.scaler.deviation)
    assert first.report()["worth"] != second.report()["worth"]


def test_the_rows_before_them_do_change_the_choice(judged, frame):
    """Else the test above would say nothing."""
    other = frame.copy()
    other.loc[120:130, SERIES] += np.random.default_rng(1).normal(0, 2, (11, 3))
    assert small(**MANY).fit(other).report()["validation_loss"] != judged.report()["validation_loss"]


def test_a_series_that_begins_there_is_unknown_to_the_choices(frame):
    """It is bridged by its first value, which is not known yet."""
    late = frame.assign(c=frame["c"].where(frame.index >= 150 - HELD_OUT))
    other = late.assign(c=late["c"] + 5.0)
    first, second = (small(**MANY).fit(data) for data in (late, other))
    assert same_weights(weights_of(first), weights_of(second))


def test_the_intervals_are_calibrated_on_them_once_they_are_scored(frame):
    """The newest errors count in the intervals that are used, and not in those that are scored."""
    options = {"holdout": HELD_OUT, "max_epochs": 1}  # with one epoch there is nothing to choose
    scored, plain = small(**options).fit(frame), small(**options | {"holdout": 0}).fit(frame)
    np.testing.assert_array_equal(scored.fitted.intervals.quantiles, plain.fitted.intervals.quantiles)
    assert_same_frames(scored.predict(levels=[80]), plain.predict(levels=[80]))


# The score itself


@pytest.mark.parametrize("gaps", [False, True])
def test_the_worth_by_plain_numpy(frame, gaps):
    """From every origin whose targets were held out: standardised MAE, the best naive forecast, by series too."""
    data = frame.copy()
    if gaps:
        data.loc[[139, 141], "a"] = np.nan
        data.loc[145:147, "b"] = np.nan
    forecaster = small(holdout=HELD_OUT).fit(data)
    worth, fitted = forecaster.report()["worth"], forecaster.fitted
    known, actual = data[SERIES].ffill().to_numpy(), data[SERIES].to_numpy()
    origins = range(150 - HELD_OUT, 150 - HORIZON + 1)
    steps = np.arange(1, HORIZON + 1)[:, None]
    forecasts = {"model": [], "last value": [], "seasonal naive": [], "drift": []}
    errors = {name: [] for name in forecasts}
    for origin in origins:
        past, last = known[:origin], known[origin - 1]
        own = forecaster.predict(data[:origin]) if not gaps else None
        mean = values_of(own) if own is not None else fitted.answer(_past(fitted, data, origin)).mean[0]
        forecasts = {
            "model": mean,
            "last value": np.repeat(last[None], HORIZON, axis=0),
            "seasonal naive": past[-24:][:HORIZON],
            "drift": last + steps * (last - past[-LOOKBACK]) / (LOOKBACK - 1),
        }
        for name, forecast in forecasts.items():
            errors[name].append(np.abs(forecast - actual[origin : origin + HORIZON]))
    deviation = data[SERIES][:120].std(ddof=0).to_numpy()
    scaled = {name: np.array(each) / deviation for name, each in errors.items()}
    together = {name: np.nanmean(each) for name, each in scaled.items()}
    assert worth["rows"] == HELD_OUT
    assert worth["windows"] == len(origins)
    assert (worth["first"], worth["last"]) == (str(data["time"][138]), str(data["time"][149]))
    assert worth["score"] == pytest.approx(together.pop("model"), abs=2e-6)
    assert worth["naive"] == pytest.approx(together, abs=2e-6)
    best = min(together.values())
    assert together[worth["best_naive"]] == best
    assert worth["better"] == pytest.approx(_share(worth["score"], best), abs=1e-5)
    for own in worth["by_series"]:
        place = SERIES.index(own["series"])
        each = {name: np.nanmean(part[..., place]) for name, part in scaled.items()}
        score = each.pop("model")
        assert own["score"] == pytest.approx(score, abs=2e-6)
        assert own["better"] == pytest.approx(_share(score, min(each.values())), abs=1e-5)
    shares = [own["better"] for own in worth["by_series"]]
    assert shares == sorted(shares)
    assert worth["series_better"] == sum(share > 0 for share in shares)


def _past(fitted, data, origin):
    from olinear.forecaster.known import History

    return History(data[SERIES].to_numpy()[:origin], fitted.scaler.mean).at_end(LOOKBACK)


def _share(score: float, naive: float) -> float:
    return (naive - score) / max(naive, score)


def test_coverage_is_that_of_intervals_which_do_not_know_these_rows(frame):
    """Rows that jump away lie outside, whatever is calibrated on them afterwards."""
    other = frame.copy()
    other.loc[150 - HELD_OUT :, SERIES] += np.random.default_rng(0).normal(0, 40, (HELD_OUT, 3))
    before, after = (small(holdout=HELD_OUT).fit(data).report()["worth"]["coverage_80"] for data in (frame, other))
    assert 0.7 < before <= 1
    assert after < before - 0.25


# What is said


@pytest.mark.parametrize("seed", range(3))
def test_where_a_naive_forecast_wins_it_is_said(seed):
    """A model that has learnt for one epoch is no better than the last value of a random walk."""
    forecaster = small(holdout=HELD_OUT).fit(walks(seed=seed))
    assert forecaster.report()["worth"]["better"] < 0
    assert "worth-no-better" in codes(forecaster)
    note = next(note for note in forecaster.report()["notes"] if note.code == "worth-no-better")
    assert "no better than a naive one" in note
    assert set(note.about) <= set(SERIES)
    assert "is" in describe_worth(forecaster.report()["worth"])[0]


def test_where_the_model_wins_nothing_is_warned_of():
    """The other half of a note: a day of twelve hours that no last value knows."""
    forecaster = small(holdout=HELD_OUT, max_epochs=20, learning_rate=0.02, model_dim=16, dropout=0.0).fit(
        waves(400, freq="D")  # a week, and so a seasonal naive that is wrong
    )
    worth = forecaster.report()["worth"]
    assert worth["better"] > 0.1
    assert worth["series_better"] == 3
    assert codes(forecaster) == []
    assert f"{worth['better']:.1%} better than the best naive forecast" in describe_worth(worth)[0]


def test_nothing_to_score_is_said(frame):
    data = frame.copy()
    data.loc[150 - HELD_OUT :, SERIES] = np.nan
    forecaster = small(holdout=HELD_OUT).fit(data)
    assert forecaster.report()["worth"]["better"] is None
    assert "worth-not-scored" in codes(forecaster)
    assert describe_worth(forecaster.report()["worth"]) == []


def test_a_folder_keeps_it(frame, tmp_path):
    forecaster = small(holdout=HELD_OUT).fit(frame)
    forecaster.save(tmp_path / "model")
    assert Forecaster.load(tmp_path / "model").report()["worth"] == forecaster.report()["worth"]


# How many rows


@pytest.mark.parametrize(
    ("judging", "horizon", "expected"),
    [(2800, 24, 480), (720, 24, 168), (100, 24, 24), (72, 24, 24), (71, 24, 0), (24, 24, 0), (0, 24, 0), (40, 1, 10)],
)
def test_how_many_rows_are_held_out(judging, horizon, expected):
    """A quarter in whole horizons, at most twenty of them; a single one leaves two to choose by."""
    assert default_holdout(judging, horizon) == expected


@pytest.mark.parametrize("rows", [17, 19, 20, 24, 40, 60, 100, 150])
@pytest.mark.parametrize("asked", [None, 0, 4, 9, 200])
def test_few_rows_degrade_in_order(rows, asked):
    """First no score, then no validation; the rows that train are the same as ever, and what is missing is said."""
    forecaster = small(holdout=asked).fit(waves(rows))
    report, told = forecaster.report(), codes(forecaster)
    judging = validation_rows(rows, 0.2, LOOKBACK, HORIZON)
    wanted = default_holdout(judging, HORIZON) if asked is None else asked
    room = judging - HORIZON
    held_out = min(wanted, room) if min(wanted, room) >= HORIZON else 0
    assert report.get("worth", {}).get("rows", 0) == held_out
    assert ("fit-not-validated" in told) == (judging == 0) == (forecaster.fitted.intervals is None)
    assert ("worth-few-rows" in told) == (judging > 0 and (held_out < wanted or (not wanted and judging < 12)))
    if held_out:
        training = small(holdout=0).fit(waves(rows))
        assert same_weights(weights_of(forecaster), weights_of(training))  # one epoch: nothing to choose


@pytest.mark.parametrize("holdout", [1, HORIZON - 1])
def test_less_than_a_horizon_cannot_be_scored(frame, holdout):
    with pytest.raises(ConfigError, match=f"at least one horizon of 4 rows, found {holdout}: pass holdout=4"):
        small(holdout=holdout).fit(frame)


# The second training


def test_few_rows_are_learnt_anew_and_many_are_not():
    """As benchmarks/refit.py measures it; what is given is kept."""
    for rows, expected in ((1000, True), (1001, False)):
        assert Forecaster(4).choose(waves(rows)).validation.refit is expected
        assert Forecaster(4, refit=not expected).choose(waves(rows)).validation.refit is not expected


def test_the_score_is_that_of_the_judged_model(judged, frame):
    again = small(refit=True, **MANY).fit(frame)
    assert judged.report()["worth"] == again.report()["worth"]
    assert not same_weights(weights_of(judged), weights_of(again))


class Listener(Callback):
    """Stops the second training, and reads what a judgement has."""

    def __init__(self, stop: bool):
        self.stop, self.runs, self.losses = stop, 0, []

    def started(self, run):
        self.runs += 1

    def stepped(self, run):
        if self.stop and self.runs == 2:
            run.stop()

    def judged(self, run, record):
        self.losses.append(record["validation_loss"])


@pytest.mark.parametrize("stop", [False, True])
def test_callbacks_hear_judgements_only_where_there_are_some(frame, stop):
    """And one that stops the second training leaves the model that was judged, with a note."""
    listener = Listener(stop)
    forecaster = small(refit=True, max_epochs=2).fit(frame, callbacks=[listener])
    assert listener.runs == 2
    assert len(listener.losses) == 2
    judged = small(max_epochs=2).fit(frame)
    assert same_weights(weights_of(forecaster), weights_of(judged)) == stop
    assert ("fit-refit-stopped" in codes(forecaster)) == stop
