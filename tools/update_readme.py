"""Put the summary of the committed results into README.md: what `olinear bench table` prints.

`python tools/update_readme.py`, with `--check` only to see whether it is up to date.
"""

import contextlib
import io
import re
import sys
from pathlib import Path

from olinear.cli.app import run

ROOT = Path(__file__).parent.parent
COMMAND = ["bench", "table", "--by", "dataset", "--format", "markdown"]
BLOCK = re.compile(r"(<!-- begin: olinear bench table[^\n]*-->\n).*?(<!-- end -->)", re.DOTALL)


def main() -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        code = run([*COMMAND, "--results", str(ROOT / "results")])
    if code:
        sys.exit("olinear bench table failed")
    readme = ROOT / "README.md"
    before = readme.read_text("utf-8")
    if not BLOCK.search(before):
        sys.exit("README.md has no block for the table")
    after = BLOCK.sub(lambda match: f"{match[1]}\n{printed.getvalue().strip()}\n\n{match[2]}", before)
    if "--check" in sys.argv[1:]:
        sys.exit(0 if after == before else "README.md is not up to date: python tools/update_readme.py")
    readme.write_text(after, "utf-8")


if __name__ == "__main__":
    main()
