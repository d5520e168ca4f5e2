"""The live line: on a terminal, and nowhere else."""

import io
import sys

import pytest
from training_parts import TimeLinear, noise

from olinear.training import TrainingConfig, progress, train
from olinear.training.progress import TrainingProgress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def drawn_on(monkeypatch):
    """What is drawn on a standard error of that kind."""
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")

    def draw(stream, action) -> str:
        with monkeypatch.context() as patch:  # in the test itself: pytest sets stderr anew for each phase
            patch.setattr(sys, "stderr", stream)
            action()
        return stream.getvalue()

    return draw


def run(progress: bool):
    return train(TimeLinear(), noise(), noise(seed=1), TrainingConfig(max_epochs=3), progress=progress)


def test_a_terminal_shows_epoch_and_loss(drawn_on):
    reports = []
    drawn = drawn_on(Terminal(), lambda: reports.append(run(progress=True)))
    assert "epoch 3/3" in drawn
    assert f"validation loss {reports[0].history[-1]['validation_loss']:.4g}" in drawn


def test_silent_off_a_terminal(drawn_on, capsys):
    """A log file full of bars helps nobody."""
    assert drawn_on(io.StringIO(), lambda: run(progress=True)) == ""
    assert capsys.readouterr().out == ""


def test_silent_when_not_wanted(drawn_on):
    assert drawn_on(Terminal(), lambda: run(progress=False)) == ""


def test_the_count_goes_on_from_a_resumed_place(drawn_on):
    """Step 4 of epoch 3, 5 steps an epoch, is 14 of 20 steps."""

    def resumed():
        with TrainingProgress(True, max_epochs=4, steps=5) as bar:
            bar.show(3, 4, "training loss 0.5")

    drawn = drawn_on(Terminal(), resumed)
    assert "epoch 3/4" in drawn
    assert "70 %" in drawn
    assert "training loss 0.5" in drawn


def test_drawn_twice_a_second_at_most(drawn_on, monkeypatch):
    """A model of a millisecond a step must not spend its time on drawing; the last note stays meanwhile."""
    clock = iter(tenth / 10 for tenth in range(100, 200))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))

    def steps():
        with TrainingProgress(True, max_epochs=1, steps=40) as bar:
            monkeypatch.setattr(bar.bar, "update", lambda task, **shown: seen.append(shown))
            bar.show(1, 1, "training loss 0.5")
            for step in range(2, 32):  # three seconds
                bar.show(1, step)

    seen = []
    drawn_on(Terminal(), steps)
    assert 5 <= len(seen) <= 7
    assert {shown["note"] for shown in seen} == {"training loss 0.5"}


def test_the_line_ends_with_an_error(drawn_on):
    """A cursor left hidden would outlive the run."""

    def failing():
        with pytest.raises(ZeroDivisionError), TrainingProgress(True, 1, 1):
            raise ZeroDivisionError

    drawn = drawn_on(Terminal(), failing)
    assert drawn.rfind("\x1b[?25h") > drawn.rfind("\x1b[?25l") >= 0
