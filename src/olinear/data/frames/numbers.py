"""From cells to numbers: decimal points or commas, signs between thousands, and what stands for a missing value."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from olinear.core import ConfigError, DataError, Note
from olinear.data.frames.panel import listed

Values = NDArray[np.float64]
Cells = NDArray[np.object_]
Parsed = tuple[Values, NDArray[np.bool_]]  # the numbers, and the cells that are none
MISSING = frozenset(
    {"", "NA", "N/A", "n/a", "na", "NaN", "nan", "-nan", "-NaN", "NAN", "null", "NULL", "Null", "None", "none", "<NA>"}
    | {
        "#N/A",
        "#NA",
        "\\N",
        "#N/A N/A",
        "#NULL!",
        "#NUM!",
        "#DIV/0!",
        "#VALUE!",
        "#REF!",
        "1.#QNAN",
        "-1.#IND",
        "1.#IND",
        "nil",
    }
)
MARKS = frozenset({"-", "--", "---", "–", "—", ".", "..", "...", "?", "*"})
UNIT = re.compile(r"[$€£¥₹%]|(?<![^\W\d])(EUR|USD|GBP|CHF|JPY|kr|zł)(?![^\W\d])")
GAPS = "[ \\u00a0\\u202f\\u2009'’]"  # signs that only ever stand between thousands
END = "\x00"  # between cells that are looked at together
ODD = re.compile("[$€£¥₹%UBCJkz(−]")  # a sign of every unit, and what else is not plain
ENDS = ("- ", "+ ", f"-{END}")  # a minus apart from its number
NUMBER_LIKE = re.compile(r"[+-]?(?=[\d.,])[\d.,'’ \u00a0\u202f\u2009]*\d[.,]?([eE][+-]?\d+)?")
GROUPED = {sign: re.compile(rf"[+-]?[1-9]\d{{0,2}}{re.escape(sign)}\d{{3}}") for sign in ".,"}
THRICE = re.compile(r"[+-]?\d{1,3}(\.\d{3}){2,}|[+-]?\d{1,3}(,\d{3}){2,}")
SPACED = re.compile(rf"[+-]?\d{{1,3}}({GAPS}\d{{3}})+([.,]\d*)?")
WHOLE = re.compile(r"[+-]?\d+")
OTHER = {".": ",", ",": "."}
SURE = 1000  # cells
FEW = 3  # cells that may all have three decimals by chance


@dataclass(frozen=True)
class NumberStyle:
    """How numbers are written: the sign before decimals, that between thousands, and what is a missing value."""

    decimal: str = "."
    thousands: str | None = None
    na: frozenset[str] = frozenset()

    @property
    def plain(self) -> bool:
        return self.decimal == "." and self.thousands is None

    def translate(self, cells: Sequence[str]) -> list[str]:
        """Numbers of this style as Python has them; what is no number of this style stays as it is or is spoilt."""
        gap = GAPS if self.thousands is None else f"(?:{GAPS}|{re.escape(self.thousands)})"
        if _any_has(re.compile(gap), cells):
            grouped = re.compile(rf"([+-]?\d{{1,3}}(?:{gap}\d{{3}})+)({re.escape(self.decimal)}\d*)?")
            sign = re.compile(gap)
            cells = [sign.sub("", cell) if grouped.fullmatch(cell) else cell for cell in cells]
        if self.decimal == ",":
            whole = END.join(cells)
            if "." in whole:
                whole = END.join("?" if "." in cell else cell for cell in cells)
            cells = whole.replace(",", ".").split(END)
        return list(cells)


def bare(cells: Sequence[str], na: Collection[str]) -> list[str]:
    """Text of numbers without the unit that all of a column have, and with a minus in front.

    Accountants have parentheses around what is negative, or a minus behind it.
    """
    whole = END.join([*cells, ""])
    if not ODD.search(whole) and not any(end in whole for end in ENDS):
        return list(cells)
    units = {_unit_of(cell) for cell in cells if cell not in na}
    strip = len(units) == 1 and units != {""}
    done = []
    for cell in cells:
        text = (UNIT.sub("", cell) if strip and cell not in na else cell).strip().replace("−", "-")
        if text.startswith("(") and text.endswith(")"):
            text = f"-{text[1:-1].strip()}"
        elif text.endswith("-") and text[:1].isdigit():
            text = f"-{text[:-1].strip()}"
        elif text[:2] in ("- ", "+ "):
            text = text[0] + text[2:].strip()
        done.append(text)
    return done


def _any_has(pattern: re.Pattern[str], cells: Sequence[str]) -> bool:
    """Whether a pattern occurs in a column, in one search."""
    return pattern.search(END.join(cells)) is not None


def _unit_of(cell: str) -> str:
    return "".join(match[0] for match in UNIT.finditer(cell))


def numbers_of(cells: Cells, style: NumberStyle) -> Parsed:
    """Text as numbers, NaN where a value is missing, and the cells that are no number."""
    if style.plain:
        try:
            return cells.astype(np.float64), np.zeros(len(cells), dtype=bool)
        except (TypeError, ValueError):
            pass
    texts = ["" if cell is None else str(cell).strip() for cell in cells]
    empty = np.array([cell is None or text in style.na for cell, text in zip(cells, texts, strict=True)], dtype=bool)
    kept = np.array(texts, dtype=object)
    kept[empty] = "nan"
    if style.plain:
        try:
            return kept.astype(np.float64), np.zeros(len(cells), dtype=bool)
        except ValueError:
            pass
    if style.na:  # text of a file, not of a frame
        kept = np.array(bare(kept.tolist(), {"nan"}), dtype=object)
    kept = np.array(style.translate(kept.tolist()), dtype=object)
    try:
        return kept.astype(np.float64), np.zeros(len(cells), dtype=bool)
    except ValueError:
        values = pd.to_numeric(pd.Series(kept, dtype=object), errors="coerce").to_numpy(np.float64)
    return values, np.isnan(values) & ~empty & (kept != "nan")


def read_columns(
    columns: Mapping[str, Cells],
    sep: str,
    given: NumberStyle | None,
    na: Iterable[str],
    earlier: NumberStyle | None,
    notes: list[Note],
) -> tuple[dict[str, Parsed], NumberStyle]:
    """The columns of a text file as numbers, all in one style: the given one, or what all cells together tell.

    Args:
        columns: the cells of each.
        sep: what separates cells; where it is a comma, a point is a decimal point.
        given: the style that was asked for.
        na: what was said to stand for missing values.
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
    between = f" and {thousands!r} between thousands" if thousands else ""
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


