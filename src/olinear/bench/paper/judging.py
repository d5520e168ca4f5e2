"""What the results say of an item of the paper: the same, different, or not to be had."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from olinear.bench.costs import costs_of, find_models, find_series, make_cases
from olinear.bench.costs.paper import printed_cell
from olinear.bench.figures import judge as judge_figure
from olinear.bench.paper.listing import Holds, Item, OfCosts, OfNumbers, OfPicture, OfStudy, OfTasks, OfTest, OfVariants
from olinear.bench.paper.numbers import read_numbers, read_rows
from olinear.bench.read.comparison import compare
from olinear.bench.read.summary import Selection, score_tasks
from olinear.bench.read.variants import ALL_HORIZONS, paper_scores, score_variant
from olinear.bench.spec.study import find_study
from olinear.bench.spec.variants import find_variant
from olinear.bench.store.rows import Row
from olinear.data.datasets import UNKNOWN, find_dataset

Word = Literal["same", "different", "not to be had", "open"]
WITHIN = 0.02  # so far may a mean ratio to the printed cells lie from 1


@dataclass(frozen=True)
class Evidence:
    """What there is to judge by: rows of results, and the folders of numbers and pictures."""

    rows: Sequence[Row]
    results: Path
    pictures: Path
    tests: Path | None = None  # where our own tests are, to see that those that are named exist
    cached: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Verdict:
    """A word, what it rests on, and of how many printed cells: with a result, whose data can be had, printed."""

    word: Word
    how: str
    done: int = 0
    here: int = 0
    printed: int = 0


def judge(item: Item, evidence: Evidence) -> Verdict:
    """What the results say of an item."""
    return _JUDGES[item.answer.by](item.answer, evidence)


def _by_ratio(ratios: Sequence[tuple[float, float]], here: int, printed: int) -> Verdict:
    """Of MSE and MAE, ours over the printed, over all cells that have a result."""
    if not printed:
        return Verdict("open", "what the paper prints of it is not among our tables yet")
    if not here:
        return Verdict("not to be had", f"none of its {printed} cells is of a dataset that can be had", 0, 0, printed)
    if not ratios:
        return Verdict("open", f"none of {here} cells at hand has a result", 0, here, printed)
    mse, mae = (fmean(column) for column in zip(*ratios, strict=True))
    word: Word = "same" if max(abs(mse - 1), abs(mae - 1)) <= WITHIN else "different"
    how = f"mean ratio to the printed cells: MSE {mse:.3f}, MAE {mae:.3f}, over {len(ratios)} of {here} at hand"
    return Verdict(word, how, len(ratios), here, printed)


def _tasks(answer: OfTasks, evidence: Evidence) -> Verdict:
    selection = Selection(answer.model, answer.suite, answer.datasets)
    scores = score_tasks(evidence.rows, selection)
    here = sum(_is_to_be_had(key.dataset) for key in selection.tasks)
    return _by_ratio([(score.mse.ratio, score.mae.ratio) for score in scores], here, len(selection.tasks))


def _variants(answer: OfVariants, evidence: Evidence) -> Verdict:
    ratios, here, printed = [], 0, 0
    for name in answer.variants:
        variant = find_variant(name)
        cells = paper_scores(variant, answer.model)
        printed += len(cells)
        here += sum(_is_to_be_had(place[0]) for place in cells)
        scores = score_variant(evidence.rows, variant, answer.model)
        for (dataset, lookback, horizon), (mse, mae) in cells.items():
            group = [s for s in scores if s.key[:2] == (dataset, lookback) and horizon in (s.key.horizon, ALL_HORIZONS)]
            if mse is None or mae is None or not group:
                continue
            if horizon == ALL_HORIZONS and {s.key.horizon for s in group} < set(_horizons(dataset, lookback)):
                continue
            ratios.append((fmean(s.mse.ours for s in group) / mse, fmean(s.mae.ours for s in group) / mae))
    return _by_ratio(ratios, here, printed)


def _study(answer: OfStudy, evidence: Evidence) -> Verdict:
    found = find_study(answer.study)
    comparisons = compare(found, evidence.rows)
    compared = [each for each in comparisons if len(each.printed) > 1]
    here = sum(_is_to_be_had(place.dataset) for place in found.on) * len(found.models)
    unprinted = [each for each in comparisons if each.methods > 1 and len(each.printed) < 2]
    if not compared:
        if not unprinted:
            return Verdict("open", "no two of its methods have results", 0, here, here)
        first = next(iter(found.methods))
        ahead = sum(each.best.method == first or _is_tied(each, first) for each in unprinted)
        word: Word = "same" if ahead == len(unprinted) else "different"
        how = f"{first} is best, or tied with the best, in {ahead} of {len(unprinted)} comparisons; no table survives"
        return Verdict(word, how, len(unprinted), here, here)
    agree = sum(each.has_the_papers_best for each in compared)
    word = "same" if agree == len(compared) else "different"
    how = f"the paper's best method is ours too, or tied with it, in {agree} of {len(compared)} comparisons"
    return Verdict(word, how, len(compared), here, here)


def _is_tied(comparison: Any, method: str) -> bool:
    return any(score.method == method and comparison.tied(score, comparison.best) for score in comparison.known)


def _costs(answer: OfCosts, evidence: Evidence) -> Verdict:
    rows = costs_of(make_cases(find_models(None), find_series(None)), evidence.results)
    agree, cells = 0, 0
    for row in (row for row in rows if row.case.form in answer.forms):
        for quantity in ("parameters", "multiplications"):
            cell = printed_cell(row.case.model, row.case.form, row.case.series, quantity)
            ours = getattr(row, quantity)
            if cell is not None and cell.value is not None and ours is not None:
                cells += 1
                agree += cell.agrees(ours)
    if not cells:
        return Verdict("open", "nothing is measured")
    word: Word = "same" if agree == cells else "different"
    how = f"{agree} of {cells} printed counts of parameters and multiplications are ours to the last printed digit"
    return Verdict(word, how, cells, cells, cells)


def _numbers(answer: OfNumbers, evidence: Evidence) -> Verdict:
    numbers = read_numbers(evidence.results, answer.figure)
    if not numbers:
        return Verdict("open", "its numbers are not computed yet")
    if not answer.holds:
        return _claimed(answer, evidence)
    parts, held, asked = [], 0, 0
    for holds in answer.holds:
        found = [_holds(holds, values) for values in numbers.values()]
        known = [each for each in found if each is not None]
        held, asked = held + sum(known), asked + len(known)
        parts.append(f"{_in_words(holds)} on {sum(known)} of {len(known)} datasets")
    if not asked:
        return Verdict("open", "none of its numbers is computed yet")
    word: Word = "same" if held == asked else "different"
    return Verdict(word, "; ".join(parts), len(numbers), len(numbers), len(numbers))


def _claimed(answer: OfNumbers, evidence: Evidence) -> Verdict:
    """By the parts of the figure's own claim."""
    rows = read_rows(evidence.results, answer.figure)
    parts = [part for part in judge_figure(answer.figure, rows) if answer.only in part.says]
    word: Word = "same" if all(part.holds == part.of for part in parts) else "different"
    how = "; ".join(f"{part.says}: {part.holds} of {part.of}" for part in parts)
    return Verdict(word, how, len(parts), len(parts), len(parts)) if parts else Verdict("open", "it claims no numbers")


