"""Verdicts from numbers, pictures and tests."""

from collections.abc import Mapping

from olinear.bench.figures import judge as judge_figure
from olinear.bench.paper.listing import Holds, OfNumbers, OfPicture, OfTest
from olinear.bench.paper.numbers import read_numbers, read_rows
from olinear.bench.paper.verdict import Evidence, Verdict, Word


def by_numbers(answer: OfNumbers, evidence: Evidence) -> Verdict:
    numbers = read_numbers(evidence.results, answer.figure)
    if not numbers:
        reasons = sorted({row["value"] for row in read_rows(evidence.results, answer.figure) if row["value"]})
        why = f"all of it was left out: {', '.join(reasons)}" if reasons else "its numbers are not computed yet"
        return Verdict("open", why)
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


def by_test(answer: OfTest, evidence: Evidence) -> Verdict:
    if evidence.tests is not None:
        for name in answer.tests:
            file, _, test = name.partition("::")
            path = evidence.tests.parent / file
            if not path.exists() or f"def {test.split('::')[-1]}(" not in path.read_text("utf-8"):
                return Verdict("open", f"there is no test {name}")
    return Verdict("same", f"checked by {', '.join(answer.tests)}")


def by_picture(answer: OfPicture, evidence: Evidence) -> Verdict:
    if (evidence.pictures / answer.picture).exists():
        return Verdict("same", f"drawn from ours: {answer.picture}")
    return Verdict("open", f"{answer.picture} is not drawn yet")
