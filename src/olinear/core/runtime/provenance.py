"""What a result was made with: versions, and the commit of the source."""

import platform
import subprocess
from pathlib import Path

from olinear import __version__

SOURCE = Path(__file__).parents[2]  # the package


def versions() -> str:
    """Of this package, of what it computes with, and of Python."""
    import numpy
    import torch

    own = f"olinear {__version__}, torch {torch.__version__}, numpy {numpy.__version__}"
    return f"{own}, python {platform.python_version()}"


def commit() -> str:
    """The commit of the source this runs from, with a `+` if it was changed since; empty if it is no checkout."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(SOURCE), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        if not git("ls-files", "--error-unmatch", __file__):
            return ""
        changed = git("status", "--porcelain", "--", str(SOURCE))
        return git("rev-parse", "--short=10", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return ""
