"""One training loop for any module that maps `b t n` to `b h n`. It knows nothing of files or frames."""

from olinear.training.config import TrainingConfig
from olinear.training.devices import pick_device
from olinear.training.loop import TrainingReport, train
from olinear.training.losses import LOSSES
from olinear.training.schedules import SCHEDULES

__all__ = ["LOSSES", "SCHEDULES", "TrainingConfig", "TrainingReport", "pick_device", "train"]
