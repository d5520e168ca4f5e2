"""What a model can do."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["point", "quantiles", "samples"]
Role = Literal["past", "known", "static"]


@dataclass(frozen=True)
class Traits:
    """What a model can do, said once on its card; nothing else asks what it is.

    Args:
        outputs: the kinds of answers it gives.
        covariates: the roles of columns other than the targets that it reads.
        takes_batch: `forward` takes a `Batch` and returns an `Output`; otherwise `b t n -> b h n`, a point.
        closed_form: `solve(windows)` takes the place of training.
        zero_shot: rows of the fit teach it nothing: its forecasts are those of weights from elsewhere.
        slow: a forecast takes seconds, so a fit judges it by a few windows.
        from_rows: the class method `for_data(train, lookback, horizon, **options)` builds it from training rows.
        batch_dependent: the forecast of a window depends on the others of its batch.
        any_series: one model serves any number of series.
        any_length: one model serves any lookback and horizon.
        compact: `compact()` is the same function in its form for inference.
        orthogonal: `input_transform` and `output_transform` are its orthogonal bases.
    """

    outputs: frozenset[Kind] = frozenset({"point"})
    covariates: frozenset[Role] = frozenset()
    takes_batch: bool = False
    closed_form: bool = False
    zero_shot: bool = False
    slow: bool = False
    from_rows: bool = False
    batch_dependent: bool = False
    any_series: bool = False
    any_length: bool = False
    compact: bool = False
    orthogonal: bool = False
