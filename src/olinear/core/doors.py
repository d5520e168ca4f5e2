"""A package's front door: its public names, each loaded when it is first used.

The names stand once, in the stub `__init__.pyi` next to the package's `__init__.py`, where type checkers and editors
read them too. So importing a package costs nothing but what is taken from it.
"""

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def open_door(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package whose stub says where its names are (PEP 562)."""
    homes = _read_stub(Path(file).with_suffix(".pyi"))

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    return load, lambda: sorted(homes), sorted(homes)


def _read_stub(stub: Path) -> dict[str, str]:
    """Name -> module, of every `from module import name as name`."""
    tree = ast.parse(stub.read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module or "" for node in imports for alias in node.names}
