"""Verdicts from rows of the benchmark."""

from collections.abc import Sequence
from statistics import fmean, median
from typing import Any

from olinear.bench.costs import costs_of, find_models, find_series, make_cases
from olinear.bench.costs.paper import printed_cell
from olinear.bench.paper.listing import OfCosts, OfCurves, OfMetrics, OfSpread, OfStudy, OfTasks, OfVariants
from olinear.bench.paper.verdict import WITHIN, Evidence, Verdict, Word, by_ratio, nothing_of
from olinear.bench.read.comparison import compare
from olinear.bench.read.curves import find_curves
from olinear.bench.read.measured import more_metrics
from olinear.bench.read.robustness import SEEDS, TIMES, measure_spread, paper_spread
from olinear.bench.read.summary import Selection, score_tasks
from olinear.bench.read.variants import ALL_HORIZONS, paper_scores, score_variant
from olinear.bench.spec.study import find_study
from olinear.bench.spec.variants import find_variant
from olinear.data.datasets import UNKNOWN, find_dataset
from olinear.models import MAIN


def by_tasks(answer: OfTasks, evidence: Evidence) -> Verdict:
    selection = Selection(answer.model, answer.suite, answer.datasets)
    scores = score_tasks(evidence.rows, selection)
    here = sum(_is_to_be_had(key.dataset) for key in selection.tasks)
    return by_ratio([(score.mse.ratio, score.mae.ratio) for score in scores], here, len(selection.tasks))


def by_variants(answer: OfVariants, evidence: Evidence) -> Verdict:
    ratios, here, printed = [], 0, 0
    for name in answer.variants:
        variant = find_variant(name)
        cells = paper_scores(variant, answer.model)
        printed += len(cells)
        here += sum(_is_to_be_had(place[0]) for place in cells)
        scores = score_variant(evidence.rows, variant, answer.model)
        for (dataset, lookback, horizon), (mse, mae) in cells.items():
            group = [s for s in scores if s.key[:2] == (dataset, lookback) and horizon in (s.key.horizon, ALL_HORIZONS)]
            if mse is None or not group:
                continue
            if horizon == ALL_HORIZONS and {s.key.horizon for s in group} < set(_horizons(dataset, lookback)):
                continue
            absolute = None if mae is None else fmean(s.mae.ours for s in group) / mae
            ratios.append((fmean(s.mse.ours for s in group) / mse, absolute))
    return by_ratio(ratios, here, printed)


def by_study(answer: OfStudy, evidence: Evidence) -> Verdict:
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


def by_costs(answer: OfCosts, evidence: Evidence) -> Verdict:
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


def by_spread(answer: OfSpread, evidence: Evidence) -> Verdict:
    """Whether the printed mean lies among our seeds."""
    variant = find_variant(answer.variant)
    places = {place for place in paper_spread(variant) if (place[2] == ALL_HORIZONS) == answer.means}
    here = sum(_is_to_be_had(place[0]) for place in places)
    scores, _ = measure_spread(evidence.rows, Selection(), variant)
    known = [score for score in scores if score.place in places and score.seeds >= SEEDS]
    if not known:
        return nothing_of(here, len(places), f"{SEEDS} seeds")
    inside, ratios = 0, []
    for score in known:
        ours, paper = score.ours["mse"], score.paper["mse"]
        theirs = paper.spread if paper.interval is None else paper.interval / TIMES
        inside += abs(ours.mean - paper.mean) <= TIMES * max(ours.spread or 0.0, theirs or 0.0)
        ratios += [ours.spread / theirs] if ours.spread and theirs else []
    word: Word = "same" if inside == len(known) else "different"
    how = f"the printed MSE lies within {TIMES} standard deviations of ours in {inside} of {len(known)} cells"
    how += f"; our deviation is {median(ratios):.2g} times the printed, in the median" if ratios else ""
    return Verdict(word, how, len(known), here, len(places))


def by_metrics(answer: OfMetrics, evidence: Evidence) -> Verdict:
    """Each metric over the printed one, in the mean over the tasks that have both."""
    printed = {key: cells for (model, key), cells in more_metrics().items() if model == MAIN}
    rows = [row for row in Selection().pick(evidence.rows) if row.is_result and row.key in printed]
    here = sum(_is_to_be_had(key.dataset) for key in printed)
    if not rows:
        return nothing_of(here, len(printed))
    ratios = {name: fmean(row.scores[name] / printed[row.key][name] for row in rows) for name in answer.metrics}
    word: Word = "same" if all(abs(ratio - 1) <= WITHIN for ratio in ratios.values()) else "different"
    said = ", ".join(f"{name} {ratio:.3f}" for name, ratio in ratios.items())
    done = len({row.key for row in rows})
    return Verdict(word, f"mean ratio to the printed values: {said}, over {done} tasks", done, here, len(printed))


def by_curves(answer: OfCurves, evidence: Evidence) -> Verdict:
    """Whether OLinear's error falls along its curves, or stays within a factor of its least."""
    parts, held, asked = [], 0, 0
    for kind in answer.kinds:
        curves = [curve for curve in find_curves(evidence.rows, kind) if curve.model == MAIN]
        errors = [[point.error for point in curve.points] for curve in curves]
        if answer.within is None:
            good, says = sum(each[-1] < each[0] for each in errors), f"falls with {kind}"
        else:
            good = sum(max(each) <= answer.within * min(each) for each in errors)
            says = f"stays within {answer.within:g} times its least, over {kind}"
        held, asked = held + good, asked + len(errors)
        parts.append(f"MSE {says}, on {good} of {len(errors)} curves")
    if not asked:
        return Verdict("open", "no curve has two points")
    return Verdict("same" if held == asked else "different", "; ".join(parts), asked, asked, asked)


def _is_to_be_had(dataset: str) -> bool:
    return find_dataset(dataset).sha256 != UNKNOWN  # which is known of what was ever here


def _horizons(dataset: str, lookback: int) -> Sequence[int]:
    return find_dataset(dataset).horizons[lookback]
