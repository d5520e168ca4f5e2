"""The scores of a backtest, gathered while its windows go by."""

from typing import Any

from torch import Tensor

from olinear.core import Batch, Output, Point
from olinear.evaluation import Context, Scorer

ALL = "(all)"
STANDARDISED = ("mse", "mae")  # also given on the scale of the training rows


class BacktestScores:
    """Every score of each forecaster, of all series and of each; `unit` is each series' own scale, `n`."""

    def __init__(self, context: Context, unit: Tensor):
        self._context, self._unit = context, unit
        self._scorers: dict[str, tuple[Scorer, Scorer]] = {}  # forecaster -> in original units, and standardised

    def add(self, outputs: dict[str, Output], batch: Batch) -> None:
        """Score the forecasts of some windows by each forecaster."""
        for name, output in outputs.items():
            if name not in self._scorers:
                self._scorers[name] = Scorer(context=self._context), Scorer(STANDARDISED)
            plain, scaled = self._scorers[name]
            plain.add(output, batch)
            relative = Point((output.point - batch.targets) / self._unit)  # errors, which are forecasts of zero
            scaled.add(relative, Batch(batch.past, 0 * relative.point))

    def columns(self, series: list[str]) -> dict[str, list[Any]]:
        """One row for each forecaster and series, all of them first."""
        rows: list[dict[str, Any]] = []
        for name, scorers in self._scorers.items():
            plain, scaled = (scorer.scores() for scorer in scorers)
            for label, own, its in zip(
                [ALL, *series], [plain, *plain.by_series()], [scaled, *scaled.by_series()], strict=True
            ):
                first = {"forecaster": name, "series": label} | {key: own[key] for key in STANDARDISED}
                rows.append(first | {f"standardised_{key}": its[key] for key in STANDARDISED} | dict(own))
        columns = dict.fromkeys(column for row in rows for column in row)
        return {column: [row.get(column, float("nan")) for row in rows] for column in columns}
