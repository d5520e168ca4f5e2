"""What names a task, a variant and a job, each with one spelling: in files, cells, arguments and messages."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

from olinear.core import ConfigError
from olinear.models import MAIN

FIRST_SEED = 2023
AND = ","  # between the parts of a variant; no name or value has it
_TASK = re.compile(r"(?P<dataset>\S+) (?P<lookback>\d+)->(?P<horizon>\d+)")
_JOB = re.compile(rf"{_TASK.pattern} (?P<model>\S+)(?: (?P<variant>.+))? seed (?P<seed>\d+)", re.DOTALL)


class TaskKey(NamedTuple):
    """What names a task in every table: `ILI 36->24`."""

    dataset: str
    lookback: int
    horizon: int

    def __str__(self) -> str:
        return f"{self.dataset} {self.lookback}->{self.horizon}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """The inverse of `str`."""
        found = _TASK.fullmatch(text)
        if found is None:
            raise ConfigError(f"a task is written as 'ILI 36->24', found {text!r}")
        return cls(found["dataset"], int(found["lookback"]), int(found["horizon"]))

    @property
    def suite(self) -> str:
        """`long` for the paper's tables with lookback 96, `short` for those with 12 and 36."""
        return "long" if self.lookback == 96 else "short"


@dataclass(frozen=True)
class Variant:
    """How a job differs from the main one: `main`, `name`, `name=value`, or a method of a study, `study/method`.

    Several at once are written with commas: `OLinear-C,lookback-search`.
    """

    name: str = "main"  # or the study's
    value: str = ""
    method: str = ""
    also: tuple["Variant", ...] = ()  # each a single one

    def __str__(self) -> str:
        if self.also:
            return AND.join(map(str, self.parts))
        return f"{self.name}/{self.method}" if self.method else f"{self.name}={self.value}" if self.value else self.name

    @classmethod
    def parse(cls, text: str) -> Self:
        """The inverse of `str`; whether there is such a variant is for `find_variant` to say."""
        first, *others = map(cls._parse_one, text.split(AND))
        return replace(first, also=tuple(others))

    @classmethod
    def _parse_one(cls, text: str) -> Self:
        name, mark, rest = re.fullmatch(r"([^/=]*)([/=]?)(.*)", text, re.DOTALL).groups()  # type: ignore[union-attr]
        return cls(name, method=rest) if mark == "/" else cls(name, rest)

    @classmethod
    def join(cls, parts: Sequence["Variant"]) -> "Variant":
        """Several single ones as one; none are the main one."""
        return replace(parts[0], also=tuple(parts[1:])) if parts else cls()

    @property
    def parts(self) -> "tuple[Variant, ...]":
        """The single ones that it is made of."""
        return (replace(self, also=()), *self.also)

    @property
    def is_main(self) -> bool:
        return self == MAIN_VARIANT

    def has(self, name: str) -> bool:
        """Whether one of its parts is of that name."""
        return any(part.name == name for part in self.parts)


MAIN_VARIANT = Variant()


@dataclass(frozen=True)
class JobKey:
    """One job, and the key of its result row: `ILI 36->24 OLinear embed=8 seed 2023`; the main variant goes unsaid."""

    key: TaskKey
    model: str = MAIN
    variant: Variant = field(default=MAIN_VARIANT)
    seed: int = FIRST_SEED

    def __str__(self) -> str:
        variant = "" if self.variant.is_main else f" {self.variant}"
        return f"{self.key} {self.model}{variant} seed {self.seed}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """The inverse of `str`."""
        found = _JOB.fullmatch(text)
        if found is None:
            raise ConfigError(f"a job is written as 'ILI 36->24 OLinear embed=8 seed 2023', found {text!r}")
        key = TaskKey(found["dataset"], int(found["lookback"]), int(found["horizon"]))
        return cls(key, found["model"], Variant.parse(found["variant"] or "main"), int(found["seed"]))

    @property
    def is_first(self) -> bool:
        """Whether it is the main variant with the first seed, of which more is kept than a row."""
        return self.variant.is_main and self.seed == FIRST_SEED

    @property
    def name(self) -> str:
        """A name for its files."""
        return "_".join(map(str, (*self.key, self.model, self.variant, self.seed))).replace("/", "-")
