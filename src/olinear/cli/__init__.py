"""The `olinear` command: one thin file a command."""

import io
import sys

__all__ = ["main"]

STOPPED = 130  # the exit code of what Ctrl-C has ended


def main() -> None:
    """The console script; Ctrl-C ends it in one line also while it still loads."""
    try:
        for stream in (sys.stdout, sys.stderr):
            write_any_name(stream)
        from olinear.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        sys.stderr.write("\nstopped\n")
        code = STOPPED
    sys.exit(code)


def write_any_name(stream: object) -> None:
    """Names are of any script: UTF-8 where the system's encoding has no letters for them, as in some pipes."""
    if isinstance(stream, io.TextIOWrapper) and stream.encoding.lower().replace("-", "") != "utf8":
        if stream.isatty():
            stream.reconfigure(errors="backslashreplace")
        else:
            stream.reconfigure(encoding="utf-8")
