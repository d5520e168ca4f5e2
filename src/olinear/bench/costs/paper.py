"""The paper's table of costs: `data/efficiency_paper.csv`, as printed, and in one unit for each quantity."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import cache

from olinear.bench.spec.datafiles import data_rows
from olinear.models import MAIN

# To single parameters and multiplications, milliseconds and MB.
UNITS = {"M": 1e6, "G": 1e9, "ms": 1.0, "s": 1e3, "MB": 1.0, "GB": 1024.0}


@dataclass(frozen=True)
class Printed:
    """A cell of the table: its text and unit. OOM is what it prints for a model that does not fit."""

    text: str
    unit: str

    @property
    def value(self) -> float | None:
        """In the unit that ours have; None if it is no number."""
        return None if self.text == "OOM" else float(self.text) * UNITS[self.unit]

    def agrees(self, ours: int) -> bool:
        """Whether our count would be printed like this."""
        if self.value is None:
            return False
        printed = Decimal(self.text)
        return (Decimal(ours) / int(UNITS[self.unit])).quantize(printed, ROUND_HALF_UP) == printed


@cache
def printed_costs() -> dict[tuple[str, str, int], dict[str, Printed]]:
    """(model, form, series) -> quantity -> cell; OLinear's own code is the plain form."""
    found: dict[tuple[str, str, int], dict[str, Printed]] = {}
    for row in data_rows("efficiency_paper.csv"):
        key = row["model"], row["form"], int(row["series"])
        found.setdefault(key, {})[row["quantity"]] = Printed(row["printed"], row["unit"])
    return found


def printed_cell(model: str, form: str, series: int, quantity: str) -> Printed | None:
    return printed_costs().get((model, form, series), {}).get(quantity)


def printed_ratio(model: str, form: str, series: int, quantity: str) -> float | str | None:
    """The paper's number over that of its OLinear on the same dataset."""
    cell = printed_cell(model, form, series, quantity)
    olinear = printed_cell(MAIN, "plain", series, quantity)
    if cell is None or olinear is None or not olinear.value:
        return None
    return cell.text if cell.value is None else cell.value / olinear.value
