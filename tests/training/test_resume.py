"""A run that was stopped goes on as if it never was; one that does not fit is refused."""

import logging

import pytest
import torch
from training_parts import (
    Recorder,
    TimeLinear,
    column,
    equal,
    noise,
    sines,
    small_olinear,
    weights_of,
    without_seconds,
)

from olinear.core.errors import CheckpointError
from olinear.data.windows import Windows
from olinear.training import TrainingConfig, checkpoints, train
from olinear.training.checkpoints import load_checkpoint, save_checkpoint

EVERY_STEP = {"max_epochs": 3, "batch_size": 6, "learning_rate": 0.02, "average_decay": 0.8, "checkpoint_seconds": 0}
CALLS = 3 * (4 + 1 + 1)  # of the model: four steps, and two judgements, an epoch


class Stop(BaseException):
    """As Ctrl-C, or the end of a job."""


def run(model, path, stop_at: int | None = None, training=None, validation=None, **settings):
    """Train with a checkpoint; stop in the middle of the model's call number `stop_at`."""
    calls = 0

    def count(*_):
        nonlocal calls
        calls += 1
        if calls == stop_at:
            raise Stop

    handle = model.register_forward_hook(count)
    try:
        return train(
            model,
            training or noise(),
            validation or noise(seed=1),
            TrainingConfig(**(EVERY_STEP | settings)),
            checkpoint=path,
            resume=True,
            progress=False,
        )
    finally:
        handle.remove()


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    model = small_olinear()
    report = run(model, tmp_path_factory.mktemp("whole") / "run")
    return weights_of(model), without_seconds(report)


@pytest.mark.parametrize(
    ("stop_at", "seconds"),
    [*((call, 0) for call in range(1, CALLS + 1)), *((call, 1e9) for call in (3, 6, 7, 12, 16))],
)
def test_stopped_anywhere_it_ends_the_same(uninterrupted, tmp_path, stop_at, seconds):
    """In a step or in a judgement, with checkpoints every step or every epoch: all is equal bit by bit."""
    with pytest.raises(Stop):
        run(small_olinear(), tmp_path / "run", stop_at, checkpoint_seconds=seconds)
    torch.manual_seed(stop_at)
    model = small_olinear(seed=stop_at if (tmp_path / "run").exists() else 0)  # the file alone says how to go on
    report = run(model, tmp_path / "run", checkpoint_seconds=seconds)
    assert equal(weights_of(model), uninterrupted[0])
    assert without_seconds(report) == uninterrupted[1]


@pytest.mark.parametrize("save", [2, 5, 6, 9])
def test_stopped_while_saving_it_ends_the_same(uninterrupted, tmp_path, monkeypatch, save):
    saves = 0
    write = checkpoints.save_file

    def half(tensors, path, metadata):
        nonlocal saves
        saves += 1
        write(tensors, path, metadata)
        if saves == save:
            path.write_bytes(path.read_bytes()[:100])
            raise Stop

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "save_file", half)
        with pytest.raises(Stop):
            run(small_olinear(), tmp_path / "run")
    model = small_olinear()
    report = run(model, tmp_path / "run")
    assert equal(weights_of(model), uninterrupted[0])
    assert without_seconds(report) == uninterrupted[1]


def test_checkpoints_do_not_change_the_run(uninterrupted):
    model = small_olinear()
    report = train(model, noise(), noise(seed=1), TrainingConfig(**EVERY_STEP), progress=False)
    assert equal(weights_of(model), uninterrupted[0])
    assert without_seconds(report) == uninterrupted[1]


def test_without_validation_it_ends_the_same(tmp_path):
    config = TrainingConfig(**EVERY_STEP)
    whole, stopped = small_olinear(), small_olinear()
    train(whole, noise(), None, config, progress=False)
    calls = []

    def stop(*_):
        calls.append(1)
        if len(calls) == 7:
            raise Stop

    handle = stopped.register_forward_hook(stop)
    with pytest.raises(Stop):
        train(stopped, noise(), None, config, checkpoint=tmp_path / "run", progress=False)
    handle.remove()
    train(stopped, noise(), None, config, checkpoint=tmp_path / "run", resume=True, progress=False)
    assert equal(weights_of(stopped), weights_of(whole))


def test_a_finished_run_is_only_read(tmp_path):
    """Resuming twice must not train twice."""
    first = Recorder()
    report = run(first, tmp_path / "run")
    content = (tmp_path / "run").read_bytes()
    second = Recorder()
    torch.nn.init.zeros_(second.layer.weight)
    again = run(second, tmp_path / "run")
    assert second.trained == second.judged == []
    assert equal(weights_of(second), weights_of(first))
    assert again == report
    assert not second.training
    assert (tmp_path / "run").read_bytes() == content


def test_resuming_is_logged(tmp_path, caplog):
    with pytest.raises(Stop):
        run(TimeLinear(), tmp_path / "run", stop_at=8)
    with caplog.at_level(logging.INFO, logger="olinear.training"):
        run(TimeLinear(), tmp_path / "run")
    assert "at epoch 2, step 1" in caplog.records[0].getMessage()
    assert [record.getMessage()[:9] for record in caplog.records[1:]] == ["epoch 2/3", "epoch 3/3"]


