"""The command as a user meets it."""

import re

from typer.testing import CliRunner

from olinear import __version__
from olinear.cli.app import app

runner = CliRunner()


def test_version():
    result = runner.invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.stdout == f"olinear {__version__}\n"


def test_help_names_the_commands():
    result = runner.invoke(app, ["--help"])
    assert result.exit_code == 0
    assert "demo" in result.stdout


def test_demo_beats_the_last_value():
    """One epoch is enough to be better than repeating the last value, on both scores."""
    result = runner.invoke(app, ["demo", "--max-epochs", "1"])
    assert result.exit_code == 0, result.output
    ours = re.search(r"OLinear +([\d.]+) +([\d.]+)", result.stdout)
    naive = re.search(r"last value +([\d.]+) +([\d.]+)", result.stdout)
    assert ours is not None
    assert naive is not None
    assert float(ours[1]) < float(naive[1])
    assert float(ours[2]) < float(naive[2])
