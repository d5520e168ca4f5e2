"""A fitted forecaster as an ONNX file: raw values in, original units out."""

import json
import logging
import warnings
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from olinear.core import ConfigError, MissingDependencyError
from olinear.core.runtime import replacing
from olinear.forecaster.fitted import Fitted
from olinear.models import for_inference, traits_of


class RawForecast(nn.Module):
    """Scaling, the compact model, and the way back: `b t n -> b h n`, float64, in original units."""

    mean: Tensor
    deviation: Tensor
    active: Tensor
    constant: Tensor
    order: Tensor

    def __init__(self, fitted: Fitted):
        super().__init__()
        self.horizon = fitted.settings.horizon
        self.model = None if fitted.model is None else deepcopy(for_inference(fitted.model)).cpu()
        active, constant = np.flatnonzero(fitted.active), np.flatnonzero(~fitted.active)
        self.register_buffer("mean", torch.as_tensor(fitted.scaler.mean))
        self.register_buffer("deviation", torch.as_tensor(fitted.scaler.deviation))
        self.register_buffer("active", torch.as_tensor(active))
        self.register_buffer("constant", torch.as_tensor(constant))
        self.register_buffer("order", torch.as_tensor(np.argsort(np.concatenate([active, constant]))))

    def forward(self, x: Tensor) -> Tensor:  # b t n
        parts = []
        if self.model is not None:
            scaled = ((x - self.mean) / self.deviation).index_select(2, self.active).float()
            y = self.model(scaled).double()  # b h a
            parts.append(y * self.deviation[self.active] + self.mean[self.active])
        if len(self.constant):
            parts.append(x[:, -1:].index_select(2, self.constant).expand(-1, self.horizon, -1))
        return torch.cat(parts, 2).index_select(2, self.order)  # b h n


def export_onnx(fitted: Fitted, path: Path) -> None:
    """Write an ONNX file with the input `values` `[batch, lookback, series]` and the output `forecast`, both float64.

    The batch is free. The file's metadata names the series in their order. Gaps must be bridged before.
    """
    try:
        import onnxscript  # noqa: F401
    except ImportError as error:
        raise MissingDependencyError("export to ONNX needs more packages: pip install 'olinear[onnx]'") from error
    settings = fitted.settings
    if fitted.model is not None and not traits_of(fitted.model).compact:
        raise ConfigError(
            f"only a model with a compact form, such as OLinear, can be exported; this one is {settings.model.name}"
        )
    example = torch.zeros(2, settings.lookback, len(fitted.panel.series), dtype=torch.float64)
    quiet = logging.getLogger("torch.onnx")
    level = quiet.level
    quiet.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the exporter warns about itself
            program: Any = torch.onnx.export(
                RawForecast(fitted).eval(),
                (example,),
                dynamo=True,
                verbose=False,
                input_names=["values"],
                output_names=["forecast"],
                dynamic_shapes={"x": {0: torch.export.Dim("batch", min=1)}},
            )
    finally:
        quiet.setLevel(level)
    program.model.metadata_props.update(
        {
            "series": json.dumps(fitted.panel.series),
            "frequency": str(fitted.panel.frequency),
            "lookback": str(settings.lookback),
            "horizon": str(settings.horizon),
        }
    )
    with replacing(path) as part:
        program.save(part, external_data=False)
