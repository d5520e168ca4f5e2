"""Training that can be driven: callbacks, another optimizer, task and source; and never two at once by threads."""

import logging
import threading
from dataclasses import dataclass, replace

import pytest
import torch
from torch import Tensor
from training_parts import TimeLinear, equal, noise, run, sines, small_olinear, weights_of, without_seconds

from olinear.core import Batch, ConfigError
from olinear.core.runtime import own_randomness, private_draws
from olinear.training import OPTIMIZERS, Callback, Forecast, StopWhen, TrainingConfig, train


class Diary(Callback):
    """Writes down what it hears."""

    def __init__(self):
        self.heard = []

    def started(self, run):
        self.heard.append(("started", run.position.epoch, run.position.step))

    def stepped(self, run):
        self.heard.append(("stepped", run.position.epoch, run.position.step))

    def judged(self, run, record):
        self.heard.append(("judged", int(record["epoch"]), record["validation_loss"]))

    def ended(self, run):
        self.heard.append(("ended",))


def test_a_callback_hears_every_step_and_epoch_in_order():
    diary = Diary()
    model, windows = TimeLinear(), sines()  # 29 windows
    report = train(
        model, windows, noise(), TrainingConfig(max_epochs=2, batch_size=10), callbacks=[diary], progress=False
    )
    losses = [record["validation_loss"] for record in report.history]
    epoch = lambda number: [*(("stepped", number, step) for step in (1, 2, 3)), ("judged", number, losses[number - 1])]  # noqa: E731
    assert diary.heard == [("started", 1, 0), *epoch(1), *epoch(2), ("ended",)]


def test_a_callback_changes_nothing():
    one, two = small_olinear(), small_olinear()
    first = run(one, sines(), noise(), max_epochs=3)
    second = train(two, sines(), noise(), TrainingConfig(max_epochs=3), callbacks=[Diary()], progress=False)
    assert without_seconds(first) == without_seconds(second)
    assert equal(weights_of(one), weights_of(two))


def test_the_end_is_heard_also_after_an_error():
    class Failing(Callback):
        def stepped(self, run):
            raise ZeroDivisionError

    diary = Diary()
    with pytest.raises(ZeroDivisionError):
        train(TimeLinear(), sines(), None, callbacks=[diary, Failing()], progress=False)
    assert diary.heard[-1] == ("ended",)


@pytest.mark.parametrize("steps", [0, 1, 4, 7])
def test_a_stop_from_outside_leaves_the_best_so_far_and_can_be_resumed(tmp_path, steps):
    """It ends after the present step; resumed, the run ends as if it had never been stopped."""
    config = TrainingConfig(max_epochs=4, batch_size=10)  # three steps an epoch
    diary, path = Diary(), tmp_path / "run"
    stop = StopWhen(lambda: sum(one[0] == "stepped" for one in diary.heard) >= steps)
    model = small_olinear()
    report = train(model, sines(), noise(), config, callbacks=[diary, stop], checkpoint=path, progress=False)
    assert report.stopped
    assert report.epochs == steps // 3
    assert sum(one[0] == "stepped" for one in diary.heard) == steps
    assert (report.best_loss is None) == (report.epochs == 0)
    assert not model.training
    resumed, whole = small_olinear(), small_olinear()
    ended = train(resumed, sines(), noise(), config, checkpoint=path, resume=True, progress=False)
    expected = train(whole, sines(), noise(), config, progress=False)
    assert not ended.stopped
    assert without_seconds(ended) == without_seconds(expected)
    assert equal(weights_of(resumed), weights_of(whole))


def test_a_stop_comes_from_another_thread():
    event = threading.Event()
    threading.Timer(0.2, event.set).start()
    report = train(
        TimeLinear(),
        sines(),
        noise(),
        TrainingConfig(max_epochs=10**6, patience=10**6),
        callbacks=[StopWhen(event.is_set)],
        progress=False,
    )
    assert report.stopped


def test_the_log_has_a_line_an_epoch(caplog):
    with caplog.at_level(logging.INFO, "olinear.training"):
        run(TimeLinear(), sines(), noise(), max_epochs=2)
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == ["epoch 1/2", "epoch 2/2"]


# The optimizer


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_one_step_of_each_optimizer(name):
    """Against the same step of torch's own class."""
    model, windows = TimeLinear(), sines()
    classes = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}
    expected = TimeLinear()
    options = {"momentum": 0.9} if name == "sgd" else {}
    optimizer = classes[name](expected.parameters(), lr=0.01, weight_decay=0.1, **options)
    batch = windows.batch(torch.arange(len(windows)))
    Forecast("l2").loss(Answer(expected(batch.past)), batch).backward()
    optimizer.step()
    settings = {"optimizer": name, "weight_decay": 0.1, "learning_rate": 0.01, "loss": "l2"}
    run(model, windows, None, max_epochs=1, batch_size=100, **settings)
    for one, other in zip(model.parameters(), expected.parameters(), strict=True):
        torch.testing.assert_close(one, other)


