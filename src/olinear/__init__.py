"""Multivariate time-series forecasting with OLinear.

Names load when they are first used, so `import olinear` itself is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from olinear.forecaster import Forecaster
    from olinear.frames import load_demo
    from olinear.nn import OLinear

__version__ = "0.1.0"

_HOMES = {"Forecaster": "olinear.forecaster", "OLinear": "olinear.nn", "load_demo": "olinear.frames"}

__all__ = ["Forecaster", "OLinear", "__version__", "load_demo"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'olinear' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
