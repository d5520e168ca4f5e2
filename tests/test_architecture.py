"""The house rules that a reader relies on, held by walking the source."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "olinear"
# Which rooms a room may import. It is a graph without circles, written here and nowhere else.
MAY_IMPORT = {
    "core": set[str](),
    "data": {"core"},
    "nn": {"core"},
    "models": {"core", "data", "nn"},
    "training": {"core", "data", "models"},
    "evaluation": {"core", "data", "nn", "models"},
    "forecaster": {"core", "data", "nn", "models", "training", "evaluation"},
    "bench": {"core", "data", "nn", "models", "training", "evaluation"},
    "cli": {"core", "data", "nn", "models", "training", "evaluation", "forecaster", "bench"},
}
# Imports past another room's front door, `file -> module`. This list only shrinks.
PAST_THE_DOOR = set[str]()
FILES = sorted(SOURCE.rglob("*.py"))
DOORS = sorted(SOURCE.rglob("__init__.pyi"))


def imports_of(path: Path) -> list[tuple[str, str]]:
    """(module, name) of every import of a file, also of those inside functions."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [(node.module or "", alias.name) for alias in node.names]
    return found


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def is_door(module: str) -> bool:
    """A room or a part of one, by its `__init__`; not a file in it, and nothing private."""
    place = SOURCE.parent.joinpath(*module.split("."))
    return place.is_dir() and module.count(".") <= 2


def test_every_room_is_in_the_graph():
    rooms = {room_of(path) for path in FILES} - {"__init__", "__main__"}
    assert rooms == set(MAY_IMPORT)
    assert len(rooms) <= 12


def test_the_graph_has_no_circle():
    left = {room: set(others) for room, others in MAY_IMPORT.items()}
    while left:
        free = {room for room, others in left.items() if not others}
        assert free, f"these import each other: {sorted(left)}"
        left = {room: others - free for room, others in left.items() if room not in free}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_follow_the_graph_and_use_the_front_door(path: Path):
    room = room_of(path)
    if room in ("__init__", "__main__"):
        return
    for module, name in imports_of(path):
        if not module.startswith("olinear") or (module, name) in {
            ("olinear", "__version__"),
            ("olinear.core.doors", "open_door"),
        }:
            continue
        there = module.split(".")[1] if "." in module else name
        if there == room:
            continue
        assert there in MAY_IMPORT[room], f"{path.name} imports {module}"
        line = f"{path.relative_to(SOURCE)} -> {module}"
        assert is_door(module) or line in PAST_THE_DOOR, f"{line} goes past the front door"


def test_the_list_of_exceptions_is_short_and_has_nothing_that_is_over():
    lines = {f"{path.relative_to(SOURCE)} -> {module}" for path in FILES for module, _ in imports_of(path)}
    assert lines >= PAST_THE_DOOR
    assert len(PAST_THE_DOOR) <= 20


@pytest.mark.parametrize("stub", DOORS, ids=lambda path: str(path.parent.relative_to(SOURCE)))
def test_a_door_opens_on_what_is_there(stub: Path):
    """Each public name is found, and none is hidden by a file of the same name."""
    files = {each.stem for each in stub.parent.iterdir() if each.is_dir() or each.suffix == ".py"}
    package = ".".join(("olinear", *stub.parent.relative_to(SOURCE).parts))
    door = __import__(package, fromlist=["__all__"])
    names = [name for module, name in imports_of(stub) if module]
    assert sorted(names) == sorted(door.__all__)
    assert not files & set(names)
    for name in names:
        getattr(door, name)


NO_TORCH = """
import sys
sys.modules["torch"] = None
{}
"""


@pytest.mark.parametrize(
    "line",
    [
        "from olinear.core import ConfigError, OLinearError",
        "from olinear.core.runtime import read_records, replacing, write_records",
        "from olinear.core.settings import TrainingConfig",
        "import olinear.models, olinear.training, olinear.evaluation, olinear.forecaster, olinear.bench, olinear.cli",
        "from olinear.bench.spec import tasks, recipe, JobKey; [recipe(JobKey(key)) for key in tasks()]",
        "from olinear.bench import html_table, tag, ResultTable; html_table(ResultTable([], []))",
        "from olinear.data.frames import read_file, read_panel; from olinear.data.datasets import catalogue",
    ],
)
def test_it_works_without_torch(line: str):
    """Settings, records and errors are read by tools that have no use for torch, and the command answers at once."""
    done = subprocess.run([sys.executable, "-c", NO_TORCH.format(line)], capture_output=True, text=True)
    assert not done.returncode, done.stderr