def test_no_file_starts_anew(tmp_path):
    plain, resumed = TimeLinear(), TimeLinear()
    train(plain, noise(), noise(seed=1), TrainingConfig(**EVERY_STEP), progress=False)
    run(resumed, tmp_path / "deep" / "down" / "run")
    assert equal(weights_of(resumed), weights_of(plain))
    assert (tmp_path / "deep" / "down" / "run").exists()


def test_without_resume_an_old_file_is_replaced(tmp_path):
    run(TimeLinear(), tmp_path / "run")
    model, plain = TimeLinear(seed=5), TimeLinear(seed=5)
    config = TrainingConfig(max_epochs=1)
    train(model, noise(), None, config, checkpoint=str(tmp_path / "run"), progress=False)
    train(plain, noise(), None, config, progress=False)
    assert equal(weights_of(model), weights_of(plain))
    assert len(load_checkpoint(tmp_path / "run")[1]["position"]["history"]) == 1


@pytest.mark.parametrize("seconds", [0, 1e9])
def test_a_file_in_every_epoch_and_as_often_as_asked(tmp_path, monkeypatch, seconds):
    from olinear.training import state

    saves = []
    monkeypatch.setattr(state, "save_checkpoint", lambda path, tensors, record: saves.append(record))
    run(TimeLinear(), tmp_path / "run", checkpoint_seconds=seconds)
    assert len(saves) == (3 * (4 + 1) if seconds == 0 else 3)


OTHERS = {
    "loss": "l2",
    "optimizer": "sgd",
    "weight_decay": 0.1,
    "learning_rate": 0.01,
    "schedule": "type3",
    "batch_size": 5,
    "max_epochs": 4,
    "epoch_steps": 3,
    "patience": 3,
    "clip_norm": 1.0,
    "average_decay": 0.9,
    "seed": 1,
    "precision": "bfloat16",
}


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    path = tmp_path_factory.mktemp("begun") / "run"
    with pytest.raises(Stop):
        run(TimeLinear(), path, stop_at=9)
    return path


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_other_settings_are_refused(begun, name):
    """A run that changes half way is a run nobody can repeat."""
    with pytest.raises(CheckpointError, match=rf"this one has {name}={OTHERS[name]}"):
        run(TimeLinear(), begun, **{name: OTHERS[name]})


def test_every_setting_is_free_or_checked():
    free = {"device", "checkpoint_seconds"}
    assert set(OTHERS) | free == set(TrainingConfig.model_fields)


def test_place_and_pace_are_free(tmp_path):
    with pytest.raises(Stop):
        run(TimeLinear(), tmp_path / "run", stop_at=9)
    assert run(TimeLinear(), tmp_path / "run", device="cpu", checkpoint_seconds=5).epochs == 3


@pytest.mark.parametrize(
    ("training", "validation", "named"),
    [
        (noise(31), noise(seed=1), "windows"),
        (noise(seed=2), noise(seed=1), "checksum"),
        (noise(), noise(seed=2), "checksum"),
        (noise(), Windows(noise(seed=1).values, 8, 4, range(1, 19)), "checksum"),
        (Windows(noise().values, 8, 4, targets=noise(seed=2).values), noise(seed=1), "checksum"),
    ],
    ids=["more rows", "other values", "other validation", "other windows of it", "other targets"],
)
def test_other_data_is_refused(begun, training, validation, named):
    with pytest.raises(CheckpointError, match=rf"this one has {named}="):
        run(TimeLinear(), begun, training=training, validation=validation)


@pytest.mark.parametrize("make", [small_olinear, lambda: torch.nn.Sequential(TimeLinear())])
def test_another_model_is_refused(begun, make):
    with pytest.raises(CheckpointError, match="holds another model"):
        run(make(), begun)


def test_another_shape_is_refused(tmp_path):
    path = tmp_path / "run"
    windows = {"training": Windows(sines().values, 6, 4), "validation": Windows(sines().values, 6, 4)}
    run(TimeLinear(6, 4), path, **windows)
    wide = torch.nn.Linear(7, 4)
    model = TimeLinear(6, 4)
    model.layer = wide
    with pytest.raises(CheckpointError, match="holds another model"):
        run(model, path, **windows)


def test_a_damaged_file_is_refused_not_overwritten(begun, tmp_path):
    path = tmp_path / "run"
    path.write_bytes(begun.read_bytes()[:-10])
    with pytest.raises(CheckpointError, match="start again without resume=True"):
        run(TimeLinear(), path)
    assert path.stat().st_size == begun.stat().st_size - 10


def test_a_file_of_another_kind_is_refused(tmp_path):
    """The format holds any record; one that is no training run must be told apart."""
    save_checkpoint(tmp_path / "run", {"a": torch.ones(2)}, {"kind": "something else"})
    with pytest.raises(CheckpointError):
        run(TimeLinear(), tmp_path / "run")


def test_the_time_of_all_parts_adds_up(tmp_path):
    with pytest.raises(Stop):
        run(TimeLinear(), tmp_path / "run", stop_at=9)
    before = load_checkpoint(tmp_path / "run")[1]["position"]["seconds"]
    report = run(TimeLinear(), tmp_path / "run")
    assert report.seconds > before > 0
    first, second, *_ = column(report, "seconds")
    assert first < before < second  # what was spent on the epoch that was broken off counts too
