"""What mixing costs by formula and by counting, and what whole models cost by measurement."""

from pathlib import Path

import torch

from olinear.bench.costs.cases import MATCHED, NORMLIN, PLAIN_FORM
from olinear.bench.costs.plot import SERIES, find_bubbles, missing_in_words, plot_costs
from olinear.bench.costs.rows import CostRow, read_costs
from olinear.bench.figures.looking import Show
from olinear.bench.figures.registry import FigureRow, Places, save_small
from olinear.bench.store.results import read_results
from olinear.core.runtime import count_multiplications
from olinear.evaluation.analysis import MixingCost, attention_cost, normlin_cost
from olinear.evaluation.plots import Curve, CurvePanel, plot_curves
from olinear.models import MAIN
from olinear.models.zoo import token_mixer

TOKENS = (8, 16, 32, 64, 128, 256, 512, 1024, 2048)
COUNTED = (8, 64, 321, 862)
WIDTH, HEADS = 512, 8
KINDS = {"NormLin module": "normlin", "multi-head attention": "attention"}


def cost_formulas(folder: Path, places: Places, show: Show) -> list[FigureRow]:
    """The table's formulas against n, with counted operations on them, and the memory measured in whole models."""
    formulas = {"NormLin module": normlin_cost, "multi-head attention": lambda n, m: attention_cost(n, m, HEADS)}
    rows, curves = list[FigureRow](), list[Curve]()
    for n in COUNTED:
        by_kind: dict[str, tuple[int, MixingCost]] = {}
        for name, mixer in KINDS.items():
            by_kind[name] = count_mixer(mixer, n), formulas[name](n, WIDTH)
            rows.append(FigureRow(f"n = {n}", f"{name}: multiplications counted / formula", _over(*by_kind[name])))
        (counted, ours), (theirs_counted, theirs) = by_kind.values()
        rows.append(FigureRow(f"n = {n}", "multiplications, NormLin / attention, counted", counted / theirs_counted))
        rows.append(FigureRow(f"n = {n}", "memory, NormLin / attention, by formula", ours.memory / theirs.memory))
    for name, formula in formulas.items():
        points = [formula(n, WIDTH).multiplications / 1e6 for n in TOKENS]
        curves.append(Curve(name, TOKENS, points))
    for name, mixer in KINDS.items():
        counts = [count_mixer(mixer, n) / 1e6 for n in COUNTED]
        curves.append(Curve(f"{name}, counted", COUNTED, counts, "marks", like=name))
    memory = [
        Curve(name, TOKENS, [formula(n, WIDTH).memory / 1e6 for n in TOKENS]) for name, formula in formulas.items()
    ]
    x_label = f"tokens n (width {WIDTH}, {HEADS} heads)"
    panels = [
        CurvePanel("multiplications", curves, x_label, "millions", (True, True)),
        CurvePanel("numbers kept, by formula", memory, x_label, "millions", (True, True)),
    ]
    save_small(plot_curves(panels), folder / "cost-formulas.png")
    return [*rows, *_measured(read_costs(places.results))]


def count_mixer(mixer: str, n: int, m: int = WIDTH) -> int:
    """The multiplications of one window in what mixes n tokens of width m, with the linear maps around it."""
    with torch.device("meta"):
        module = token_mixer(mixer, n, m, heads=HEADS)
        return count_multiplications(module, torch.empty(1, n, m))


def cost_picture(folder: Path, places: Places, show: Show) -> list[FigureRow]:
    """Accuracy against the time of a training step and of a forecast, from the committed rows."""
    costs, scores = read_costs(places.results), read_results(places.results)
    bubbles, missing = find_bubbles(costs, scores)
    asked, _ = find_bubbles(costs, scores, "inference")
    rows = []
    for stage, found in (("training", bubbles), ("inference", asked)):
        for each in found:
            rows += [
                FigureRow(each.name, f"{stage}: time, OLinear = 1", each.ratio),
                FigureRow(each.name, f"{stage}: peak memory, MB", each.memory),
            ]
    rows += [FigureRow(each.name, f"MSE, {SERIES} series", each.mse) for each in asked]
    if missing:
        rows.append(FigureRow("all", "left out", missing_in_words(missing)))
    if bubbles:
        save_small(plot_costs(bubbles, missing, asked), folder / "cost-picture.png")
        rows += _ahead([(each.name, each.mse, each.ratio) for each in bubbles])
    return rows


def _ahead(found: list[tuple[str, float, float]]) -> list[FigureRow]:
    """How many are more accurate than OLinear, and how many cheaper to train."""
    own = [(mse, ratio) for name, mse, ratio in found if name == MAIN]
    if not own:
        return []
    (mse, ratio), others = own[0], [each for each in found if not each[0].startswith(MAIN)]
    return [
        FigureRow(MAIN, "other models drawn", len(others)),
        FigureRow(MAIN, "of them more accurate", sum(each[1] < mse for each in others)),
        FigureRow(MAIN, "of them quicker to train", sum(each[2] < ratio for each in others)),
        FigureRow(MAIN, "of them both", sum(each[1] < mse and each[2] < ratio for each in others)),
    ]


def _measured(costs: list[CostRow]) -> list[FigureRow]:
    """Whole models, NormLin for attention: training memory, like for like where the pair differs in more."""
    found = {(row.model, row.form, row.series): row.training_memory_mb for row in costs}
    rows = []
    for (model, form, series), memory in found.items():
        like = found.get((model, MATCHED, series)) or found.get((model, PLAIN_FORM, series))
        if form == NORMLIN and memory and like:
            what = f"training memory of {model}, NormLin / attention, measured"
            rows.append(FigureRow(f"n = {series}", what, memory / like))
    return rows


def _over(counted: int, formula: MixingCost) -> float:
    return counted / formula.multiplications
