"""Notes: what was decided or doubted on the way, said to a person and countable by a program."""

from collections.abc import Mapping, Sequence
from typing import Any, Self


class Note(str):
    """A sentence for a person, with a code that stays the same when its words change.

    It is text wherever text is wanted; `code` (such as `series-constant`) and `about`, the names of the columns or
    series concerned, are for programs.
    """

    code: str
    about: tuple[str, ...]

    def __new__(cls, code: str, text: str, about: Sequence[str] = ()) -> Self:
        note = super().__new__(cls, text)
        note.code, note.about = code, tuple(about)
        return note

    def __reduce__(self) -> tuple[Any, ...]:
        return Note, (self.code, str(self), self.about)

    def as_object(self) -> dict[str, Any]:
        """As it stands in JSON."""
        return {"code": self.code, "text": str(self), "about": list(self.about)}


def as_note(data: Note | str | Mapping[str, Any]) -> Note:
    """A note from what `as_object` gave; plain text, as earlier versions had it, gets the code `note`."""
    if isinstance(data, Note):
        return data
    if isinstance(data, str):
        return Note("note", data)
    return Note(str(data["code"]), str(data["text"]), [str(name) for name in data.get("about", ())])
