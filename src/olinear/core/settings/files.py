"""Settings as a file: one section of the tree a table, in TOML."""

import json
import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from olinear.core.errors import ConfigError
from olinear.core.runtime.files import replacing
from olinear.core.settings.flat import check_given, leaves, nest
from olinear.core.settings.renamed import RENAMED

HEAD = "# Settings of olinear fit: `olinear settings` says what each means. What is left out is chosen from the data.\n"


def read_settings(path: Path) -> dict[str, Any]:
    """What a file sets, by flat names, checked."""
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not TOML: {error}") from error
    names = {(leaf.section, leaf.key): leaf.name for leaf in leaves().values()}
    sections = dict.fromkeys(section for section, _ in names)
    flat: dict[str, Any] = {}
    for section, table in tree.items():
        if section not in sections or not isinstance(table, Mapping):
            raise ConfigError(f"{path} has {section!r} at its top: its tables are {', '.join(sections)}")
        for key, value in table.items():
            if key in RENAMED:
                flat[key] = value
                continue
            if (section, key) not in names:
                known = ", ".join(key for place, key in names if place == section)
                raise ConfigError(f"{path} has no setting {section}.{key}: [{section}] takes {known}")
            flat[names[section, key]] = value
    try:
        return check_given(flat)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def write_settings(path: Path, flat: Mapping[str, Any]) -> None:
    """A file that `read_settings` reads back; None is left out, for TOML has no such value."""
    lines = [HEAD]
    for section, table in nest({name: value for name, value in flat.items() if value is not None}).items():
        entries = [f"{key} = {_as_toml(value)}" for key, value in table.items() if value != {}]
        if entries:
            lines += [f"[{section}]", *entries, ""]
    with replacing(path) as part:
        part.write_text("\n".join(lines), encoding="utf-8")


def _as_toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(str(key))} = {_as_toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_as_toml, value)) + "]"
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    raise ConfigError(f"{value!r} cannot be written to a file of settings: use a number, text, true or false")
