"""The report of a forecaster, and how it is shown."""

from typing import Any

from olinear.core.settings import flatten
from olinear.forecaster.fitted import Fitted
from olinear.forecaster.parameters import Parameters


class Reports(Parameters):
    """The report of a forecaster, and its look in a notebook and a console."""

    _fitted: Fitted | None

    @property
    def fitted(self) -> Fitted:
        raise NotImplementedError

    def report(self) -> dict[str, Any]:
        """What was chosen, found and noticed: settings, series, frequency, training, notes."""
        fitted = self.fitted
        settings = {name: value for name, value in flatten(fitted.settings).items() if value not in (None, {})}
        rows = {"series": len(fitted.panel.series), "frequency": str(fitted.panel.frequency)}
        return {
            **settings,
            **({} if fitted.is_general else rows),
            "parameters": sum(p.numel() for p in fitted.model.parameters()) if fitted.model else 0,
            **fitted.record,
            "notes": list(fitted.panel.notes),
        }

    def _facts(self) -> dict[str, Any]:
        """Once it is fitted, its report; before, its arguments."""
        return super()._facts() if self._fitted is None else {"fitted": self._describe()} | self.report()

    def _describe(self) -> str:
        panel, record = self.fitted.panel, self.fitted.record
        if self.fitted.is_general:
            return f"any series, pre-trained on {', '.join(record['pretrained_on'])}"
        return f"{len(panel.series)} series, {record['rows']} rows from {record['first']} to {record['last']}"

    def __repr__(self) -> str:
        fitted = "" if self._fitted is None else f" fitted to {self._describe()}"
        return f"<{super().__repr__()}{fitted}>" if fitted else super().__repr__()
