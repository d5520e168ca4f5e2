"""Which series are meant: by their names, with the nearest ones where there is no such name."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from difflib import get_close_matches
from numbers import Integral
from typing import Any

from olinear.core import ConfigError
from olinear.data.frames.panel import Panel, listed

NEAR = 3


def find_series(known: Sequence[str], wanted: Any) -> list[int]:
    """The places of the wanted names among the known ones, in the order asked for; one name may stand alone."""
    names = [wanted] if isinstance(wanted, str | Integral) else list(wanted) if _is_list(wanted) else [object()]
    if any(not isinstance(name, str | Integral) or isinstance(name, bool) for name in names):
        raise ConfigError(f"series must be names, found {wanted!r}: pass them as a list, such as series=['{known[0]}']")
    if not names:
        raise ConfigError(f"series must name at least one of {listed(known)}, found none: leave it out for all")
    texts = [str(name) for name in names]
    places = {name: place for place, name in enumerate(known)}
    chosen: dict[int, str] = {}
    for text in texts:
        if text not in places:
            raise ConfigError(f"there is no series {text!r}: {nearest(text, known)}")
        if places[text] in chosen:
            raise ConfigError(f"series {text!r} is asked for twice: leave one out")
        chosen[places[text]] = text
    return list(chosen)


def pick_series(panel: Panel, wanted: Any) -> Panel:
    """The panel with the wanted series alone, in the order asked for."""
    return at_places(panel, find_series(panel.series, wanted))


def at_places(panel: Panel, places: Sequence[int]) -> Panel:
    """The panel with the series at some places."""
    return replace(panel, values=panel.values[:, list(places)], series=[panel.series[place] for place in places])


def _is_list(wanted: Any) -> bool:
    return hasattr(wanted, "__iter__") and not isinstance(wanted, bytes | dict)


def nearest(text: str, known: Sequence[str]) -> str:
    """Names that hold the text, or else that look like it."""
    folded: dict[str, str] = {}
    for name in known:
        folded.setdefault(name.casefold().strip(), name)
    wanted = text.casefold().strip()
    near = [name for name in folded if wanted and wanted in name][:NEAR]
    near = near or get_close_matches(wanted, folded, n=NEAR, cutoff=0.6)
    return f"did you mean {' or '.join(repr(folded[name]) for name in near)}?" if near else f"there are {listed(known)}"


def split_names(given: Sequence[str] | None, known: Collection[str]) -> list[str]:
    """Names as they were given; text that is no known name, but several with commas between them, stands for those."""
    names = []
    for name in given or ():
        parts = [part.strip() for part in name.split(",")]
        names += parts if name not in known and all(part in known for part in parts) else [name]
    return list(dict.fromkeys(names))
