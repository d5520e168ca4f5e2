"""What a torture shows: one line of the table in docs/trust.md."""

from collections.abc import Mapping
from dataclasses import dataclass

Row = Mapping[str, str]  # of a torture's own CSV file


@dataclass(frozen=True)
class Figure:
    """A promise and what was measured of it.

    Args:
        what: what was done to the library.
        figure: what was counted or measured.
        limit: the most, or what is said there.
        measured: as it was found.
        ok: whether the promise is kept, and everything that was to be measured for it was.
    """

    what: str
    figure: str
    limit: str
    measured: str
    ok: bool


def none_of(what: str, figure: str, count: int, whole: bool) -> Figure:
    """Of something that must never happen; `whole`: all of it was tried."""
    return Figure(what, figure, "0", str(count), count == 0 and whole)


def at_most(what: str, figure: str, measured: float, limit: float) -> Figure:
    """Of something that may cost so much."""
    return Figure(what, figure, f"{limit:g}", f"{measured:.4g}", measured <= limit)
