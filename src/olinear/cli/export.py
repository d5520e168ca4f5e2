"""`olinear export`: a model for other runtimes."""

from pathlib import Path
from typing import Annotated

import typer

from olinear.cli.common import print_message


def export(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A folder made by olinear fit.")],
    onnx: Annotated[Path, typer.Option(metavar="FILE", help="Where to write the ONNX file.")],
) -> None:
    """Write a model as ONNX: raw values in, forecasts in original units out, any batch.

    The input `values` is float64 `[batch, lookback, series]`, series in the order of the fit and without gaps; the
    output `forecast` is `[batch, horizon, series]`.

    Example: olinear export model --onnx model.onnx
    """
    from olinear.data.frames import check_writable
    from olinear.forecaster import Forecaster, export_onnx

    check_writable(str(onnx))
    fitted = Forecaster.load(model).fitted
    export_onnx(fitted, onnx)
    print_message(
        f"{len(fitted.panel.series)} series, {fitted.settings.lookback} -> {fitted.settings.horizon} steps, to {onnx}"
    )
