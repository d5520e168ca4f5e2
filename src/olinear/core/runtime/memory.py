"""How much memory is free, and how much of it one piece of work may take."""

import math
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

from olinear.core.errors import ConfigError

Amount = str | int | float | None  # "2GB", "50%", a share such as 0.5, or bytes
USUAL = 0.25  # of what is free
UNKNOWN = 2 * 2**30  # taken for free where the system does not say
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
EXPECTED = "must be an amount such as '2GB' or '500MB', or a share of what is free such as '50%' or 0.5"
GROUPS = Path("/sys/fs/cgroup")
_given: ContextVar[Amount] = ContextVar("memory", default=None)


@contextmanager
def within_memory(given: Amount) -> Iterator[None]:
    """Let what grows with the data take so much: an amount or a share of what is free, a quarter if None."""
    parse_memory(given)
    token = _given.set(given)
    try:
        yield
    finally:
        _given.reset(token)


def memory_budget() -> int:
    """The bytes that may be taken now."""
    return parse_memory(_given.get())


def parse_memory(given: Amount) -> int:
    """An amount of memory in bytes: `2GB`, `500MB`, `50%` or 0.5 of what is free, a number of bytes."""
    if given is None:
        return int(USUAL * free_memory())
    number, unit = _read(given)
    if number <= 0 or (number > 100 and unit == "%"):
        raise ConfigError(f"memory {EXPECTED}, found {given!r}")
    if unit == "%":
        return max(int(number / 100 * free_memory()), 1)
    return max(int(number * free_memory()) if not unit and number <= 1 else int(number * UNITS[unit]), 1)


def _read(given: object) -> tuple[float, str]:
    """A number and its unit; 0 where that is not to be read."""
    if isinstance(given, str):
        match = re.fullmatch(r"(\d+\.?\d*|\.\d+)\s*(?:(%)|([kmgt]i?)?b?)", given.strip().lower())
        return (float(match[1]), match[2] or match[3] or "") if match else (0.0, "")
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        return 0.0, ""
    return float(given), ""


def free_memory() -> int:
    """Bytes that can be taken without driving others out, within the limits of the process's control groups."""
    found = _free_on_this_machine()
    limits = [left for folder in _groups() if (left := _left_in(folder)) is not None]
    return max(min([UNKNOWN if found is None else found, *limits]), 1)


def format_bytes(size: float) -> str:
    """A number of bytes for a person: 1.5 GB."""
    units = ["bytes", "kB", "MB", "GB", "TB"]
    power = next((power for power in range(len(units)) if size < 1000 ** (power + 1)), len(units) - 1)
    number = size / 1000**power
    return f"{number:.0f} {units[power]}" if number >= 10 or not power else f"{number:.1f} {units[power]}"


def _free_on_this_machine() -> int | None:
    if sys.platform == "win32":
        return _free_on_windows()
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    with suppress(AttributeError, OSError, ValueError):  # macOS: half of all there is
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return None


def _free_on_windows() -> int | None:
    import ctypes

    sizes = ("total", "available", "page_total", "page_free", "virtual_total", "virtual_free", "extended")
    fields = [("length", ctypes.c_ulong), ("load", ctypes.c_ulong), *((name, ctypes.c_ulonglong) for name in sizes)]
    status = type("Status", (ctypes.Structure,), {"_fields_": fields})()
    status.length = ctypes.sizeof(status)
    with suppress(AttributeError, OSError):
        if ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):  # type: ignore[attr-defined,unused-ignore]
            return int(status.available)
    return None


def _groups() -> list[Path]:
    """The folders of this process's control groups, its own and those around it."""
    folders = []
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers and "memory" not in controllers.split(","):
                continue
            root = GROUPS / "memory" if controllers else GROUPS
            inner = root / path.lstrip("/")
            folders += [each for each in (inner, *inner.parents) if each == root or root in each.parents]
    return folders


def _left_in(folder: Path) -> int | None:
    """The limit of a control group less what it uses; what can be dropped, such as cached files, counts as free."""
    for limit, used, cache in (
        ("memory.max", "memory.current", "inactive_file"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ):
        with suppress(OSError, ValueError):
            left = int((folder / limit).read_text()) - int((folder / used).read_text())  # "max" is no number
            rows = (line.split() for line in (folder / "memory.stat").read_text().splitlines())
            return max(left + next((int(row[1]) for row in rows if row[0] == cache), 0), 0)
    return None
