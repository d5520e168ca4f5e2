"""The command run in this process or in one of its own, and small data for it."""

import io
import json
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

from olinear.cli.app import run

SCRIPT = Path(sys.executable).with_name("olinear")
SMALL = ["--lookback", "12", "--model-dim", "8", "--max-epochs", "1"]


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


def call(*arguments: object, stdin: bytes = b"") -> Outcome:
    """Run the command as the console script does; anything it does not catch itself comes out here."""
    out, err = io.StringIO(), io.StringIO()
    source = io.TextIOWrapper(io.BytesIO(stdin))
    with redirect_stdout(out), redirect_stderr(err), patch.object(sys, "stdin", source):
        code = run([str(argument) for argument in arguments])
    return Outcome(code, out.getvalue(), err.getvalue())


def done(*arguments: object, stdin: bytes = b"") -> Outcome:
    """A call that must succeed."""
    outcome = call(*arguments, stdin=stdin)
    assert outcome.code == 0, outcome.err
    assert "Traceback" not in outcome.err
    return outcome


def started(*arguments: object) -> subprocess.Popen[str]:
    """The command as a terminal starts it: a group of its own that hears Ctrl-C, even where this process does not.

    What a shell starts in the background ignores Ctrl-C, and so would all that it starts.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(
            [SCRIPT, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
    finally:
        signal.signal(signal.SIGINT, before)


def refused(*arguments: object, stdin: bytes = b"") -> str:
    """A call that must be refused as a user's mistake: exit code 2 and one line that says why. Gives the line."""
    outcome = call(*arguments, stdin=stdin)
    assert outcome.code == 2, outcome.err
    assert outcome.out == ""
    assert "Traceback" not in outcome.err
    assert "unexpected" not in outcome.err
    assert outcome.err.startswith("olinear: ")
    assert outcome.err.endswith("\n")
    assert outcome.err.count("\n") == 1
    return outcome.err.removeprefix("olinear: ").strip()


def strict_json(text: str) -> Any:
    """JSON as other languages read it: no NaN, no Infinity."""

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)


def listing(folder: Path) -> dict[str, bytes]:
    """Every file below a folder and what is in it."""
    paths = sorted(folder.rglob("*"))
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b"" for path in paths}


def waves(rows: int = 150) -> pd.DataFrame:
    step = np.arange(rows)[:, None]
    values = np.sin(2 * np.pi * step / 12 + np.arange(3)) * (1 + np.arange(3))
    values += np.random.default_rng(0).normal(0, 0.1, values.shape)
    times = pd.date_range("2024-01-01", periods=rows, freq="h")
    return pd.DataFrame({"time": times} | {name: values[:, i].round(6) for i, name in enumerate("abc")})


def to_long(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.melt("time", var_name="unique_id", value_name="y").rename(columns={"time": "ds"})


def read_csv(text: str, time: str = "time") -> pd.DataFrame:
    return pd.read_csv(io.StringIO(text), parse_dates=[time])
