"""Errors in the command's own words, as JSON where that is asked for, and --debug anywhere."""

import io
import os
import subprocess

import pytest
from cli_parts import SCRIPT, SMALL, call, strict_json, waves

from olinear.cli import main, write_any_name
from olinear.cli.common import print_notes
from olinear.cli.errors import in_options, report_error
from olinear.core import Note


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pass at least 96 rows or fit with lookback=48", "pass at least 96 rows or fit with --lookback 48"),
        ("start again without resume=True", "start again without --resume"),
        ("pass recursive=True to feed forecasts back in", "pass --recursive to feed forecasts back in"),
        ("pass the right freq=, or freq='rows' if rows", "pass the right --freq, or --freq rows if rows"),
        ("learning_rate must be greater than 0, found -1", "--learning-rate must be greater than 0, found -1"),
        ("lower learning_rate, or set clip_norm=1.0", "lower learning_rate, or set --clip-norm 1.0"),
        ("pass levels=[80, 95]", "pass --levels 80,95"),
        ("the picture shows 6 of 40: series= chooses which", "the picture shows 6 of 40: --series chooses which"),
        ("there is no series 'rank=3'", "there is no series 'rank=3'"),
        ("pass dayfirst=True or dayfirst=False", "pass --dayfirst or --monthfirst"),
        ("pass header=True or header=False", "pass --header or --no-header"),
        ("pass sep=';' or sep=','", "pass --sep ';' or --sep ,"),
        ("pass time_format='%y-%m-%d'", "pass --time-format %y-%m-%d"),
        ("series.horizon=3 and my_time=4 stay", "series.horizon=3 and my_time=4 stay"),
        ("a model with horizon 24", "a model with horizon 24"),
    ],
)
def test_arguments_become_options(text, expected):
    assert in_options(text) == expected


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        (["fit", "none.csv", "-h", 4, "--json"], "DataError", "none.csv"),
        (["fit", "none.csv", "-h", 0, "--json"], "ConfigError", "--horizon must be at least 1, found 0"),
        (["predict", "none", "--json"], "CheckpointError", "not a model folder"),
        (["backtest", "--json"], "MissingParameter", "MODEL"),
        (["models", "--json", "--colour"], "NoSuchOption", "--colour"),
        (["bench", "table", "--json"], "NoSuchOption", "--json"),
    ],
    ids=str,
)
def test_an_error_under_json_is_json(arguments, kind, words):
    outcome = call(*arguments)
    error = strict_json(outcome.out)["error"]
    assert outcome.code == 2
    assert error["kind"] == kind
    assert words in error["message"]
    assert len(outcome.err.splitlines()) == 1


def test_debug_stands_anywhere():
    for arguments in (["--debug", "predict", "none"], ["predict", "none", "--debug"], ["predict", "--debug", "none"]):
        with pytest.raises(Exception, match="not a model folder"):
            call(*arguments)


def test_help_and_version_under_json_are_no_errors():
    assert call("models", "--json", "--help").code == 0
    assert call("--version").code == 0


def test_notes_speak_of_options_too(capsys):
    print_notes([Note("some", "pass lookback=96 or more")])
    assert capsys.readouterr().err == "note: pass --lookback 96 or more\n"


def test_a_name_cannot_write_to_the_terminal(tmp_path):
    """An escape sequence or a line break in a name is shown, not obeyed."""
    frame = waves().rename(columns={"a": "\x1b[31mred", "b": "two\nlines"})
    frame.loc[20, "b"] = 1e20
    frame.to_csv(tmp_path / "data.csv", index=False)
    for outcome in (
        call("inspect", tmp_path / "data.csv"),
        call("inspect", tmp_path / "data.csv", "--series", "red"),
        call("fit", tmp_path / "data.csv", "-h", 4, "--out", tmp_path / "model", *SMALL),
    ):
        assert "\x1b" not in outcome.out + outcome.err
        assert "two\nlines" not in outcome.out + outcome.err


def test_ctrl_c_ends_a_command_in_one_line(monkeypatch):
    """130 and one line, under --json too; nothing else is said."""

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    for function in ("predict", "backtest"):
        monkeypatch.setattr(f"olinear.forecaster.service.{function}", stop, raising=False)
    monkeypatch.setattr("olinear.data.frames.read_panel", stop, raising=False)
    for arguments in (["predict", "m"], ["backtest", "m", "d.csv"], ["inspect", "d.csv"], ["predict", "m", "--json"]):
        outcome = call(*arguments)
        assert (outcome.code, outcome.out, outcome.err) == (130, "", "\nstopped\n")


def test_ctrl_c_while_it_loads(monkeypatch, capsys):
    def stop(_: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("olinear.cli.app.run", stop)
    with pytest.raises(SystemExit) as end:
        main()
    assert (end.value.code, capsys.readouterr().err) == (130, "\nstopped\n")


def test_an_error_that_cannot_be_written_as_json_is_one_line(monkeypatch, capsys):
    """A full disk behind --json ended in a second error, and a traceback."""

    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("sys.stdout", Full())
    assert report_error(OSError(28, "No space left on device"), as_json=True) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("terminal", [True, False])
def test_names_of_any_script_go_through_any_pipe(terminal):
    """A system without an encoding for them, as Windows has in pipes, ended in a UnicodeEncodeError."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    stream.isatty = lambda: terminal
    write_any_name(stream)
    stream.write("温度")
    stream.flush()
    assert raw.getvalue() == (b"\\u6e29\\u5ea6" if terminal else "温度".encode())


@pytest.mark.parametrize(
    ("picture", "words"), [("", "needs a file"), ("-", "needs a file"), ("x.xyz", "use an ending such as .png")]
)
def test_a_picture_that_cannot_be_is_refused_before_any_work(picture, words):
    for command in ("inspect", "predict"):
        outcome = call(command, "nowhere", "--plot", picture)
        assert outcome.code == 2
        assert words in outcome.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion(shell, monkeypatch, tmp_path):
    """`--show-completion` prints what a shell needs, and a shell that asks gets commands and options."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    shown = call("--show-completion", shell)
    assert shown.code == 0
    assert "_COMPLETE=complete_" in shown.out


def test_a_shell_is_answered():
    environment = os.environ | {"_OLINEAR_COMPLETE": "complete_bash", "COMP_WORDS": "olinear pred", "COMP_CWORD": "1"}
    answer = subprocess.run([SCRIPT], env=environment, capture_output=True, text=True, check=False)
    assert answer.stdout.split() == ["predict"]
