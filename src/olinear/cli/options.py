"""Options of the command made from the settings tree."""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import typer

from olinear.core import ConfigError
from olinear.core.settings import Leaf, default_of, leaves

PANELS = {"reading": "Reading", "model": "Model", "training": "Training", "validation": "Validation"}
SHORT = {"horizon": ("--horizon", "-h")}
MORE = "; may be repeated, or have commas between names"
WORDS = {"true": True, "false": False, "none": None}
Config = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Take settings from a TOML file; options given here come before it.")
]


def with_settings(
    *sections: str, without: Sequence[str] = (), defaults: Mapping[str, Any] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command one option for each setting of some sections, passed on as its `**settings`.

    What is not given on the command line is None, so that a file or the data can decide; `defaults` are shown where a
    command has others.
    """
    shown = defaults or {}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        wanted = [leaf for leaf in leaves().values() if leaf.section in sections and leaf.name not in without]

        @functools.wraps(command)
        def run(*args: Any, **given: Any) -> None:
            texts = given.pop("option", None)
            if texts:
                given["options"] = parse_options(texts)
            command(*args, **{name: None if value == [] else value for name, value in given.items()})

        own = [each for each in inspect.signature(command).parameters.values() if each.kind is not each.VAR_KEYWORD]
        first = [_parameter(leaf, shown) for leaf in wanted if leaf.section == "task"]
        derived = [_parameter(leaf, shown) for leaf in wanted if leaf.section != "task"]
        parameters = [_keyword(each) for each in (own[0], *first, *own[1:], *derived)]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return run

    return decorate


def _keyword(parameter: inspect.Parameter) -> inspect.Parameter:
    """In any order: the command line has its own."""
    return parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)


def _parameter(leaf: Leaf, defaults: Mapping[str, Any]) -> inspect.Parameter:
    """The option of a setting."""
    name, kind, metavar = leaf.name, _plain_kind(leaf.annotation), None
    words = SHORT.get(name, (leaf.option,))
    if name == "options":
        name, kind, metavar, words = "option", list[str], "NAME=VALUE", ("--option",)
    elif kind is bool:
        words = (f"{leaf.option}/{leaf.off}",)
    elif kind == list[str]:
        metavar = "NAME"
    choices = _choices(leaf.annotation)
    help = leaf.description[:1].upper() + leaf.description[1:] + (MORE if kind == list[str] else "") + "."
    if choices:
        help = f"{help} One of {', '.join(choices)}."
    if name == "option":
        help = "A further argument of the model, such as heads=4; may be repeated."
    default = str(defaults[leaf.name]) if leaf.name in defaults else default_of(leaf)
    info = typer.Option(
        *words,
        help=help,
        metavar=metavar,
        rich_help_panel=PANELS.get(leaf.section),
        show_default=default if default and default != "must be given" else False,
    )
    annotation: Any = Annotated[kind | None, info]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _plain_kind(annotation: Any) -> Any:
    """The type a terminal understands; ranges and choices are checked where all settings are."""
    if get_origin(annotation) is Literal:
        return str
    if get_origin(annotation) is Annotated:
        return _plain_kind(get_args(annotation)[0])
    if get_origin(annotation) is tuple:
        return list[str]
    kinds = [part for part in get_args(annotation) if part is not type(None)]
    return _plain_kind(kinds[0]) if kinds and get_origin(annotation) is not dict else annotation


def _choices(annotation: Any) -> list[str]:
    if get_origin(annotation) is Literal:
        return list(map(str, get_args(annotation)))
    return [choice for part in get_args(annotation) if get_origin(part) is Literal for choice in _choices(part)]


def parse_options(texts: Sequence[str]) -> dict[str, Any]:
    """`heads=4` as an option of a model: numbers, true, false and none are understood, all else is text."""
    options: dict[str, Any] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        name = name.replace("-", "_")
        if not (name and equals):
            raise ConfigError(f"--option must be NAME=VALUE, such as heads=4, found {text!r}")
        if name in options:
            raise ConfigError(f"--option {name!r} is given twice: leave one out")
        options[name] = _parse_value(value)
    return options


def _parse_value(text: str) -> Any:
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
