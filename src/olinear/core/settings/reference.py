"""The reference of all settings, for people and for machines, made from the tree."""

import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from olinear.core.settings.flat import REQUIRED, Leaf, leaves
from olinear.core.settings.sections import Settings

INTRO = """# Settings

Everything that makes a fit. A setting has one name: an argument of `Forecaster`, an option of `olinear fit` (with
dashes), and a key of a file given with `--config` (in the table named here). `olinear fit --write-config fit.toml`
writes such a file. *from the data* means that it is chosen from rows, series and season if it is left out.

<!-- made by `olinear settings --markdown`; a test holds it equal -->
"""


def settings_page() -> str:
    """The reference as Markdown."""
    lines = [INTRO]
    for section, place in Settings.model_fields.items():
        kind: Any = place.annotation
        lines += [f"## `[{section}]`", "", (kind.__doc__ or "").strip().partition("\n")[0], ""]
        lines += ["| setting | key | values | default | |", "|---|---|---|---|---|"]
        for leaf in leaves().values():
            if leaf.section == section:
                cells = (f"`{leaf.name}`", f"`{leaf.key}`", values_of(leaf), default_of(leaf), leaf.description)
                lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
        lines.append("")
    return "\n".join(lines)


def default_of(leaf: Leaf) -> str:
    """The default in a word or two."""
    if leaf.from_data:
        return "from the data"
    if leaf.default is REQUIRED:
        return "must be given"
    if leaf.default is None or leaf.default == {}:
        return ""
    return str(leaf.default).lower() if isinstance(leaf.default, bool) else f"{leaf.default}"


def values_of(leaf: Leaf) -> str:
    """What a setting may be."""
    kinds = _kinds(leaf.annotation)
    limits = []
    for rule in leaf.field.metadata:
        for sign, name in ((">=", "ge"), (">", "gt"), ("<=", "le"), ("<", "lt")):
            limit = getattr(rule, name, None)
            if limit is not None and limit < 2**53:
                limits.append(f"{sign} {limit:g}")
    return " ".join([", ".join(kinds), *limits])


def _kinds(annotation: Any) -> list[str]:
    origin = get_origin(annotation)
    if origin is Literal:
        return [str(value) for value in get_args(annotation)]
    if origin is Annotated:
        return _kinds(get_args(annotation)[0])
    if origin is tuple:
        return ["names"]
    if origin in (Union, types.UnionType):
        return [word for part in get_args(annotation) if part is not type(None) for word in _kinds(part)]
    words = {int: "whole number", float: "number", str: "text", bool: "true or false"}
    return [words.get(annotation, "table")]
