"""The `olinear` command: one thin file a command."""

import sys

__all__ = ["main"]

STOPPED = 130  # the exit code of what Ctrl-C has ended


def main() -> None:
    """The console script; Ctrl-C ends it in one line also while it still loads."""
    try:
        from olinear.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        sys.stderr.write("\nstopped\n")
        code = STOPPED
    sys.exit(code)
