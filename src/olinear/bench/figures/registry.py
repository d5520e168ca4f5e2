"""The figures of the paper's analysis by name: what each claims, and where it is drawn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from olinear.core import ConfigError
from olinear.core.runtime import Waiting, replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure as PlotFigure

HOME = "olinear.bench.figures"
DPI, COLOURS = 90, 160


@dataclass(frozen=True)
class Places:
    """Where results, the models trained for figures, and datasets are."""

    results: Path = Path("results")
    data: Path | None = None

    @property
    def models(self) -> Path:
        return self.results / "models"


class FigureRow(NamedTuple):
    """A number of a figure: of which dataset, what, and how much; a reason where there is none."""

    dataset: str
    what: str
    value: float | int | str


Draw = Callable[[Path, Places, Callable[[str], None]], Sequence[FigureRow]]


@dataclass(frozen=True)
class Figure:
    """One of the paper's figures, or a table that is drawn.

    Args:
        name: how it is asked for.
        claim: what the paper claims with it, in one sentence.
        home: `module:function` that draws it, imported when it is made.
    """

    name: str
    claim: str
    home: str

    def make(self, folder: Path, places: Places | None = None) -> list[dict[str, object]]:
        """Draw it into a folder as `<name>.png` (and `<name>-….png`), and give its numbers: dataset, what, value."""
        module, _, function = self.home.partition(":")
        draw: Draw = getattr(import_module(f"{HOME}.{module}"), function)
        folder.mkdir(parents=True, exist_ok=True)
        with Waiting(f"drawing {self.name}") as waiting:
            rows = draw(folder, places or Places(), lambda text: waiting.show(f"{self.name}: {text}"))
        return [_plain(row) for row in rows]


def find_figure(name: str) -> Figure:
    """A figure by its name."""
    if name not in FIGURES:
        raise ConfigError(f"no figure is called {name!r}: there are {', '.join(FIGURES)}")
    return FIGURES[name]


def save_small(figure: "PlotFigure", path: Path) -> None:
    """A picture for a page: with few pixels and few colours, a fifth of the bytes."""
    from PIL import Image  # comes with matplotlib

    from olinear.evaluation.plots import save_figure

    save_figure(figure, path, dpi=DPI)
    with Image.open(path) as drawn, replacing(path) as part:
        drawn.convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE).save(part, format="png", optimize=True)


def _plain(row: FigureRow) -> dict[str, Any]:
    """Six digits are more than any of these numbers is worth."""
    value = float(f"{row.value:.6g}") if isinstance(row.value, float) else row.value
    return {"dataset": row.dataset, "what": row.what, "value": value}


FIGURES = {
    each.name: each
    for each in (
        Figure(
            "time-and-transform",
            "OrthoTrans removes the correlation of steps, makes neighbouring windows alike, and gathers a series' "
            "energy in a few features",
            "domains:time_and_transform",
        ),
        Figure(
            "correlation-matrices",
            "the temporal correlation matrix of a dataset shows its periods",
            "domains:correlation_matrices",
        ),
        Figure(
            "compaction",
            "the eigenvalues of the correlation matrix decay rapidly: a few features of OrthoTrans hold most of the "
            "energy",
            "domains:compaction_curves",
        ),
        Figure(
            "jacobians",
            "at the same input the Jacobian of NormLin has larger entries on its diagonal than that of softmax",
            "gradients:jacobians",
        ),
        Figure(
            "ranks-olinear",
            "in the same place of OLinear the matrices of attention have a low rank, those of NormLin a high one",
            "ranks:ranks_olinear",
        ),
        Figure(
            "ranks-bases",
            "OrthoTrans gives attention matrices of higher rank than the Fourier and Haar bases or no transformation",
            "ranks:ranks_bases",
        ),
        Figure(
            "normlin-and-correlation",
            "the learnt weights of NormLin resemble the softmax of the series' correlation matrix",
            "similarity:normlin_and_correlation",
        ),
        Figure(
            "cost-formulas",
            "the NormLin module takes half of the multiplications of multi-head attention, and a memory smaller by the "
            "number of heads",
            "costs:cost_formulas",
        ),
        Figure(
            "cost-picture",
            "OLinear is more accurate than other forecasters at a low cost of training and of inference",
            "costs:cost_picture",
        ),
        Figure("forecasts", "OLinear's forecasts follow what came", "forecasts:forecasts"),
    )
}
