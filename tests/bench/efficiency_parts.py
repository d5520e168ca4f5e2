"""Costs as if they had been measured."""

from olinear.bench.costs.cases import Case, find_models, make_cases
from olinear.bench.costs.rows import CostRow


def find_case(model: str, form: str = "main", series: int = 7) -> Case:
    """A case of the study by its name."""
    (found,) = [case for case in make_cases(find_models([model]), [series]) if case.form == form]
    return found


def cost(model: str, form: str = "main", series: int = 7, ratio: float = 2.0, **others: object) -> CostRow:
    """A row of a case, its times so many times OLinear's."""
    case = find_case(model, form, series)
    values: dict[str, object] = {"parameters": 1_000_000, "multiplications": 2_000_000, "threads": 2}
    for stage in case.stages:
        values |= {f"{stage}_ratio": ratio, f"{stage}_ms": 10 * ratio, f"reference_{stage}_ms": 10.0}
        values |= {f"{stage}_memory_mb": 50.0 * ratio}
    return CostRow(**vars(case), **(values | others))
