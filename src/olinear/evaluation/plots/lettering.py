"""Names in a picture: in fonts that have their characters, and readable where no installed font has them."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakKeyDictionary

from olinear.core import Note

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LONGEST = 80  # columns of a terminal; a wide character takes two
LISTED = 3
# Fonts to prefer where several have the characters; any other that is installed will do.
PREFERRED = (
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans CJK TC", "Noto Sans CJK KR", "Source Han Sans SC"),
    *("Microsoft YaHei", "Yu Gothic", "Meiryo", "Malgun Gothic", "PingFang SC", "Hiragino Sans"),
    *("Apple SD Gothic Neo", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "Noto Sans", "Arial Unicode MS"),
)
NO_GLYPHS = ("lastresort", "adobeblank", "notosanssymbolblank")  # fonts with a box for every character
ASIAN = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "IDEOGRAPHIC", "BOPOMOFO", "FULLWIDTH", "HALFWIDTH")
_notes: "WeakKeyDictionary[Figure, list[Note]]" = WeakKeyDictionary()


@dataclass(frozen=True)
class Lettering:
    """The fonts for some names, and the characters that none of the installed ones has."""

    names: list[str]
    family: list[str]
    unknown: frozenset[str]

    @classmethod
    def of(cls, names: Iterable[str]) -> Self:
        """What these names need."""
        plain = [tidy(name) for name in names]
        from matplotlib import rcParams

        usual = tuple(rcParams["font.family"])
        further, unknown = _find_fonts(usual, frozenset("".join(plain)))
        return cls(plain, [*usual, *further], unknown)

    def write(self, place: int, longest: int = LONGEST) -> str:
        """A name as it can be drawn; one with unknown characters is known by its number, counted from 1."""
        name = self.names[place]
        if self.unknown & set(name):
            left = "".join("?" if each in self.unknown else each for each in name)
            name = f"{left} (series {place + 1})" if any(map(str.isalnum, left)) else f"series {place + 1}"
        return shorten(name, longest) or f"series {place + 1}"

    def title(self, text: str) -> str:
        """A text that is no name."""
        return "".join("?" if each in self.unknown else each for each in tidy(text))

    def put_note(self, figure: "Figure", shown: Sequence[int]) -> None:
        """Where names could not be written: a line in the picture, and a note for `figure_notes`."""
        numbers = [place for place in shown if self.unknown & set(self.names[place])]
        if not numbers:
            return
        asian = any(unicodedata.name(each, "").startswith(ASIAN) for each in self.unknown)
        font = "Noto Sans CJK (apt install fonts-noto-cjk)" if asian else "one of the Noto fonts"
        which = ", ".join(f"series {place + 1} is {self.names[place]}" for place in numbers[:LISTED])
        more = f" and {len(numbers) - LISTED} more" if len(numbers) > LISTED else ""
        what = "no installed font has the characters of some names"
        names = tuple(self.names[place] for place in numbers)
        text = f"{what}, which are drawn as numbers ({which}{more}): install {font}"
        add_note(figure, Note("plot-font", text, names))
        if figure.legends:
            from matplotlib.font_manager import FontProperties

            figure.legends[0].set_title(f"{what}: install {font}", prop=FontProperties(size=7))
        else:
            figure.supxlabel(f"{what}: install {font}", fontsize=7)


def add_note(figure: "Figure", note: Note) -> None:
    """Keep a note with a picture."""
    _notes.setdefault(figure, []).append(note)


def figure_notes(figure: "Figure") -> list[Note]:
    """What a person should know of a picture."""
    return list(_notes.get(figure, []))


def tidy(name: str) -> str:
    """A name on one line, without characters that have no shape of their own."""
    shaped = (
        " " if each.isspace() or unicodedata.category(each) in ("Cc", "Cs", "Co", "Cn") else each
        for each in name
        if unicodedata.category(each) != "Cf" and not 0xFE00 <= ord(each) <= 0xFE0F
    )
    return " ".join("".join(shaped).split())


def shorten(name: str, longest: int) -> str:
    """A name cut in its middle, so that names that begin or end alike still differ."""
    widths = [2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in name]
    if sum(widths) <= longest:
        return name
    head, tail, room = 0, len(name), longest - 1
    while widths[head] + widths[tail - 1] <= room:
        room -= widths[head] + widths[tail - 1]
        head, tail = head + 1, tail - 1
    return f"{name[:head]}…{name[tail:]}"


@lru_cache(maxsize=64)
def _find_fonts(usual: tuple[str, ...], characters: frozenset[str]) -> tuple[tuple[str, ...], frozenset[str]]:
    """The families that are needed besides the usual ones, and the characters that no font has."""
    from matplotlib.font_manager import FontProperties, findfont

    missing = set(characters) - {" "}
    for family in usual:
        missing -= _glyphs(str(findfont(FontProperties(family=[family]))), frozenset(missing))
    chosen: list[str] = []
    for look in (_installed, _newly_installed):
        fonts = dict(look()) if missing else {}
        while fonts and missing:
            has = {family: _glyphs(path, frozenset(missing)) for family, path in fonts.items()}
            best = max(has, key=lambda family: len(has[family]))
            if not has[best]:
                break
            chosen.append(best)
            missing -= has[best]
    return tuple(chosen), frozenset(missing)


def _glyphs(path: str, characters: frozenset[str]) -> set[str]:
    """Which of the characters a font has."""
    from matplotlib.ft2font import FT2Font

    try:
        font = FT2Font(path)
        return {each for each in characters if font.get_char_index(ord(each))}
    except (RuntimeError, OSError, ValueError, NotImplementedError):  # damaged, or gone since they were listed
        return set()


def _installed() -> dict[str, str]:
    """The fonts that matplotlib knows, one file a family, the preferred families first."""
    from matplotlib.font_manager import fontManager

    def rank(entry: Any) -> tuple[int, bool, float]:
        preferred = PREFERRED.index(entry.name) if entry.name in PREFERRED else len(PREFERRED)
        weight = entry.weight if isinstance(entry.weight, int | float) else 400
        return preferred, entry.style != "normal", abs(weight - 400)

    found: dict[str, str] = {}
    for entry in sorted(fontManager.ttflist, key=rank):
        if not any(entry.name.replace(" ", "").lower().startswith(name) for name in NO_GLYPHS):
            found.setdefault(entry.name, str(entry.fname))
    return found


@cache
def _newly_installed() -> dict[str, str]:
    """The same after a look at the machine: matplotlib keeps the list it made when it was first used."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    known = {Path(entry.fname) for entry in fontManager.ttflist}
    for path in sorted(set(map(Path, findSystemFonts())) - known):
        try:
            fontManager.addfont(str(path))
        except (RuntimeError, OSError, ValueError, NotImplementedError, KeyError):  # not a font that can be drawn
            continue
    return _installed()