def _holds(holds: Holds, values: Mapping[str, float]) -> bool | None:
    """Whether it holds on one dataset; None where a quantity is not there."""
    if holds.what not in values or (holds.below is not None and holds.below not in values):
        return None
    value = values[holds.what]
    fits = holds.below is None or value < values[holds.below]
    return (
        fits
        and (holds.at_least is None or value >= holds.at_least)
        and (holds.at_most is None or value <= holds.at_most)
    )


def _in_words(holds: Holds) -> str:
    limits = [f"below {holds.below}"] if holds.below is not None else []
    limits += [f"at least {holds.at_least:g}"] if holds.at_least is not None else []
    limits += [f"at most {holds.at_most:g}"] if holds.at_most is not None else []
    return f"{holds.what} is {' and '.join(limits)}"


def _test(answer: OfTest, evidence: Evidence) -> Verdict:
    if evidence.tests is not None:
        for name in answer.tests:
            file, _, test = name.partition("::")
            path = evidence.tests.parent / file
            if not path.exists() or f"def {test.split('::')[-1]}(" not in path.read_text("utf-8"):
                return Verdict("open", f"there is no test {name}")
    return Verdict("same", f"checked by {', '.join(answer.tests)}")


def _picture(answer: OfPicture, evidence: Evidence) -> Verdict:
    if (evidence.pictures / answer.picture).exists():
        return Verdict("same", f"drawn from ours: {answer.picture}")
    return Verdict("open", f"{answer.picture} is not drawn yet")


def _is_to_be_had(dataset: str) -> bool:
    return find_dataset(dataset).sha256 != UNKNOWN  # which is known of what was ever here


def _horizons(dataset: str, lookback: int) -> Sequence[int]:
    return find_dataset(dataset).horizons[lookback]


_JUDGES: dict[str, Callable[[Any, Evidence], Verdict]] = {
    "tasks": _tasks,
    "variants": _variants,
    "study": _study,
    "costs": _costs,
    "numbers": _numbers,
    "test": _test,
    "picture": _picture,
}
