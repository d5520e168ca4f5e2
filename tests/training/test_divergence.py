"""A loss that is no number ends the run at once, and says where and why."""

import math
import re

import pytest
import torch
from training_parts import TimeLinear, column, noise

from olinear.core.errors import TrainingDiverged
from olinear.data.windows import Windows
from olinear.training import TrainingConfig, train


class Fails(TimeLinear):
    """Returns `value` from a call on, counted in the mode it is asked to fail in."""

    def __init__(self, calls: int, value: float = math.inf, when_training: bool = True):
        super().__init__()
        self.calls, self.value, self.when_training = calls, value, when_training

    def forward(self, x):
        forecast = super().forward(x)
        if self.training == self.when_training:
            self.calls -= 1
            if self.calls < 0:
                return forecast * self.value
        return forecast


def diverged(model, training, validation, **settings) -> TrainingDiverged:
    with pytest.raises(TrainingDiverged) as caught:
        train(model, training, validation, TrainingConfig(**settings), progress=False)
    return caught.value


@pytest.mark.parametrize("value", [math.inf, math.nan])
@pytest.mark.parametrize(("calls", "epoch", "step"), [(0, 1, 1), (4, 1, 5), (12, 3, 3)])
def test_the_first_bad_step_ends_the_run(calls, epoch, step, value):
    """19 windows in batches of 4 make five steps an epoch."""
    error = diverged(Fails(calls, value), noise(), noise(seed=1), batch_size=4)
    assert (error.epoch, error.step) == (epoch, step)
    assert [record["epoch"] for record in error.history] == list(range(1, epoch))
    assert f"epoch {epoch}, step {step} " in str(error)
    assert "learning_rate" in str(error)


def test_weights_are_not_touched_by_the_bad_step():
    model = Fails(0)
    before = model.layer.weight.detach().clone()
    diverged(model, noise(), None)
    assert torch.equal(model.layer.weight, before)


def names_the_data(error: TrainingDiverged) -> bool:
    """Lowering the learning rate would never help."""
    return "values" in str(error) and "learning_rate" not in str(error)


@pytest.mark.parametrize(("row", "value"), [(0, math.nan), (0, math.inf), (29, math.inf)])
def test_bad_training_data_is_named_as_the_cause(row, value):
    """Row 0 is only ever looked back at, row 29 only ever a target."""
    windows = noise()
    windows.values[row, 1] = value
    assert names_the_data(diverged(TimeLinear(), windows, None))


def test_missing_targets_do_not_diverge():
    windows = noise()
    windows.values[29, 1] = math.nan
    report = train(TimeLinear(), windows, windows, TrainingConfig(max_epochs=2), progress=False)
    assert report.epochs == 2


def test_a_huge_learning_rate_is_named_as_the_cause():
    error = diverged(TimeLinear(), noise(), None, loss="l2", learning_rate=1e25, schedule="constant", batch_size=4)
    assert (error.epoch, error.step) == (1, 2)
    assert "lower learning_rate" in str(error)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_validation_that_is_no_number_in_the_first_epoch(value):
    """There would be no best weights to return."""
    error = diverged(Fails(0, value, when_training=False), noise(), noise(seed=1), batch_size=4)
    assert error.epoch == 1
    assert error.history == []


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_bad_validation_data_is_named_as_the_cause(value):
    validation = noise(seed=1)
    validation.values[0, 0] = value
    assert names_the_data(diverged(TimeLinear(), noise(), validation))


def test_validation_that_is_no_number_later_leaves_the_best_so_far():
    model = Fails(2, math.nan, when_training=False)
    config = TrainingConfig(max_epochs=9, patience=3, learning_rate=1e-3)
    report = train(model, noise(), noise(seed=1), config, progress=False)
    losses = column(report, "validation_loss")
    assert [math.isnan(loss) for loss in losses] == [False, False, True, True, True]
    assert report.best_loss == min(losses[:2])


def test_the_message_tells_the_losses_before():
    """Five windows in batches of four: their mean counts the last batch by its one window."""
    windows = Windows(noise().values[:16], 8, 4)
    model = Fails(0, when_training=False)
    x, y = windows.batch(torch.arange(5)).pair
    expected = float((model.train()(x) - y).detach().abs().mean())
    error = diverged(model, windows, noise(seed=1), batch_size=4, loss="l1", learning_rate=1e-12)
    told = re.search(r"before it: ([\d.]+)\)", str(error))
    assert float(told[1]) == pytest.approx(expected, rel=1e-3)


def test_the_callers_random_state_survives():
    before = torch.get_rng_state()
    diverged(Fails(3), noise(), None, batch_size=4)
    assert torch.equal(torch.get_rng_state(), before)
