"""The paper's tables, figures, equations and named systems as data: `data/paper.toml`."""

from difflib import get_close_matches
from functools import cache
from typing import Annotated, Literal

from pydantic import Field

from olinear.bench.read.curves import Kind
from olinear.bench.spec.datafiles import Strict, data_settings
from olinear.core import ConfigError
from olinear.models import MAIN


class OfTasks(Strict):
    """Main results next to the published ones of the same tasks."""

    by: Literal["tasks"]
    model: str = MAIN
    suite: Literal["all", "long", "short"] = "all"
    datasets: tuple[str, ...] = ()


class OfVariants(Strict):
    """Results of some variants next to the cells that the paper prints of them."""

    by: Literal["variants"]
    variants: tuple[str, ...]
    model: str = MAIN


class OfStudy(Strict):
    """A study: whether the paper's best method is ours too."""

    by: Literal["study"]
    study: str


class OfCosts(Strict):
    """Counted parameters and multiplications, next to the printed ones."""

    by: Literal["costs"]
    forms: tuple[str, ...]


class OfSpread(Strict):
    """Seven seeds next to the printed means and deviations: of single horizons, or of the mean over all."""

    by: Literal["spread"]
    variant: str = "main"
    means: bool = False


class OfMetrics(Strict):
    """Other metrics of the main results, next to the printed ones."""

    by: Literal["metrics"]
    metrics: tuple[str, ...]


class OfCurves(Strict):
    """Curves of OLinear's error: it falls from the first to the last point, or stays within a factor of its least."""

    by: Literal["curves"]
    kinds: tuple[Kind, ...]
    within: float | None = None


class Holds(Strict):
    """What a figure's numbers are to say on every dataset: one quantity lies below another, or within limits."""

    what: str
    below: str | None = None
    at_least: float | None = None
    at_most: float | None = None


class OfNumbers(Strict):
    """The numbers behind a picture: `results/paper/NAME.csv`, with the columns dataset, what and value.

    Without `holds` they are judged by what the figure itself claims, or by those parts of it that have `only` in them.
    """

    by: Literal["numbers"]
    figure: str
    only: str = ""
    holds: tuple[Holds, ...] = ()


class OfTest(Strict):
    """What can be proved, or checked by an independent formula: a test of ours."""

    by: Literal["test"]
    tests: tuple[str, ...]


class OfPicture(Strict):
    """What a picture shows without a claim in numbers: forecasts, matrices, the structure of the model."""

    by: Literal["picture"]
    picture: str


Answer = Annotated[
    OfTasks | OfVariants | OfStudy | OfCosts | OfSpread | OfMetrics | OfCurves | OfNumbers | OfTest | OfPicture,
    Field(discriminator="by"),
]


class Item(Strict):
    """Something that the paper shows, and how to see whether it is so here.

    Args:
        where: its number in the paper.
        commands: what answers it, one after the other, without `olinear` in front.
        why: of a difference, as far as it is known.
        open: why it has no answer yet, and about how long that takes.
    """

    name: str
    kind: Literal["table", "figure", "equation", "system"]
    where: str
    claim: str
    commands: tuple[str, ...]
    answer: Answer
    why: str = ""
    open: str = ""

    @property
    def command(self) -> str:
        """What answers it, as one types it."""
        return " && ".join(
            f"olinear {each}" if not each.startswith(("make ", "python ")) else each for each in self.commands
        )


@cache
def items() -> dict[str, Item]:
    """All items by name, in the order of the paper."""
    return {name: Item(name=name, **item) for name, item in data_settings("paper.toml").items()}


def find_item(name: str) -> Item:
    """An item by its name, however it is capitalised."""
    found = items().get(name.casefold())
    if found is None:
        near = get_close_matches(name.casefold(), items(), 3, 0.4)
        hint = f": did you mean {' or '.join(near)}?" if near else ""
        raise ConfigError(f"the paper's list has no {name!r}{hint or ': `olinear paper list` has all names'}")
    return found