class _Evidence:
    """What cells with a point or a comma say: for which sign before decimals, or for either."""

    def __init__(self) -> None:
        self.votes = {".": 0, ",": 0}
        self.unsure: dict[str, int] = {".": 0, ",": 0}  # 1,234 and 1.234: decimals or thousands
        self.small = self.large = 0  # whole numbers below and from 1000 on, without any sign
        self.grouped = False
        self.example = ""

    @property
    def is_sure(self) -> bool:
        """Whether many cells say the same, and none anything else."""
        return max(self.votes.values()) > SURE and not min(self.votes.values())

    def weigh(self, cells: Cells) -> None:
        for text in bare([str(cell).strip() for cell in cells], MISSING | MARKS):
            if WHOLE.fullmatch(text):
                if len(text.lstrip("+-")) < 4:
                    self.small += 1
                else:
                    self.large += 1
            elif NUMBER_LIKE.fullmatch(text):
                self._vote(text)

    def _vote(self, text: str) -> None:
        points, commas = text.count("."), text.count(",")
        if SPACED.fullmatch(text):
            self.grouped, self.example = True, text
        if points and commas:
            sign = "." if text.rfind(".") > text.rfind(",") else ","
            self.grouped = True
        elif points > 1 or commas > 1:
            if not THRICE.fullmatch(text):
                return  # a date, a version, an address
            sign, self.grouped = ("," if points else "."), True
        elif points or commas:
            sign = "." if points else ","
            if GROUPED[sign].fullmatch(text):
                self.unsure[sign] += 1
                self.example = self.example or text
                return
        else:
            return
        self.votes[sign] += 1
        if sign == "," or commas:
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
        if self.large or (sign == "." and sep != ";"):
            return as_decimals
        if self.small and self.unsure[sign] >= FEW:
            return as_thousands
        raise DataError(
            f"numbers such as {self.example} can be {self.example.replace(sign, '.')} or "
            f"{self.example.replace(sign, '')}: pass decimal={sign!r} or thousands={sign!r}"
        )


def complete(decimal: str | None, thousands: str | None, na: Iterable[str]) -> NumberStyle | None:
    """The style that was asked for; None where neither sign was."""
    if thousands is not None:
        if len(thousands) != 1 or thousands.isalnum():
            raise ConfigError(f"thousands must be one sign, such as ',' or ' ', found {thousands!r}")
        if thousands == decimal:
            raise ConfigError(f"decimal and thousands are both {decimal!r}: they must differ")
    if decimal is None and thousands is None:
        return None
    if decimal is None:
        return NumberStyle(OTHER.get(thousands or "", "."), thousands, frozenset(na))
    return NumberStyle(decimal, thousands or OTHER[decimal], frozenset(na))


def numbers_of_column(column: "nw.Series[Any]") -> Values:
    """A column of numbers, or of objects that are numbers, as doubles."""
    if column.dtype.is_integer() and column.implementation.is_pyarrow():
        return column.to_numpy().astype(np.float64)  # NumPy rounds; pyarrow refuses what float64 does not hold exactly
    if column.dtype.is_numeric():
        return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
    return numbers_of_objects(column.to_list(), column.name)


def numbers_of_objects(cells: Sequence[Any], name: str) -> Values:
    """Numbers of kinds that tables have in columns of objects: decimals, fractions, None."""
    series = pd.Series(list(cells), dtype=object)
    try:
        numbers = pd.to_numeric(series, errors="coerce")
        if np.iscomplexobj(numbers):
            raise TypeError("complex numbers")
        values = numbers.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(
            f"column {name!r} does not fit into real numbers of 64 bits ({error}): correct it, or drop the column"
        ) from error
    refuse_bad(name, series.tolist(), (values.isna() & series.notna()).to_numpy())
    return values.to_numpy()


def refuse_bad(name: str, cells: Sequence[Any] | Cells, bad: NDArray[np.bool_]) -> None:
    """Refuse the first cell that is no number, by its row."""
    if bad.any():
        row = int(bad.argmax())
        raise DataError(
            f"column {name!r} has no number in row {row + 1} ({str(cells[row])[:40]!r}): correct the cell, or drop the "
            f"column with drop={name!r}, or pass na={str(cells[row])[:40]!r} if that stands for a missing value"
        )
