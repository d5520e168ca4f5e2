"""Two fits are equal bit by bit where they should be, and none looks into the newest rows."""

import numpy as np
import pytest
import torch
from forecaster_parts import assert_same_frames, same_weights, small, values_of, weights_of

from olinear.core.errors import CheckpointError, DataError
from olinear.forecaster import Forecaster
from olinear.training import loop

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
