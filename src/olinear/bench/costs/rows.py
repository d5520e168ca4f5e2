"""What was measured: one CSV row a case in `<results>/costs/efficiency.csv`, written as it comes."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from olinear.bench.costs.cases import Case, find_models, make_cases, settings
from olinear.core.runtime import column_names, read_records, write_records


@dataclass(frozen=True)
class CostRow:
    """The cost of a case. Times are the best of several calls, in milliseconds, or that of the last one needed for the
    memory if it took over ten seconds; memory is the peak of resident memory beyond what the process had before it
    built the model, in MB. A stage that was not measured has an error, or does not exist (what is solved or precomputed
    is not trained)."""

    model: str
    form: str
    series: int
    settings: str
    lookback: int
    horizon: int
    batch: int
    parameters: int | None = None
    multiplications: int | None = None
    training_ratio: float | None = None
    inference_ratio: float | None = None
    training_ms: float | None = None
    inference_ms: float | None = None
    reference_training_ms: float | None = None
    reference_inference_ms: float | None = None
    training_memory_mb: float | None = None
    inference_memory_mb: float | None = None
    threads: int | None = None
    versions: str = ""
    commit: str = ""
    training_error: str = ""
    inference_error: str = ""

    @property
    def case(self) -> Case:
        return Case(self.model, self.form, self.series, self.settings, self.lookback, self.horizon, self.batch)


COLUMNS = column_names(CostRow)


def costs_file(results: Path) -> Path:
    """In a folder of its own: the CSV files next to it are rows of scores."""
    return results / "costs" / "efficiency.csv"


def read_costs(results: Path) -> list[CostRow]:
    """Every row; none if there is no file."""
    path = costs_file(results)
    return read_records(path, CostRow) if path.exists() else []


def costs_of(cases: Sequence[Case], results: Path) -> list[CostRow]:
    """The rows of some cases; those of settings that are no longer so are left out."""
    return [row for row in read_costs(results) if row.case in cases]


def add_cost(results: Path, row: CostRow) -> None:
    """Put a row into the file, in the place of an earlier one of the same model, form and number of series."""
    path = costs_file(results)
    path.parent.mkdir(parents=True, exist_ok=True)
    others = [old for old in read_costs(results) if _name(old) != _name(row)]
    write_records(path, in_order([*others, row]), CostRow)


def in_order(rows: Sequence[CostRow]) -> list[CostRow]:
    """By series, then as the registry has the models; what is no longer known comes last."""
    known = make_cases(find_models(None), sorted(settings().shapes.datasets.values()))
    places = {(case.model, case.form): place for place, case in reversed(list(enumerate(known)))}
    return sorted(rows, key=lambda row: (row.series, places.get((row.model, row.form), len(known))))


def _name(row: CostRow) -> tuple[str, str, int]:
    return row.model, row.form, row.series
