"""Every exception a user of olinear can meet."""


class OLinearError(Exception):
    """The base of them all: `except OLinearError` catches whatever olinear itself raises."""


class DataError(OLinearError, ValueError):
    """Data that cannot be used as it is: its shape, its values or its time axis."""


class ConfigError(OLinearError, ValueError):
    """An argument or setting out of its range."""


class OutputError(OLinearError, OSError):
    """A file or folder that cannot be written."""


class NotFittedError(OLinearError, RuntimeError):
    """A forecaster asked for something that only a fitted one has."""


class CheckpointError(OLinearError, RuntimeError):
    """A saved file that is absent, damaged, foreign or made with other settings."""


class TrainingDiverged(OLinearError, RuntimeError):
    """The loss stopped being a finite number. `epoch`, `step` and `history` say what was seen."""

    def __init__(self, message: str, *, epoch: int, step: int, history: list[dict[str, float]]):
        super().__init__(message)
        self.epoch = epoch
        self.step = step
        self.history = history


class MissingDependencyError(OLinearError, ImportError):
    """An optional package is needed; the message names the extra that brings it."""
