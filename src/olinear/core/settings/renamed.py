"""Settings under names of earlier versions: they work for one more release, with a warning."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

# Old name -> what it is now. Since 0.3: mixed_precision.
RENAMED: dict[str, Callable[[Any], tuple[str, Any]]] = {
    "mixed_precision": lambda on: ("precision", "bfloat16" if on else "float32"),
}


def with_present_names(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by the names they have now."""
    present = {name: value for name, value in flat.items() if name not in RENAMED}
    for old in flat.keys() & RENAMED.keys():
        if flat[old] is None:
            continue
        name, value = RENAMED[old](flat[old])
        warnings.warn(f"{old}= is {name}={value!r} now, and goes with the next release", FutureWarning, stacklevel=3)
        present.setdefault(name, value)
    return present


def old_arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments that a constructor does not know: those that were renamed, by their present names."""
    unknown = [name for name in given if name not in RENAMED]
    if unknown:
        raise TypeError(f"there is no argument {unknown[0]!r}: docs/settings.md has them all")
    return with_present_names(given)


def with_present_options(arguments: Sequence[str]) -> list[str]:
    """The command's switches that were renamed, as the options that they are now; the others as they are."""
    present = []
    for argument in arguments:
        switch = argument.removeprefix("--no-").removeprefix("--").replace("-", "_")
        if argument.startswith("--") and switch in RENAMED:
            ((name, value),) = with_present_names({switch: not argument.startswith("--no-")}).items()
            present += [f"--{name.replace('_', '-')}", str(value)]
        else:
            present.append(argument)
    return present