def test_nn_imports_torch_and_numpy_only():
    """The paper must be readable, and usable, alone. PyWavelets is imported where it is needed."""
    allowed = {"torch", "numpy", "olinear", "pywt", *sys.stdlib_module_names}
    for path in (SOURCE / "nn").glob("*.py"):
        assert {module.split(".")[0] for module, _ in imports_of(path)} <= allowed, path


def test_no_file_is_two_and_no_function_is_two():
    """Files have 300 lines at the most, functions 50 and 12 parameters; a constructor may mirror all settings."""
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 300, path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name != "__init__":
                arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                assert (node.end_lineno or 0) - node.lineno < 50, f"{path}: {node.name}"
                assert len(arguments) <= 12, f"{path}: {node.name}"


def test_every_layer_names_its_section_and_equation():
    """A layer's docstring has its formula (an indented line) and the place in the paper."""
    layers = {"OLinear", "OrthoTrans", "NormLin", "RevIN", "CrossSeriesLearner", "IntraSeriesLearner"}
    for path in (SOURCE / "nn").glob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.name in layers:
                layers.remove(node.name)
                text = ast.get_docstring(node) or ""
                assert "Section 4" in text, node.name
                assert any(line.startswith("    ") and "=" in line for line in text.splitlines()), node.name
    assert not layers, "renamed, or gone"


def test_nothing_pickles_and_nothing_prints():
    for path in FILES:
        assert not {"pickle", "joblib", "dill", "shelve"} & {module.split(".")[0] for module, _ in imports_of(path)}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in {"torch.load", "torch.save", "print", "eval", "exec"}, f"{path}: {called}"


# The floors of the benchmark: which of them each may import. `costs` and `figures` stand beside, `paper` above all.
FLOORS = {
    "spec": set[str](),
    "store": {"spec"},
    "run": {"spec", "store"},
    "read": {"spec", "store"},
    "show": {"spec", "store", "read"},
    "costs": {"spec", "store", "read", "show"},
    "figures": {"spec", "store", "run", "read", "show", "costs"},
    "paper": {"spec", "store", "read", "costs", "figures"},
}


def test_the_benchmark_stands_on_floors():
    """What is run, kept, run and read, shown: each floor knows those beneath it alone, by their files."""
    bench = SOURCE / "bench"
    assert {path.name for path in bench.iterdir() if path.is_dir() and path.name != "__pycache__"} == set(FLOORS)
    for path in sorted(bench.glob("*/*.py")):
        own = path.parent.name
        used = {module.split(".")[2] for module, _ in imports_of(path) if module.startswith("olinear.bench.")}
        assert used - {own} <= FLOORS[own], path


def test_the_command_meets_the_benchmark_at_its_doors():
    for path in sorted((SOURCE / "cli").rglob("*.py")):
        doors = {module for module, _ in imports_of(path) if module.startswith("olinear.bench")}
        assert doors <= {f"olinear.bench{part}" for part in ("", ".costs", ".figures", ".paper")}, path


def test_a_part_of_the_machinery_knows_nothing_of_what_runs_on_it():
    """No torch when it is imported, and no other room ever."""
    for name in ("workers", "measuring", "records", "files", "provenance", "script"):
        path = SOURCE / "core" / "runtime" / f"{name}.py"
        outer = [
            node for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.Import | ast.ImportFrom)
        ]
        modules = {alias.name for node in outer if isinstance(node, ast.Import) for alias in node.names}
        modules |= {node.module or "" for node in outer if isinstance(node, ast.ImportFrom)}
        assert all(
            module.split(".")[0] in sys.stdlib_module_names or module.startswith("olinear") for module in modules
        )
        assert {module for module in modules if module.startswith("olinear.")} <= {
            "olinear.core.errors",
            "olinear.core.runtime.files",
            "olinear.core.runtime.script",
        }, path
