"""What a model is trained for: how a batch is made ready, the loss, and how much of a batch counts.

Forecasting is the first task. Imputation hides values of the past in `prepare` and scores them; pre-training takes its
batches from several datasets. One loop trains them all.
"""

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from olinear.core import Batch, Output
from olinear.training.losses import LOSSES, count_present


class Task(Protocol):
    """What the training loop asks."""

    def prepare(self, batch: Batch) -> Batch:
        """The batch as the model is to see it."""
        ...

    def loss(self, output: Output, batch: Batch) -> Tensor:
        """The mean loss of an answer, to be made small; the same judges on validation."""
        ...

    def count(self, batch: Batch) -> int:
        """Over how many values that mean is: batches are averaged by it."""
        ...


@dataclass(frozen=True)
class Forecast:
    """Forecast the targets; the loss by its name in `LOSSES`. Missing targets do not count."""

    loss_name: str = "weighted_l1"

    def prepare(self, batch: Batch) -> Batch:
        return batch

    def loss(self, output: Output, batch: Batch) -> Tensor:
        return LOSSES[self.loss_name](output.point, batch.targets)

    def count(self, batch: Batch) -> int:
        return count_present(batch.targets)
