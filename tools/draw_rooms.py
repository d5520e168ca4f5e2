"""Draw the house from its imports: `python tools/draw_rooms.py` renews docs/images/rooms.svg and the names in
docs/architecture.md; with `--check` it only says whether they are up to date.
"""

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "olinear"
PICTURE, PAGE = ROOT / "docs" / "images" / "rooms.svg", ROOT / "docs" / "architecture.md"
WIDTH, STEP, BOX = 640, 92, (132, 44)
STYLE = """text { font: 15px sans-serif; text-anchor: middle; fill: #1f2937 } .small { font-size: 11px; fill: #6b7280 }
rect { fill: #f3f4f6; stroke: #9ca3af } line { stroke: #9ca3af }
@media (prefers-color-scheme: dark) { text { fill: #e5e7eb } .small { fill: #9ca3af } rect { fill: #1f2937 } }"""


def find_imports() -> dict[str, set[str]]:
    """Room -> the rooms it imports."""
    rooms = {path.name: set[str]() for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
    for room, others in rooms.items():
        for path in (SOURCE / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("olinear."):
                    others.add(node.module.split(".")[1])
        others.discard(room)
    return rooms


def depths(rooms: dict[str, set[str]]) -> dict[str, int]:
    """How many rooms lie below each, along the longest way."""
    found: dict[str, int] = {}
    while len(found) < len(rooms):
        for room, others in rooms.items():
            if room not in found and others <= found.keys():
                found[room] = 1 + max((found[other] for other in others), default=-1)
    return found


def without_detours(rooms: dict[str, set[str]]) -> dict[str, set[str]]:
    """Only the imports that no longer way implies: the others would hide the picture."""

    def below(room: str) -> set[str]:
        return rooms[room] | {far for other in rooms[room] for far in below(other)}

    return {room: others - {far for other in others for far in below(other)} for room, others in rooms.items()}


def draw() -> str:
    rooms = find_imports()
    depth = depths(rooms)
    height = (max(depth.values()) + 1) * STEP
    places: dict[str, tuple[float, float]] = {}
    for level in set(depth.values()):
        same = sorted(room for room in rooms if depth[room] == level)
        for index, room in enumerate(same):
            places[room] = ((index + 1) * WIDTH / (len(same) + 1), height - (level + 0.5) * STEP)
    lines = [
        f'<line x1="{places[room][0]:g}" y1="{places[room][1]:g}" x2="{places[other][0]:g}" y2="{places[other][1]:g}"/>'
        for room, others in sorted(without_detours(rooms).items())
        for other in sorted(others)
    ]
    boxes = []
    for room, (x, y) in sorted(places.items()):
        files = len(list((SOURCE / room).rglob("*.py")))
        boxes.append(
            f'<rect x="{x - BOX[0] / 2:g}" y="{y - BOX[1] / 2:g}" width="{BOX[0]}" height="{BOX[1]}" rx="6"/>'
            f'<text x="{x:g}" y="{y:g}">{room}</text><text class="small" x="{x:g}" y="{y + 15:g}">{files} files</text>'
        )
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    title = "<title>The rooms of olinear; a line leads down to what a room imports</title>"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    return "\n".join([head, title, f"<style>{STYLE}</style>", *lines, *boxes, "</svg>", ""])


def list_names() -> str:
    """A table of every door and what is behind it."""
    rows = ["| door | names |", "|---|---|"]
    for stub in sorted(SOURCE.rglob("__init__.pyi")):
        door = ".".join(("olinear", *stub.parent.relative_to(SOURCE).parts))
        tree = ast.parse(stub.read_text(encoding="utf-8"))
        names = sorted(alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names)
        rows.append(f"| `{door}` | {', '.join(f'`{name}`' for name in names)} |")
    nn = ast.parse((SOURCE / "nn" / "__init__.py").read_text(encoding="utf-8"))
    names = sorted(alias.name for node in nn.body if isinstance(node, ast.ImportFrom) for alias in node.names)
    rows.append(f"| `olinear.nn` | {', '.join(f'`{name}`' for name in names)} |")
    return "\n".join(rows)


def main() -> None:
    page = PAGE.read_text("utf-8")
    block = f"<!-- begin: names -->\n\n{list_names()}\n\n<!-- end -->"
    renewed = re.sub(r"<!-- begin: names -->.*?<!-- end -->", lambda _: block, page, flags=re.DOTALL)
    picture = draw()
    current = PICTURE.exists() and PICTURE.read_text("utf-8") == picture and renewed == page
    if "--check" in sys.argv[1:]:
        sys.exit(None if current else "not up to date: python tools/draw_rooms.py")
    PICTURE.write_text(picture, "utf-8")
    PAGE.write_text(renewed, "utf-8")


if __name__ == "__main__":
    main()
