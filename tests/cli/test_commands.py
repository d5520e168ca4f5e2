"""What holds for all commands, and the console script itself."""

import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pandas as pd
import pytest
from cli_parts import SCRIPT, SMALL, call, done, strict_json, waves

from olinear import __version__
from olinear.cli import main
from olinear.cli.app import app
from olinear.cli.common import parse_levels, print_json
from olinear.core.errors import DataError
from olinear.forecaster import Forecaster

COMMANDS = [command.callback.__name__ for command in app.registered_commands]


def script(*arguments: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([SCRIPT, *map(str, arguments)], input=stdin, capture_output=True, check=False, timeout=120)


def test_version():
    assert done("--version").out == f"olinear {__version__}\n"


def test_help_names_the_commands():
    shown = done("--help").out
    assert len(COMMANDS) >= 5
    for name in COMMANDS:
        assert name in shown


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_each_command_has_an_example(command):
    shown = " ".join(done(command, "--help").out.split())
    assert f"Example: olinear {command}" in shown


NESTED = [
    (group.name, command.name or command.callback.__name__.replace("_", "-"))
    for group in app.registered_groups
    for command in group.typer_instance.registered_commands
]


@pytest.mark.parametrize(("group", "command"), NESTED)
def test_help_of_each_command_of_a_group_has_an_example(group, command):
    shown = " ".join(done(group, command, "--help").out.split())
    assert f"Example: olinear {group} {command}" in shown


def test_the_help_says_the_exit_codes():
    shown = " ".join(done("--help").out.split())
    assert "0 done, 2 something to correct" in shown
    assert "130 stopped" in shown


def test_without_a_command_there_is_help():
    assert "Usage" in call().out + call().err


@pytest.mark.parametrize("arguments", [["forecast"], ["fit"], ["fit", "x.csv"], ["predict", "m", "--colour", "red"]])
def test_a_command_line_that_cannot_be_read(arguments):
    outcome = call(*arguments)
    assert outcome.code == 2
    assert "Traceback" not in outcome.err
    assert outcome.out == ""


def test_the_script_ends_with_the_exit_code(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["olinear", "inspect", "nowhere.csv"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert capsys.readouterr().err == "olinear: there is no file nowhere.csv\n"


def test_debug_shows_where():
    with pytest.raises(DataError):
        call("--debug", "inspect", "nowhere.csv")


def test_the_unexpected_is_told_in_one_line_too(model, monkeypatch):
    """A mistake of ours: exit code 1, a request to report it, and --debug shows the traceback."""

    def fail(*_, **__):
        raise ZeroDivisionError("a bug\nof ours")

    monkeypatch.setattr(Forecaster, "load", fail)
    outcome = call("predict", model)
    assert outcome.code == 1
    assert outcome.err.count("\n") == 1
    assert "ZeroDivisionError: a bug of ours" in outcome.err
    assert "report" in outcome.err
    with pytest.raises(ZeroDivisionError):
        call("--debug", "predict", model)


@contextmanager
def plain_logging() -> Iterator[None]:
    """No handlers for a moment, so that the command sets up its own; then all as before."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers[:] = []
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


def test_verbose_logs_every_epoch(tmp_path, data):
    with plain_logging():
        outcome = done("--verbose", "fit", data, "-h", 4, "--out", tmp_path / "model", *SMALL[:4], "--max-epochs", 2)
    assert "epoch 1/2" in outcome.err
    assert "epoch 2/2" in outcome.err
    assert "validation loss" in outcome.err


def test_levels_as_text():
    assert parse_levels("80,95") == [80, 95]
    assert parse_levels(" 80 , 99.0,") == [80, 99]
    assert parse_levels("") == []


def test_json_has_no_nan(capsys):
    """What is not a number is null, at any depth; what JSON does not know is text."""
    print_json({"a": float("nan"), "b": [1.5, float("inf")], "c": (float("-inf"), None), 1: pd.Timestamp("2024-01-01")})
    expected = {"a": None, "b": [1.5, None], "c": [None, None], "1": "2024-01-01 00:00:00"}
    assert strict_json(capsys.readouterr().out) == expected


# The real script, in a process of its own


def test_the_script_in_a_pipe(model):
    """`cat data.csv | olinear predict model - > forecast.csv`: standard output is the table and nothing else."""
    predicted = script("predict", model, "-", stdin=waves().to_csv(index=False).encode())
    assert predicted.returncode == 0, predicted.stderr
    assert predicted.stdout.decode() == done("predict", model).out
    assert predicted.stderr == b""


def test_the_script_and_a_mistake(tmp_path):
    (tmp_path / "bad.csv").write_text("time,a\n2024-01-01,x\n2024-01-02,1\n")
    outcome = script("--debug", "inspect", tmp_path / "bad.csv")
    assert outcome.returncode not in (0, 2)
    assert b"Traceback" in outcome.stderr
    assert b"DataError: column 'a' has no number in row 1" in outcome.stderr
    assert outcome.stdout == b""
