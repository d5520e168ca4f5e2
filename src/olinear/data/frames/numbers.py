"""From cells to numbers: decimal points or commas, signs between thousands, and what stands for a missing value."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from olinear.core import ConfigError, DataError

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
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
UNIT = re.compile(r"[$€£¥₹%]|(?<![^\W\d])(EUR|USD|GBP|CHF|JPY|kr|zł)(?![^\W\d])")
GAPS = "[ \\u00a0\\u202f\\u2009'’]"  # signs that only ever stand between thousands
END = "\x00"  # between cells that are looked at together
ODD = re.compile("[$€£¥₹%UBCJkz(−]")  # a sign of every unit, and what else is not plain
ENDS = ("- ", "+ ", f"-{END}")  # a minus apart from its number
OTHER = {".": ",", ",": "."}


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


def given_style(decimal: str | None, thousands: str | None, na: Iterable[str]) -> NumberStyle | None:
    """The style that was asked for; None where neither sign was."""
    if thousands is not None:
        if len(thousands) != 1 or thousands.isalnum():
            raise ConfigError(f"thousands must be one character, such as ',' or ' ', found {thousands!r}")
        if thousands == decimal:
            raise ConfigError(f"decimal and thousands are both {decimal!r}: they must differ")
    doubtful = [mark for mark in na if DECIMAL_COMMA.fullmatch(mark)]
    if doubtful and decimal != ",":
        raise ConfigError(f"na={doubtful[0]!r} can be one mark or two: pass decimal=',' too, or each mark by itself")
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
            "column with drop=, or say with na= what stands for a missing value"
        )
