"""Put into README.md and docs/ what commands print of the committed results, and tables of results themselves.

A block between `<!-- begin: olinear … -->` and `<!-- end -->` is what that command prints, with the results of this
repository; one that begins with `table FILE` is that CSV file, one with `script FILE` what that benchmark prints with
`--table`. `python tools/update_docs.py`, with `--check` only to
see whether all are up to date.
"""

import contextlib
import csv
import io
import re
import sys
from importlib import import_module
from pathlib import Path

from olinear.cli.app import run

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"<!-- begin: (olinear|table|script) ([^\n]*) -->\n.*?<!-- end -->", re.DOTALL)


def printed(command: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = run([*command.split(), "--results", str(ROOT / "results")])
    if code:
        sys.exit(f"olinear {command} failed")
    return out.getvalue().strip() or "No results yet."


def table(name: str) -> str:
    """A CSV file as a table of Markdown."""
    with (ROOT / name).open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |" for line in lines)


def summary(name: str) -> str:
    """What a benchmark says of its rows, as it stands on a terminal."""
    script = ROOT / name
    sys.path.insert(0, str(script.parent))
    lines = import_module(script.stem).table()
    return "\n".join(["```", *lines, "```"])


def filled(block: re.Match[str]) -> str:
    kind, what = block.groups()
    return f"<!-- begin: {kind} {what} -->\n\n{KINDS[kind](what)}\n\n<!-- end -->"


KINDS = {"olinear": printed, "table": table, "script": summary}


def main() -> None:
    pages = [
        ROOT / "README.md",
        *sorted((ROOT / "docs").glob("*.md")),
        *sorted((ROOT / "docs" / "models").glob("*.md")),
    ]
    stale = []
    for page in pages:
        before = page.read_text("utf-8")
        after = BLOCK.sub(filled, before)
        if after != before:
            stale.append(str(page.relative_to(ROOT)))
            if "--check" not in sys.argv[1:]:
                page.write_text(after, "utf-8")
    if "--check" in sys.argv[1:] and stale:
        sys.exit(f"not up to date: {', '.join(stale)}: python tools/update_docs.py")


if __name__ == "__main__":
    main()
