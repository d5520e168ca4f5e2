"""What the results say of an item of the paper: the same, different, or not to be had."""

from collections.abc import Callable
from typing import Any

from olinear.bench.paper.by_files import by_numbers, by_picture, by_test
from olinear.bench.paper.by_rows import (
    by_costs,
    by_curves,
    by_metrics,
    by_spread,
    by_study,
    by_tasks,
    by_variants,
)
from olinear.bench.paper.listing import Item
from olinear.bench.paper.verdict import Evidence, Verdict

JUDGES: dict[str, Callable[[Any, Evidence], Verdict]] = {
    "tasks": by_tasks,
    "variants": by_variants,
    "study": by_study,
    "costs": by_costs,
    "spread": by_spread,
    "metrics": by_metrics,
    "curves": by_curves,
    "numbers": by_numbers,
    "test": by_test,
    "picture": by_picture,
}


def judge(item: Item, evidence: Evidence) -> Verdict:
    """What the results say of an item."""
    return JUDGES[item.answer.by](item.answer, evidence)
