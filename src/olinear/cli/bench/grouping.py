"""Groups of options: a command takes a dataclass, and each of its fields is an option of its own."""

from collections.abc import Callable, Collection
from copy import copy
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from typer.models import OptionInfo

Command = Callable[..., None]


def with_groups(hide: Collection[str] = ()) -> Callable[[Command], Command]:
    """Let a command take groups; those named in `hide` work and are not in its help."""

    def decorate(command: Command) -> Command:
        hints = get_type_hints(command, include_extras=True)
        groups = {name: kind for name, kind in hints.items() if is_dataclass(kind) and isinstance(kind, type)}
        flat: list[Parameter] = []
        for parameter in signature(command).parameters.values():
            if parameter.name in groups:
                flat += _options_of(groups[parameter.name], hidden=parameter.name in hide)
            else:
                flat.append(parameter.replace(annotation=hints[parameter.name], kind=Parameter.KEYWORD_ONLY))

        @wraps(command)
        def call(**given: Any) -> None:
            for name, kind in groups.items():
                given[name] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
            command(**given)

        del call.__wrapped__  # its signature is another
        call.__signature__ = Signature(flat)  # type: ignore[attr-defined]
        call.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
        return call

    return decorate


def _options_of(group: type, *, hidden: bool) -> list[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=_hidden(hints[field.name]) if hidden else hints[field.name],
        )
        for field in fields(group)
    ]


def _hidden(hint: Any) -> Any:
    """The same option, not in the help."""
    if get_origin(hint) is not Annotated:
        return hint
    kind, *notes = get_args(hint)
    changed = [copy(note) for note in notes]
    for note in changed:
        if isinstance(note, OptionInfo):
            note.hidden = True
    return Annotated[kind, *changed]
