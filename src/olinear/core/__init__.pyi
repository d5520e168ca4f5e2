from olinear.core.errors import CheckpointError as CheckpointError
from olinear.core.errors import ConfigError as ConfigError
from olinear.core.errors import DataError as DataError
from olinear.core.errors import MissingDependencyError as MissingDependencyError
from olinear.core.errors import NotFittedError as NotFittedError
from olinear.core.errors import OLinearError as OLinearError
from olinear.core.errors import OutputError as OutputError
from olinear.core.errors import TrainingDiverged as TrainingDiverged
