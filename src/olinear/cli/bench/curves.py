"""`olinear bench curves`: how an error changes with a size, a rate, the lookback or the amount of data."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from olinear.cli.bench.grouping import with_groups
from olinear.cli.bench.options import Dataset, Horizon, Results, Written
from olinear.cli.bench.output import check_out, deliver, read_rows
from olinear.cli.common import check_picture, print_message
from olinear.core import DataError

Varied = Literal["lookback", "share", "lr", "blocks", "width", "embed"]
EXAMPLES = {"lookback": "lookback=48", "share": "share=0.2", "lr": "lr=1e-3", "blocks": "blocks=3"}
EXAMPLES |= {"width": "width=256", "embed": "embed=8"}


@with_groups()
def curves(
    written: Written,
    kind: Annotated[Varied, typer.Option(help="What changes.")],
    metric: Annotated[str, typer.Option(help="Which metric of the rows.")] = "mse",
    dataset: Dataset = None,
    horizon: Horizon = None,
    results: Results = Path("results"),
    plot: Annotated[str | None, typer.Option(metavar="FILE", help="Draw them: .png, .svg or .pdf.")] = None,
) -> None:
    """Print, and draw, the paper's figures that have no table: sensitivity, increasing lookback, less training data.

    A point is the mean over seeds, and over the horizons of a dataset that were varied. The main results are the point
    at their own size, rate or lookback. The rows are made by variants, such as `olinear bench run --variant
    lookback=48 --variant lookback=96 --dataset ETTh1 --horizon 96 --model all`.

    Example: olinear bench curves --kind share --horizon 96 --plot share.png
    """
    from olinear import bench
    from olinear.data.datasets import find_dataset
    from olinear.evaluation.plots import save_figure

    check_out(written.out, results)
    if plot is not None:
        check_picture(plot)
    names = [find_dataset(name).name for name in dataset or []]
    found = bench.find_curves(read_rows(results), kind, names, horizon or [], metric)
    if not found:
        raise DataError(
            f"{results} has no curve of {kind} with two points: make some with `olinear bench run --variant "
            f"{EXAMPLES[kind]}`"
        )
    deliver(bench.curve_table(found, kind, metric), bench.curve_lines(found), written)
    if plot is not None:
        save_figure(bench.draw_curves(found, kind, metric), plot)
        print_message(f"{len(found)} curves drawn in {plot}")
