"""Errors as the command speaks: options instead of arguments, one line for a person, JSON for a machine."""

import json
import re
import shlex
from contextlib import suppress

import typer

from olinear.core import OLinearError
from olinear.core.settings import leaves

OTHERS = (
    "resume",
    "recursive",
    "context",
    "steps",
    "patch_length",
    "levels",
    "windows",
    "stride",
    "seeds",
    "jobs",
    "memory",
    "out",
)
SWITCHES = ("True", "False")
PLAIN = re.compile(r"[\w.,:+-]*")  # for a shell


def in_options(text: str) -> str:
    """A message of the library with its arguments as the options they are here: `lookback=48` is `--lookback 48`."""
    names = "|".join(sorted((*leaves(), *OTHERS), key=len, reverse=True))

    def option(match: re.Match[str]) -> str:
        name, value = match[1].replace("_", "-"), match[2].strip("'\"")
        if value.startswith("["):
            value = value.strip("[]").replace(" ", "").replace("'", "")
        if value in SWITCHES:
            off = leaves()[match[1]].off if match[1] in leaves() else f"--no-{name}"
            return off if value == "False" else f"--{name}"
        return f"--{name} {value if PLAIN.fullmatch(value) else shlex.quote(value)}".rstrip()

    text = re.sub(rf"(?<![\w.'\"-])({names})=('[^']*'|\"[^\"]*\"|\[[^]]*\]|[\w.+-]*\w|)", option, text)
    return re.sub(rf"^({names})(?= must )", lambda match: f"--{match[1].replace('_', '-')}", text)


def visible(text: str) -> str:
    """A line in which nothing moves the cursor or hides: a name may hold whatever a file can."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def report_error(error: Exception, *, as_json: bool) -> int:
    """Print an error and give the exit code: 2 for a user's mistake, 1 for one of ours."""
    usage = any(kind.__name__ == "ClickException" for kind in type(error).__mro__)
    expected = usage or isinstance(error, OLinearError | OSError)  # or a full disk, in the words of the system
    text = " ".join(str(error.format_message() if usage else error).split())  # type: ignore[attr-defined]
    if isinstance(error, OLinearError):
        text = in_options(text)
    text = visible(text)
    if not expected:
        text = f"unexpected {type(error).__name__}: {text} (please report it; --debug shows where)"
    if as_json:
        with suppress(OSError):  # where the output itself is what fails
            typer.echo(json.dumps({"error": {"kind": type(error).__name__, "message": text}}, ensure_ascii=False))
    typer.echo(f"olinear: {text}", err=True)
    return 2 if expected else 1
