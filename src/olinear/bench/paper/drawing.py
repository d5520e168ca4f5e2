"""The pictures that answer items of the paper, and the numbers behind them."""

from pathlib import Path

from olinear.bench.figures import FIGURES, Figure, Places
from olinear.bench.paper.listing import Item, OfNumbers, OfPicture
from olinear.bench.paper.numbers import write_numbers


def find_figure_of(item: Item) -> Figure | None:
    """What draws an item; None where rows of the benchmark answer it."""
    answer = item.answer
    if isinstance(answer, OfNumbers):
        return FIGURES.get(answer.figure)
    if isinstance(answer, OfPicture):
        return FIGURES.get(answer.picture.rpartition(".")[0])
    return FIGURES.get(item.commands[0].removeprefix("paper run "))


def draw_figure(figure: Figure, results: Path, pictures: Path) -> None:
    """Draw it, and keep its numbers."""
    pictures.mkdir(parents=True, exist_ok=True)
    write_numbers(results, figure.name, figure.make(pictures, Places(results)))
