from olinear.core.settings.training import TrainingConfig as TrainingConfig
