"""What a forecaster was made with, for people, notebooks and scikit-learn."""

import inspect
from html import escape
from typing import Any, Self

from olinear.core import ConfigError


class Parameters:
    """`get_params`, `set_params` and `repr` of a class that keeps the arguments of its constructor in `_parameters`."""

    _parameters: dict[str, Any]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments it was made with, unchanged; with `set_params`, what scikit-learn's `clone` needs."""
        return dict(self._parameters)

    def set_params(self, **changes: Any) -> Self:
        """Change arguments, and forget what was fitted: as if it had been made with them."""
        unknown = sorted(set(changes) - set(self._parameters))
        if unknown:
            raise ConfigError(f"there is no argument {unknown[0]!r}: there are {', '.join(self._parameters)}")
        self.__init__(**self._parameters | changes)  # type: ignore[misc]
        return self

    def _changed(self) -> dict[str, Any]:
        """The arguments that are not at their defaults."""
        known = inspect.signature(type(self)).parameters
        return {name: value for name, value in self._parameters.items() if not _equal(value, known[name].default)}

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={value!r}" for name, value in self._changed().items())
        return f"{type(self).__name__}({arguments})"

    def _facts(self) -> dict[str, Any]:
        """What is known of it, for a picture of it in a notebook."""
        return self._changed()

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(str(name))}</th><td style='text-align:left'>"
            f"{escape(str(value)[:200])}</td></tr>"
            for name, value in self._facts().items()
        )
        return f"<div><b>{escape(type(self).__name__)}</b><table>{rows}</table></div>"


def _equal(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and bool(value == default))
