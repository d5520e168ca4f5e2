"""Settings under names of earlier versions: they work for one more release, with a warning."""

import warnings
from collections.abc import Callable, Mapping
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
