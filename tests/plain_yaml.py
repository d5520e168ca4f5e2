"""The plain YAML that the project's own files are written in, read without a package for it."""

import re
from collections import Counter

KEY = re.compile(r"([\w-]+):(?: +(.*))?$")


def read_yaml(text: str) -> dict[str, str]:
    """Path -> scalar, such as `jobs.make.steps[0].uses`; a malformed line, or a key given twice, raises an error.

    Mappings, lists and block scalars, indented by two; what stands in brackets on one line is left as it is.
    """
    found: dict[str, str] = {}
    parents: list[tuple[int, str]] = [(-1, "")]  # indent and path of what a line stands in
    items: Counter[str] = Counter()
    block: tuple[int, str] | None = None  # the key whose indented text is being read
    for number, line in enumerate(text.splitlines(), 1):
        content = line.strip()
        indent = len(line) - len(line.lstrip(" "))
        if block is not None and (not content or indent > block[0]):
            found[block[1]] += content + "\n"
            continue
        block = None
        if not content or content.startswith("#"):
            continue
        if "\t" in line or indent % 2:
            raise ValueError(f"line {number} must be indented by twos with spaces: {line!r}")
        while content.startswith("- "):
            path = _parent(parents, indent)
            parents.append((indent, f"{path}[{items[path]}]"))
            items[path] += 1
            content, indent = content[2:], indent + 2
        match = KEY.match(content)
        path = _parent(parents, indent)
        if match is None:
            if not path.endswith("]") or path in found:
                raise ValueError(f"line {number} is neither a key nor an item: {line!r}")
            found[path] = _scalar(content)
            continue
        path = f"{path}.{match[1]}".lstrip(".")
        if path in found:
            raise ValueError(f"line {number} gives {path} again")
        value = _scalar(match[2] or "")
        is_block = value in ("|", ">", ">-", "|-")
        found[path] = "" if is_block else value
        parents.append((indent, path))
        if is_block:
            block = (indent, path)
    return found


def children(found: dict[str, str], path: str) -> list[str]:
    """The keys right below a path."""
    below = (key.removeprefix(f"{path}.") for key in found if key.startswith(f"{path}."))
    return list(dict.fromkeys(re.split(r"[.\[]", key)[0] for key in below))


def _parent(parents: list[tuple[int, str]], indent: int) -> str:
    while parents[-1][0] >= indent:
        parents.pop()
    return parents[-1][1]


def _scalar(text: str) -> str:
    text = re.sub(r"(^|\s+)#.*$", "", text).strip()
    return text[1:-1] if text[:1] == text[-1:] and text[:1] in ("'", '"') else text
