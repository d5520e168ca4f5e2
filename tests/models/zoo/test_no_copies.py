"""A variant is an argument, never a copied file: two files share no long run of lines."""

import ast
import io
import tokenize
from itertools import combinations
from pathlib import Path

SOURCE = Path(__file__).parents[3] / "src" / "olinear"
ROOMS = ("nn", "models")
MOST = 25


def normalised_lines(text):
    """A source's lines without whitespace at their ends, comments, blank lines and imports."""
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            lines[node.lineno - 1 : node.end_lineno] = [""] * (node.end_lineno - node.lineno + 1)
    return [line.strip() for line in lines if line.strip()]


def runs(lines, length):
    return {tuple(lines[start : start + length]) for start in range(len(lines) - length + 1)}


def copies(texts, most=MOST):
    """The pairs of names whose texts share more than `most` consecutive normalised lines."""
    found = {name: runs(normalised_lines(text), most + 1) for name, text in texts.items()}
    return [pair for pair in combinations(sorted(found), 2) if found[pair[0]] & found[pair[1]]]


def test_no_two_files_share_a_long_run_of_lines():
    paths = [path for room in ROOMS for path in (SOURCE / room).rglob("*.py")]
    assert len(paths) > 10
    assert copies({str(path.relative_to(SOURCE)): path.read_text() for path in paths}) == []


def test_a_copy_is_found_whatever_its_comments_and_imports():
    """A test that never fails holds nothing."""
    body = [f"value_{number} = {number}" for number in range(MOST + 1)]
    one = "\n".join(["import math", *body])
    other = "\n".join(["def build():", *(f"    {line}  # copied\n" for line in body), "    import os"])
    assert copies({"one": one, "other": other}) == [("one", "other")]
    shorter = "\n".join(body[:-1])
    assert copies({"one": one, "shorter": shorter}) == []
