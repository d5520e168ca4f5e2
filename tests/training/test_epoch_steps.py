"""Epochs of a part of the windows: the next one goes on with others, until all were seen."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from training_parts import Recorder, column, equal, noise, numbered, small_olinear, watched_steps, weights_of
from training_parts import without_seconds as told

from olinear.core import CheckpointError
from olinear.training import TrainingConfig, train
from olinear.training.checkpoints import load_checkpoint, save_checkpoint
from olinear.training.loop import order_of_epoch, steps_of_epoch

STEPS = {
    "max_epochs": 5,
    "epoch_steps": 3,
    "batch_size": 5,
    "learning_rate": 0.02,
    "average_decay": 0.8,
}  # of 19 windows


class Stop(BaseException):
    """As Ctrl-C."""


def orders(count: int, epochs: int, **given: int) -> list[torch.Tensor]:
    config = TrainingConfig(**given)
    return [order_of_epoch(count, config, epoch) for epoch in range(1, epochs + 1)]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60), st.integers(1, 9), st.integers(0, 9), st.integers(0, 2**62))
def test_no_window_comes_again_before_all_were_seen(count, batch_size, epoch_steps, seed):
    found = orders(count, 9, batch_size=batch_size, epoch_steps=epoch_steps, seed=seed)
    steps = steps_of_epoch(count, TrainingConfig(batch_size=batch_size, epoch_steps=epoch_steps))
    assert {-(-len(order) // batch_size) for order in found} == {steps}
    assert epoch_steps == 0 or steps <= epoch_steps
    for walk in torch.cat(found).split(count):
        assert len(walk.unique()) == len(walk)
        assert 0 <= int(walk.min()) <= int(walk.max()) < count


@pytest.mark.parametrize("enough", [0, 4, 5, 1000])
def test_where_all_windows_have_room_nothing_changes(enough):
    """Nor for a number of windows that fills no last batch."""
    assert [order.tolist() for order in orders(19, 4, batch_size=5, epoch_steps=enough)] == [
        order.tolist() for order in orders(19, 4, batch_size=5)
    ]


def test_each_walk_has_an_order_of_its_own():
    walks = torch.cat(orders(40, 8, batch_size=5, epoch_steps=4)).split(40)
    assert len({tuple(walk.tolist()) for walk in walks}) == len(walks) == 4


def test_a_run_takes_them_and_counts_its_epochs_by_them():
    """Rate, history and judgement follow the short epochs; what a step sees are the windows of the order."""
    model, windows = Recorder(), numbered(30)
    with watched_steps(model) as steps:
        report = train(model, windows, numbered(20), TrainingConfig(**STEPS, patience=9), progress=False)
    config = TrainingConfig(**STEPS)
    rates = column(report, "learning_rate")
    assert [step["rate"] for step in steps] == [rate for rate in rates for _ in range(3)]
    assert len(set(rates)) == 4  # full in the first two epochs, then half of the last
    wanted = torch.cat([order_of_epoch(len(windows), config, epoch) for epoch in range(1, 6)])
    assert torch.equal(torch.cat(model.trained)[:, 0, 0], windows.values[wanted, 0])


@pytest.fixture(scope="module")
def uninterrupted():
    model = small_olinear()
    report = train(model, noise(), noise(seed=1), TrainingConfig(**STEPS), progress=False)
    return weights_of(model), told(report)


def stopped(path, stop_at: int, **given) -> None:
    model, calls = small_olinear(), []

    def count(*_):
        calls.append(1)
        if len(calls) == stop_at:
            raise Stop

    model.register_forward_hook(count)
    with pytest.raises(Stop):
        begin(model, path, **given)


def begin(model, path, **given):
    config = TrainingConfig(**(STEPS | given), checkpoint_seconds=0)
    return train(model, noise(), noise(seed=1), config, checkpoint=path, resume=True, progress=False)


@pytest.mark.parametrize("stop_at", range(2, 5 * (3 + 2) + 1, 3))
def test_stopped_anywhere_it_ends_the_same(uninterrupted, tmp_path, stop_at):
    """Also in epochs that end one walk through the windows and begin the next."""
    stopped(tmp_path / "run", stop_at)
    model = small_olinear()
    assert told(begin(model, tmp_path / "run")) == uninterrupted[1]
    assert equal(weights_of(model), uninterrupted[0])


def test_a_checkpoint_of_before_goes_on_with_all_windows(tmp_path):
    """What is newer than a checkpoint is in it as its default; to cut the epochs of a run half way is refused."""
    whole, model, path = small_olinear(), small_olinear(), tmp_path / "run"
    train(whole, noise(), noise(seed=1), TrainingConfig(**(STEPS | {"epoch_steps": 0})), progress=False)
    stopped(path, 9, epoch_steps=0)
    tensors, record = load_checkpoint(path)
    assert record["config"].pop("epoch_steps") == 0
    save_checkpoint(path, tensors, record)
    with pytest.raises(CheckpointError, match="epoch_steps=0, this one has epoch_steps=3"):
        begin(model, path)
    begin(model, path, epoch_steps=0)
    assert equal(weights_of(model), weights_of(whole))
