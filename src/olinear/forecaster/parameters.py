"""What a forecaster was made with, for people, notebooks and scikit-learn."""

import inspect
from collections.abc import Mapping
from html import escape
from typing import Any, Self

from olinear.core import ConfigError

MOST_ARGUMENTS, LONGEST = 8, 80
# What a person wants to know first of a fitted forecaster; the rest can be unfolded.
FIRST = ("fitted", "series", "frequency", "horizon", "lookback", "model", "parameters", "validation_loss", "seconds")


class Parameters:
    """`get_params`, `set_params` and `repr` of a class that keeps the arguments of its constructor in `_parameters`."""

    _parameters: dict[str, Any]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments it was made with, unchanged; with `set_params`, what scikit-learn's `clone` needs."""
        return dict(self._parameters)

    def set_params(self, **changes: Any) -> Self:
        """Change arguments, and forget what was fitted: as if it had been made with them. If refused, all stays."""
        unknown = sorted(set(changes) - set(self._parameters))
        if unknown:
            raise ConfigError(f"there is no argument {unknown[0]!r}: there are {', '.join(self._parameters)}")
        if changes:
            self.__dict__ = type(self)(**self._parameters | changes).__dict__
        return self

    def _changed(self) -> dict[str, Any]:
        """The arguments that are not at their defaults."""
        known = inspect.signature(type(self)).parameters
        return {name: value for name, value in self._parameters.items() if not _equal(value, known[name].default)}

    def __repr__(self) -> str:
        """The arguments that are not at their defaults, the first eight of them."""
        arguments = [f"{name}={_short(value)}" for name, value in self._changed().items() if not _empty(value)]
        if len(arguments) > MOST_ARGUMENTS:
            arguments[MOST_ARGUMENTS:] = [f"… {len(arguments) - MOST_ARGUMENTS} more"]
        return f"{type(self).__name__}({', '.join(arguments)})"

    def _facts(self) -> dict[str, Any]:
        """What is known of it, for a picture of it in a notebook."""
        return self._changed()

    def _repr_html_(self) -> str:
        """A table in the notebook's own colours: what matters, then the notes, and all settings to unfold."""
        facts = dict(self._facts())
        notes = "".join(f"<li>{escape(str(note))}</li>" for note in facts.pop("notes", ()))
        first = {name: facts.pop(name) for name in FIRST if name in facts}
        rest = {name: value for name, value in facts.items() if not isinstance(value, list)}
        if not first.keys() & {"series"}:  # not fitted: there is little to say
            first, rest = first | rest, {}
        parts = [f"<b>{escape(type(self).__name__)}</b>", _table(first)]
        if notes:
            parts.append(f"<div style='margin-top:0.5em'>notes</div><ul style='margin-top:0'>{notes}</ul>")
        if rest:
            parts.append(f"<details><summary>all settings and figures</summary>{_table(rest)}</details>")
        return f"<div style='text-align:left'>{''.join(parts)}</div>"


def _table(facts: dict[str, Any]) -> str:
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(str(name))}</th><td style='text-align:left'>"
        f"{escape(_short(value, plain=True))}</td></tr>"
        for name, value in facts.items()
    )
    return f"<table style='margin:0'>{rows}</table>"


def _short(value: Any, plain: bool = False) -> str:
    """A value on one line of at most 80 characters; in a table text has no quotes and numbers have four digits."""
    if plain and isinstance(value, float):
        return f"{value:.4g}"
    text = " ".join((str if plain else repr)(value).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _empty(value: Any) -> bool:
    return value is None or (isinstance(value, Mapping) and not value)


def _equal(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and bool(value == default))
