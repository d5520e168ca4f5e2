"""Errors in the command's own words, as JSON where that is asked for, and --debug anywhere."""

import pytest
from cli_parts import call, strict_json

from olinear.cli.errors import in_options


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pass at least 96 rows or fit with lookback=48", "pass at least 96 rows or fit with --lookback 48"),
        ("start again without resume=True", "start again without --resume"),
        ("pass recursive=True to feed forecasts back in", "pass --recursive to feed forecasts back in"),
        ("pass the right freq=, or freq='rows' if rows", "pass the right --freq, or --freq rows if rows"),
        ("learning_rate must be greater than 0, found -1", "--learning-rate must be greater than 0, found -1"),
        ("lower learning_rate, or set clip_norm=1.0", "lower learning_rate, or set --clip-norm 1.0"),
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
