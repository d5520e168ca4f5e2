"""A line on a terminal for whatever takes longer than a person waits without a sign."""

import sys
import threading
from contextvars import ContextVar, Token
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.status import Status

AFTER_SECONDS = 2.0


class Waiting:
    """Shows what is being done, once it has taken two seconds: `with Waiting("reading data.csv"): …`.

    Silent off a terminal or when not wanted, and gone when the work is done, has failed or was stopped. One inside
    another says what it has to say in the other's line.
    """

    def __init__(self, text: str, wanted: bool = True, after: float = AFTER_SECONDS):
        self._text, self._after, self._lock = text, after, threading.Lock()
        self._wanted, self._over = wanted, False
        self._outer: Waiting | None = None
        self._token: Token[Waiting | None] | None = None
        self._status: Status | None = None
        self._timer: threading.Timer | None = None

    def __enter__(self) -> Self:
        self._outer = _present.get()
        if self._outer is not None:
            return self
        self._token = _present.set(self)
        if self._wanted and sys.stderr is not None and sys.stderr.isatty():
            self._timer = threading.Timer(self._after, self._start)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._token is not None:
            _present.reset(self._token)
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._over = True
            if self._status is not None:
                self._status.stop()

    def show(self, text: str) -> None:
        """Show how far it is."""
        if self._outer is not None:
            self._outer.show(text)
        self._text = text
        if self._status is not None:
            self._status.update(_plain(text))

    def _start(self) -> None:
        from rich.console import Console
        from rich.status import Status

        with self._lock:
            if not self._over:
                self._status = Status(_plain(self._text), console=Console(file=sys.stderr), spinner="line")
                self._status.start()


_present: ContextVar[Waiting | None] = ContextVar("waiting", default=None)


def _plain(text: str) -> str:
    """A name may hold [brackets], which rich would take for a style."""
    from rich.markup import escape

    return escape(text)
