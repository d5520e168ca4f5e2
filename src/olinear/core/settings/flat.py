"""The settings tree seen from outside: its leaves by one flat name each, for signatures, options, files and pages."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from olinear.core.errors import ConfigError
from olinear.core.settings.renamed import with_present_names
from olinear.core.settings.sections import Section, Settings

REQUIRED = ...  # the default of what must be given


@dataclass(frozen=True)
class Leaf:
    """One setting: `section.key` in the tree and in files, `name` in Python and, with dashes, on the command."""

    section: str
    key: str
    name: str
    annotation: Any
    default: Any  # REQUIRED, or None where it is chosen from the data
    from_data: bool
    description: str
    field: FieldInfo

    @property
    def option(self) -> str:
        return f"--{self.name.replace('_', '-')}"

    @property
    def off(self) -> str:
        """The option that turns a setting off which is true or false."""
        extra = self.field.json_schema_extra
        opposite = extra.get("off") if isinstance(extra, dict) else None
        return f"--{opposite or 'no-' + self.name.replace('_', '-')}"

    def check(self, value: Any) -> Any:
        """The value as the tree will have it; a ConfigError names the setting, the range and the value."""
        value = dict(value) if isinstance(value, Mapping) else _plain_number(value)
        try:
            kind: Any = Annotated[self.field.annotation, self.field]
            return TypeAdapter(kind).validate_python(value, strict=True)
        except ValidationError as error:
            first = error.errors()[0]
            raise ConfigError(f"{self.name} {_rule(first)}, found {first['input']!r}") from error


RULES = {
    "greater_than_equal": "must be at least {ge:g}",
    "greater_than": "must be greater than {gt:g}",
    "less_than_equal": "must be at most {le:g}",
    "less_than": "must be less than {lt:g}",
    "literal_error": "must be one of {expected}",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "string_type": "must be text",
    "value_error": "{error}",
}


def _rule(error: Any) -> str:
    """What pydantic found wrong, in the words of our other errors."""
    known = RULES.get(error["type"])
    return known.format(**error.get("ctx", {})) if known else f"is not possible: {error['msg']}"


def _plain_number(value: Any) -> Any:
    """A number of NumPy's as Python's; everything else as it is."""
    return value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") and not value.shape else value


@cache
def leaves() -> dict[str, Leaf]:
    """Every setting by its flat name, in the order of the tree."""
    found: dict[str, Leaf] = {}
    for section, place in Settings.model_fields.items():
        kind: Any = place.annotation
        for key, field in kind.model_fields.items():
            leaf = _leaf(section, key, field)
            if leaf.name in found:
                raise TypeError(f"two settings are called {leaf.name}")
            found[leaf.name] = leaf
    return found


def _leaf(section: str, key: str, field: FieldInfo) -> Leaf:
    extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    from_data = bool(extra.get("from_data"))
    default = None if from_data else REQUIRED if field.is_required() else field.get_default(call_default_factory=True)
    name = str(extra.get("flat", key))
    return Leaf(section, key, name, field.annotation, default, from_data, field.description or "", field)


def check_given(given: Mapping[str, Any]) -> dict[str, Any]:
    """What a user gave, by flat names and checked one by one; what is None is left to choose."""
    known, given = leaves(), with_present_names(given)
    for name, value in given.items():
        if name not in known:
            raise ConfigError(f"no setting is called {name}, found {value!r}: there are {', '.join(known)}")
    return {name: known[name].check(value) for name, value in given.items() if value is not None}


def nest(flat: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Flat names as the tree has them."""
    tree: dict[str, dict[str, Any]] = {}
    for name, value in flat.items():
        leaf = leaves()[name]
        tree.setdefault(leaf.section, {})[leaf.key] = value
    return tree


def flatten(settings: Settings) -> dict[str, Any]:
    """The tree by flat names; what is not set is None."""
    return {leaf.name: _at(settings, leaf) for leaf in leaves().values()}


def _at(settings: Settings, leaf: Leaf) -> Any:
    section: Section = getattr(settings, leaf.section)
    return getattr(section, leaf.key)


def make_settings(flat: Mapping[str, Any]) -> Settings:
    """The whole tree from flat names."""
    try:
        return Settings.model_validate(nest(flat))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ConfigError(f"{where}: {first['msg']}, found {first['input']!r}") from error
