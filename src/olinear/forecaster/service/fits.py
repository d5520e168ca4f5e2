"""From data to a model folder."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from olinear.core.runtime import Amount
from olinear.core.settings import check_given, flatten, read_settings
from olinear.forecaster.forecaster import Forecaster
from olinear.forecaster.learning import checkpoints_of
from olinear.forecaster.publishing import check_target
from olinear.training import Callback, claim_checkpoint


@dataclass(frozen=True)
class FitRequest:
    """A fit to make.

    Args:
        data: a file, `-` for standard input, or a frame.
        out: where the model folder goes; None keeps the model in memory.
        settings: by their flat names (`olinear.core.settings`); what is left out is as `config` says, then as the data
            suggest.
        config: a file of settings.
        context: keep the last rows in the folder, so that `predict` needs no data.
        resume: go on from the checkpoint that a stopped fit left next to `out`.
        progress: draw a live line on a terminal.
        callbacks: what listens to the training, and may stop it.
        memory: what calibration may take, such as `2GB` or a share of what is free; a quarter of that, if left out.
        notify: gets notes that are of use while it runs, such as how long that may take.
    """

    data: Any
    out: Path | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    config: Path | None = None
    context: bool = True
    resume: bool = False
    progress: bool = False
    callbacks: Sequence[Callback] = ()
    memory: Amount = None
    notify: Callable[[str], None] | None = None


@dataclass(frozen=True)
class FitResult:
    """The forecaster, what was chosen and found, and where it was saved."""

    forecaster: Forecaster
    report: dict[str, Any]
    out: Path | None


def merge_settings(request: FitRequest) -> dict[str, Any]:
    """What the file and then the request set, by flat names."""
    from_file = {} if request.config is None else read_settings(request.config)
    return from_file | {name: value for name, value in request.settings.items() if value is not None}


def choose(request: FitRequest) -> dict[str, Any]:
    """The settings of a fit by flat names: as its data would have them, or without data as they are given."""
    settings = merge_settings(request)
    if request.data is None:
        return check_given(settings)
    forecaster = Forecaster(settings.pop("horizon", None), **settings, progress=False)
    return flatten(forecaster.choose(request.data))


def fit(request: FitRequest) -> FitResult:
    """Train with a checkpoint, which goes when the model is saved; a fit that is stopped leaves it."""
    settings = merge_settings(request)
    forecaster = Forecaster(settings.pop("horizon", None), **settings, progress=request.progress)
    if request.out is not None:
        check_target(request.out)
    checkpoint = None if request.out is None else request.out.with_name(f"{request.out.name}.checkpoint")
    with claim_checkpoint(checkpoint):  # until the model is saved: `out` belongs to one fit at a time
        forecaster.fit(
            request.data,
            checkpoint=checkpoint,
            resume=request.resume,
            callbacks=request.callbacks,
            memory=request.memory,
            notify=request.notify,
        )
        if request.out is not None and checkpoint is not None:
            forecaster.save(request.out, context=request.context)
            for leftover in checkpoints_of(checkpoint, forecaster.fitted.settings.training.members):
                leftover.unlink(missing_ok=True)
    return FitResult(forecaster, forecaster.report(), request.out)
