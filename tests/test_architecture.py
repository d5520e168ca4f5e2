"""The house rules that a reader relies on, held by walking the source."""

import ast
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "olinear"
# The walk of data: a room may import those before it, never those after.
ROOMS = [
    "errors",
    "files",
    "frames",
    "windows",
    "nn",
    "zoo",
    "plugins",
    "training",
    "evaluation",
    "forecaster",
    "datasets",
    "bench",
    "cli",
]
FILES = sorted(SOURCE.rglob("*.py"))


def imported_modules(path: Path) -> list[str]:
    names = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            whole = node.module == "olinear"  # `from olinear import bench` imports a room, too
            names += [f"olinear.{alias.name}" for alias in node.names] if whole else [node.module or ""]
    return names


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def test_every_room_is_on_the_walk():
    assert {room_of(path) for path in FILES} - {"__init__"} == set(ROOMS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_only_backwards(path: Path):
    """A later room may import an earlier one; anything else ties the library into a knot."""
    room = room_of(path)
    if room == "__init__":
        return
    for name in imported_modules(path):
        if name.startswith("olinear.") and name != "olinear.__version__":
            assert ROOMS.index(name.split(".")[1]) <= ROOMS.index(room), f"{path.name} imports {name}"


def test_nn_imports_torch_and_numpy_only():
    """The paper must be readable, and usable, alone. PyWavelets is imported where it is needed."""
    allowed = {"torch", "numpy", "olinear", "pywt", *sys.stdlib_module_names}
    for path in (SOURCE / "nn").glob("*.py"):
        assert {name.split(".")[0] for name in imported_modules(path)} <= allowed, path


def test_nn_is_readable_in_one_sitting():
    for path in (SOURCE / "nn").glob("*.py"):
        assert len(path.read_text().splitlines()) <= 300, path


def test_every_layer_names_its_section_and_equation():
    """A layer's docstring has its formula (an indented line) and the place in the paper."""
    layers = {"OLinear", "OrthoTrans", "NormLin", "RevIN", "CrossSeriesLearner", "IntraSeriesLearner"}
    for path in (SOURCE / "nn").glob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and node.name in layers:
                layers.remove(node.name)
                text = ast.get_docstring(node) or ""
                assert "Section 4" in text, node.name
                assert any(line.startswith("    ") and "=" in line for line in text.splitlines()), node.name
    assert not layers, "renamed, or gone"


def test_nothing_pickles_and_nothing_prints():
    for path in FILES:
        tree = ast.parse(path.read_text())
        assert not {"pickle", "joblib", "dill", "shelve"} & {name.split(".")[0] for name in imported_modules(path)}, (
            path
        )
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in {"torch.load", "torch.save", "print", "eval", "exec"}, f"{path}: {called}"
