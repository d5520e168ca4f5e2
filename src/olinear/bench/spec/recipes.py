"""How a job is trained and on what, as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from olinear.bench.spec.identity import TaskKey
from olinear.core.settings import TrainingConfig
from olinear.data.datasets import Dataset

End = Literal["first", "last"]
Place = Literal["", "around", "patches"]


class Source(NamedTuple):
    """A dataset, and the ratio it is split by if not its own."""

    dataset: Dataset
    split: str | None = None


@dataclass(frozen=True)
class Bases:
    """What a model's orthogonal bases are, and the rows they are computed from."""

    rows_of: Source  # its training rows
    kind: str = "pearson"
    output: str | None = None  # the horizon's, if it is another
    share: float = 1.0  # of the rows, the newest


@dataclass(frozen=True)
class Recipe:
    """How a job is trained and on what; without what its variant changes, as the main results are."""

    key: TaskKey
    model: str
    options: Mapping[str, Any]
    training: TrainingConfig
    scored: Source
    trained: Source
    train_share: float = 1.0
    train_end: End = "first"
    bases: Bases | None = None  # None: what the model itself makes of its training rows
    normlin: Mapping[str, Any] = field(default_factory=dict)  # of NormLin in the mixer's place
    correlation: bool = False  # its matrix is made of the training rows' correlation and not learnt
    orthotrans: Place = ""  # around the model, or in each of its patches
    normlin_rate: float = 1.0  # of NormLin's matrix, over that of the other weights
    skip: str = ""  # the fixed basis of the network that the paper's rows of fixed bases are of, which is built instead

    @property
    def basis_rows(self) -> Source:
        """Where the bases come from."""
        return self.bases.rows_of if self.bases else self.trained

    @property
    def sources(self) -> dict[str, Dataset]:
        """The datasets it needs, by name."""
        return {each.dataset.name: each.dataset for each in (self.scored, self.trained, self.basis_rows)}


def with_precision(recipe: Recipe, precision: str) -> Recipe:
    """The same in another precision, unless its variant says which."""
    if recipe.training.precision != "float32":
        return recipe
    return replace(recipe, training=recipe.training.model_copy(update={"precision": precision}))
