"""What was measured: one CSV row a case in `<results>/costs/efficiency.csv`, written as it comes."""

import csv
import io
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from olinear.bench.efficiency.cases import Case, find_models, make_cases, settings
from olinear.bench.table import write_text
from olinear.errors import DataError


@dataclass(frozen=True)
class CostRow:
    """The cost of a case. Times are the best of several, in milliseconds; memory is the peak of resident memory beyond
    what the process had before it built the model, in MB. A stage that was not measured has an error, or does not
    exist (what is solved or precomputed is not trained)."""

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


COLUMNS = [field.name for field in fields(CostRow)]
_INTEGERS = ("series", "lookback", "horizon", "batch", "parameters", "multiplications", "threads")
_NAMING = ("series", "lookback", "horizon", "batch")  # never empty
_NUMBERS = tuple(name for name in COLUMNS if name.endswith(("_ratio", "_ms", "_mb")))


def costs_file(results: Path) -> Path:
    """In a folder of its own: the CSV files beside it are rows of scores."""
    return results / "costs" / "efficiency.csv"


def read_costs(results: Path) -> list[CostRow]:
    """Every row; none if there is no file."""
    path = costs_file(results)
    if not path.exists():
        return []
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            missing = set(COLUMNS) - set(reader.fieldnames or [])
            if missing:
                raise DataError(f"{path} lacks the columns {', '.join(sorted(missing))}: mend it, or move it away")
            return [_parse(line, f"{path}, line {reader.line_num}") for line in reader]
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataError(f"{path} is damaged ({error}): mend it, or move it away") from error


def add_cost(results: Path, row: CostRow) -> None:
    """Put a row into the file, in the place of an earlier one of the same model, form and number of series."""
    path = costs_file(results)
    path.parent.mkdir(parents=True, exist_ok=True)
    others = [old for old in read_costs(results) if _name(old) != _name(row)]
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(map(_format, in_order([*others, row])))
    write_text(file.getvalue(), path)


def in_order(rows: Sequence[CostRow]) -> list[CostRow]:
    """By series, then as the registry has the models; what is no longer known comes last."""
    known = make_cases(find_models(None), sorted(settings().shapes.datasets.values()))
    places = {(case.model, case.form): place for place, case in reversed(list(enumerate(known)))}
    return sorted(rows, key=lambda row: (row.series, places.get((row.model, row.form), len(known))))


def _name(row: CostRow) -> tuple[str, str, int]:
    return row.model, row.form, row.series


def _format(row: CostRow) -> list[str]:
    return [
        f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value) for value in astuple(row)
    ]


def _parse(line: dict[str, str], place: str) -> CostRow:
    values: dict[str, object] = {name: line[name] for name in COLUMNS}
    try:
        if None in line or None in line.values():  # so csv marks too many cells, and too few
            raise ValueError("it must have a cell for each column")
        for name in _INTEGERS:
            values[name] = int(line[name]) if line[name] or name in _NAMING else None
        for name in _NUMBERS:
            values[name] = float(line[name]) if line[name] else None
    except ValueError as error:
        raise DataError(f"{place} is damaged ({error}): mend it, or take the line out") from error
    return CostRow(**values)  # type: ignore[arg-type]