@dataclass(frozen=True)
class Answer:
    point: Tensor


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_each_optimizer_resumes_bit_by_bit(tmp_path, name):
    config = TrainingConfig(max_epochs=3, batch_size=10, optimizer=name, learning_rate=0.01)
    path, whole, resumed = tmp_path / "run", small_olinear(), small_olinear()
    seen = []
    stop = StopWhen(lambda: len(seen) >= 4)
    counting = Diary()
    counting.stepped = lambda run: seen.append(1)
    train(small_olinear(), sines(), noise(), config, callbacks=[counting, stop], checkpoint=path, progress=False)
    train(resumed, sines(), noise(), config, checkpoint=path, resume=True, progress=False)
    train(whole, sines(), noise(), config, progress=False)
    assert equal(weights_of(resumed), weights_of(whole))


def test_an_optimizer_of_the_callers():
    made = []

    def make(parameters, config):
        made.append((len(parameters), config.learning_rate))
        return torch.optim.RMSprop(parameters, lr=config.learning_rate)

    train(TimeLinear(), sines(), None, TrainingConfig(max_epochs=1), optimizer=make, progress=False)
    assert made == [(2, 5e-4)]


# The task and the source


@dataclass(frozen=True)
class Reconstruct:
    """A task of another kind: give back the last steps of a past whose first half is hidden."""

    def prepare(self, batch: Batch) -> Batch:
        past = batch.past.clone()
        past[:, : past.shape[1] // 2] = 0
        return replace(batch, past=past)

    def loss(self, output, batch: Batch) -> Tensor:
        return (output.point - batch.past[:, -output.point.shape[1] :]).square().mean()

    def count(self, batch: Batch) -> int:
        return len(batch)


def test_another_task_trains_in_the_same_loop():
    config = TrainingConfig(max_epochs=60, learning_rate=0.05, patience=60, schedule="constant", batch_size=5)
    report = train(TimeLinear(), sines(), sines(phase=1.0), config, task=Reconstruct(), progress=False)
    assert report.best_loss < 1e-3 < report.history[0]["validation_loss"]


@dataclass
class Mixture:
    """Windows of two sources as one."""

    first: object
    second: object

    def __len__(self):
        return len(self.first) + len(self.second)

    def batches(self, size, order=None):
        order = torch.arange(len(self)) if order is None else order
        for part in order.split(size):
            for source, own in ((self.first, part[part < len(self.first)]), (self.second, None)):
                own = part[part >= len(self.first)] - len(self.first) if own is None else own
                if len(own):
                    yield source.batch(own)

    def to(self, device):
        return self

    def checksum(self, before=0):
        return self.second.checksum(self.first.checksum(before))

    def is_finite(self):
        return self.first.is_finite() and self.second.is_finite()


def test_batches_may_come_from_several_datasets(tmp_path):
    report = train(
        TimeLinear(), Mixture(sines(), noise()), noise(), TrainingConfig(max_epochs=2),
        checkpoint=tmp_path / "run", progress=False,
    )  # fmt: skip
    assert report.epochs == 2


# Threads


def test_a_second_thread_is_refused_and_the_first_is_as_if_alone():
    """Silently waiting would look as if fits ran side by side; silently mixing would give other numbers."""
    alone, first = small_olinear(), small_olinear()
    expected = run(alone, sines(), noise(), max_epochs=3)
    refusals = []

    class Intruder(Callback):
        def judged(self, run_state, record):
            def intrude():
                try:
                    run(small_olinear(), sines(), noise(), max_epochs=1)
                except ConfigError as error:
                    refusals.append(str(error))

            thread = threading.Thread(target=intrude)
            thread.start()
            thread.join()

    report = train(first, sines(), noise(), TrainingConfig(max_epochs=3), callbacks=[Intruder()], progress=False)
    assert len(refusals) == 3
    assert all("fit_side_by_side" in refusal for refusal in refusals)
    assert without_seconds(report) == without_seconds(expected)
    assert equal(weights_of(first), weights_of(alone))


def test_the_same_thread_may_enter_again():
    with own_randomness(1):
        a = torch.rand(2)
        with own_randomness(1):
            assert torch.equal(a, torch.rand(2))


def test_private_draws_leave_the_process_alone():
    """A model is loaded in one thread while another fits: not even for a moment may the state move."""
    before = torch.get_rng_state()
    with private_draws():
        drawn = [torch.randn(3), torch.rand(2), torch.nn.Linear(3, 2).weight, torch.randperm(9)]
        torch.nn.functional.dropout(torch.ones(9), 0.5)
        torch.empty(3).uniform_()
        assert torch.equal(torch.get_rng_state(), before)
    assert all(part.any() for part in drawn)
