from olinear.core.runtime.devices import pick_device as pick_device
from olinear.core.settings.training import TrainingConfig as TrainingConfig
from olinear.training.loop import TrainingReport as TrainingReport
from olinear.training.loop import train as train
from olinear.training.losses import LOSSES as LOSSES
from olinear.training.schedules import SCHEDULES as SCHEDULES
