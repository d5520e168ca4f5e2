"""How the numbers of a text file are written: decimal points or commas, decided by all of its cells together."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from olinear.core import DataError, Note
from olinear.data.frames.numbers import GAPS, MARKS, MISSING, OTHER, Cells, NumberStyle, Parsed, bare, numbers_of
from olinear.data.frames.panel import listed

NUMBER_LIKE = re.compile(r"[+-]?(?=[\d.,])[\d.,'’ \u00a0\u202f\u2009]*\d[.,]?([eE][+-]?\d+)?")
GROUPED = {sign: re.compile(rf"[+-]?[1-9]\d{{0,2}}{re.escape(sign)}\d{{3}}") for sign in ".,"}
THRICE = re.compile(r"[+-]?\d{1,3}(\.\d{3}){2,}|[+-]?\d{1,3}(,\d{3}){2,}")
SPACED = re.compile(rf"[+-]?\d{{1,3}}({GAPS}\d{{3}})+([.,]\d*)?")
WHOLE = re.compile(r"[+-]?\d+")
SHAPE = str.maketrans("23456789", "1" * 8)  # digits that no pattern here tells apart
SURE = 1000  # cells
FEW = 3  # cells that may all have three decimals by chance


def read_columns(
    columns: Mapping[str, Cells],
    sep: str,
    given: NumberStyle | None,
    na: Iterable[str],
    earlier: NumberStyle | None,
    notes: list[Note],
) -> tuple[dict[str, Parsed], NumberStyle]:
    """The columns of a text file as numbers, all in one style: the given one, or what all cells together decide.

    Args:
        columns: the cells of each.
        sep: what separates cells; where it is a comma, a point is a decimal point.
        given: the style that was asked for.
        na: what a user says stands for missing values.
        earlier: that of the rows that a model was fitted on, for cells that can be read in two ways.
        notes: takes what was decided.
    """
    style = replace(given or NumberStyle(), na=MISSING | MARKS | set(na))
    done = {name: numbers_of(cells, style) for name, cells in columns.items()}
    _note_marks(columns, done, set(na), notes)
    if given is not None:
        return done, style
    evidence = _Evidence()
    doubtful = [cells for name, cells in columns.items() if done[name][1].any()]
    for cells in doubtful + (list(columns.values()) if sep != "," else []):
        if evidence.is_sure:
            break
        evidence.weigh(cells)
    found = evidence.decide(sep, earlier)
    if found in (None, (".", None)):
        return done, style
    decimal, thousands = found
    between = f" and {thousands!r} between thousands" if thousands and evidence.has_groups else ""
    text = f"numbers such as {evidence.example} were read with {decimal!r} before decimals{between}"
    notes.append(Note("read-decimal", text))
    style = replace(style, decimal=decimal, thousands=thousands)
    return {name: numbers_of(cells, style) for name, cells in columns.items()}, style


def _note_marks(
    columns: Mapping[str, Cells], done: Mapping[str, Parsed], known: Collection[str], notes: list[Note]
) -> None:
    """What was taken for a missing value though it is no usual word for one."""
    found: dict[str, list[str]] = {}
    for name, (values, bad) in done.items():
        if np.isnan(values).any() and not bad.all():
            for mark in (MARKS - set(known)) & {str(cell).strip() for cell in columns[name][np.isnan(values)]}:
                found.setdefault(mark, []).append(name)
    for mark in sorted(found):
        notes.append(
            Note("missing-mark", f"{mark!r} in {listed(found[mark])} was read as a missing value", found[mark])
        )


class _Says(NamedTuple):
    """What a cell speaks for; cells of one shape say the same."""

    tally: tuple[str, str]  # a vote for a sign before decimals, a sign that can be either, a size of whole numbers
    grouped: bool = False  # it has a sign between thousands
    shown: bool = False  # it is a better example than those before


NOTHING = _Says(("nothing", ""))


def _weigh(text: str) -> _Says:
    if WHOLE.fullmatch(text):
        return _Says(("whole", "small" if len(text.lstrip("+-")) < 4 else "large"))
    if not NUMBER_LIKE.fullmatch(text):
        return NOTHING
    points, commas = text.count("."), text.count(",")
    grouped = shown = bool(SPACED.fullmatch(text))
    if points and commas:
        sign, grouped = "." if text.rfind(".") > text.rfind(",") else ",", True
    elif points > 1 or commas > 1:
        if not THRICE.fullmatch(text):  # a date, a version, an address
            return NOTHING._replace(grouped=grouped, shown=shown)
        sign, grouped = "," if points else ".", True
    elif points or commas:
        sign = "." if points else ","
        if GROUPED[sign].fullmatch(text):
            return _Says(("unsure", sign), grouped, shown)
    else:
        return NOTHING._replace(grouped=grouped, shown=shown)
    return _Says(("votes", sign), grouped, shown or sign == "," or commas > 0)


class _Evidence:
    """Which sign before decimals the cells with a point or a comma speak for, or that they allow either."""

    def __init__(self) -> None:
        self.tallies: Counter[tuple[str, str]] = Counter()
        self.grouped = False
        self.example = ""

    def _of(self, kind: str) -> dict[str, int]:
        return {sign: self.tallies[kind, sign] for sign in ".,"}

    @property
    def votes(self) -> dict[str, int]:
        return self._of("votes")

    @property
    def unsure(self) -> dict[str, int]:
        """1,234 and 1.234: decimals or thousands."""
        return self._of("unsure")

    @property
    def has_groups(self) -> bool:
        """Whether a sign between thousands was seen, or what can be one."""
        return self.grouped or any(self.unsure.values())

    @property
    def is_sure(self) -> bool:
        """Whether many cells say the same, and none anything else."""
        return max(self.votes.values()) > SURE and not min(self.votes.values())

    def weigh(self, cells: Cells) -> None:
        known: dict[str, _Says] = {}
        for text in bare([str(cell).strip() for cell in cells], MISSING | MARKS):
            shape = text.translate(SHAPE)
            says = known.get(shape) or known.setdefault(shape, _weigh(shape))
            self.tallies[says.tally] += 1
            self.grouped = self.grouped or says.grouped
            if says.shown or (not self.example and says.tally[0] == "unsure"):
                self.example = text

    def decide(self, sep: str, earlier: NumberStyle | None) -> tuple[str, str | None] | None:
        """The signs before decimals and between thousands; None where no cell has either."""
        if any(self.votes.values()):
            decimal = "," if self.votes[","] > self.votes["."] else "."
            other = OTHER[decimal]
            seen = bool(self.unsure[other] or self.grouped)
            return decimal, " " if self._spaced else other if seen or decimal == "," else None
        if self._spaced and not any(self.unsure.values()):
            return ".", " "
        for sign in ",.":
            if self.unsure[sign]:
                return self._of_unsure(sign, sep, earlier)
        return None

    @property
    def _spaced(self) -> bool:
        return bool(SPACED.fullmatch(self.example))

    def _of_unsure(self, sign: str, sep: str, earlier: NumberStyle | None) -> tuple[str, str | None]:
        """All signs stand before three digits: decimals, or thousands."""
        as_decimals, as_thousands = (sign, None), (OTHER[sign], sign)
        if earlier is not None:
            return earlier.decimal, earlier.thousands or (OTHER[earlier.decimal] if sign != earlier.decimal else None)
        if self.tallies["whole", "large"] or (sign == "." and sep == ","):
            return as_decimals
        if self.tallies["whole", "small"] and self.unsure[sign] >= FEW:
            return as_thousands
        raise DataError(
            f"numbers such as {self.example} can be {self.example.replace(sign, '.')} or "
            f"{self.example.replace(sign, '')}: pass decimal={sign!r} or thousands={sign!r}"
        )
