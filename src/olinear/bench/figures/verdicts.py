"""What the numbers of a figure say of its claim: on how many datasets each part of it holds."""

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from olinear.core import DataError

SIGNS: Mapping[str, Callable[[float, float], bool]] = {"<": operator.lt, ">": operator.gt}


@dataclass(frozen=True)
class Part:
    """A part of a claim: on a dataset, one number is smaller or larger than another, or than a constant.

    `{}` in both names stands for any text that is the same in both, such as the number of a block.
    """

    says: str
    left: str
    sign: str
    right: str | float


@dataclass(frozen=True)
class Verdict:
    """On how many of the datasets (or of their blocks) a part holds, and the medians of both sides."""

    figure: str
    says: str
    holds: int
    of: int
    left: float
    right: float


RANKS = (("effective rank", "effective rank / size"), ("rank", "rank / size"))
PARTS: dict[str, Sequence[Part]] = {
    "time-and-transform": (
        Part(
            "features correlate less than steps",
            "mean |correlation| of features, pearson",
            "<",
            "mean |correlation| of steps",
        ),
        *(
            Part(
                f"behind RevIN, features correlate less than those of the basis {basis}",
                "mean |correlation| of features, pearson, behind RevIN",
                "<",
                f"mean |correlation| of features, {basis}, behind RevIN",
            )
            for basis in ("fourier", "haar", "chebyshev")
        ),
        Part(
            "neighbouring windows are more alike in the sizes of their features than in steps",
            "neighbouring |features|' correlation, pearson",
            ">",
            "neighbouring windows' correlation",
        ),
    ),
    "compaction": tuple(
        Part(
            f"five features hold more than five of the basis {basis}{behind}",
            f"share of the first 5 features, pearson{behind}",
            ">",
            f"share of the first 5 features, {basis}{behind}",
        )
        for behind in ("", ", behind RevIN")
        for basis in ("identity", "haar", "fourier", "chebyshev")
    ),
    "jacobians": (
        *(
            Part(
                f"{kind} diagonal entry of NormLin above that of softmax, at {what}",
                f"at {what}, NormLin: {kind} diagonal x n",
                ">",
                f"at {what}, softmax: {kind} diagonal x n",
            )
            for what in ("NormLin's weights", "attention's scores")
            for kind in ("mean", "median")
        ),
        *(
            Part(
                f"with NormLin more entries carry the gradient, at {what}",
                f"at {what}, NormLin: share of entries that carry the gradient",
                ">",
                f"at {what}, softmax: share of entries that carry the gradient",
            )
            for what in ("NormLin's weights", "attention's scores")
        ),
        Part("median above, at Gaussian rows", "median diagonal, NormLin / softmax", ">", 1.0),
        Part("mean above, at Gaussian rows", "mean diagonal, NormLin / softmax", ">", 1.0),
    ),
    "ranks-olinear": tuple(
        Part(f"{name} of {one} above that of {other}", f"{one}: {what}", ">", f"{other}: {what}")
        for one, other in (
            ("NormLin", "attention"),
            ("NormLin", "attention, mean of heads"),
            ("NormLin", "NormLin before training"),
        )
        for name, what in RANKS
    ),
    "ranks-bases": tuple(
        Part(f"{name} of attention in {model}, OrthoTrans above {basis}", f"{model}, pearson: {what}", ">",
             f"{model}, {basis}: {what}")
        for model in ("OLinear", "iTransformer", "PatchTST")
        for basis in ("identity", "fourier", "haar")
        for name, what in RANKS[:1]
    ),
    "normlin-and-correlation": (
        Part("learnt weights are like the correlation, beyond chance", "{}, NormLin: p", "<", 0.05),
        Part("weights before training are, as much", "{}, before training: p", "<", 0.05),
        Part("what training changed is like the correlation, beyond chance", "{}, what training changed: p", "<", 0.05),
        Part(
            "weights are more like it than before training",
            "{}, NormLin: correlation off the diagonal",
            ">",
            "{}, before training: correlation off the diagonal",
        ),
        Part("training moved the weights by more than a tenth", "|W - W0| / |W0|", ">", 0.1),
    ),
    "cost-formulas": (
        Part("multiplications of NormLin at most half", "multiplications, NormLin / attention, counted", "<", 0.5001),
        *(
            Part(
                f"a training step of {model} takes less memory with NormLin",
                f"training memory of {model}, NormLin / attention, measured",
                "<",
                1.0,
            )
            for model in ("iTransformer", "PatchTST", "Leddam", "Fredformer")
        ),
    ),
    "cost-picture": (
        Part("other models that are more accurate and quicker to train: none", "of them both", "<", 1),
        Part("other models that are quicker to train: none", "of them quicker to train", "<", 1),
    ),
    "forecasts": (
        Part(
            "error below that of the last value", "MSE of the kept windows", "<", "MSE of the kept windows, last value"
        ),
    ),
}  # fmt: skip


def judge(figure: str, rows: Iterable[Mapping[str, object]]) -> list[Verdict]:
    """The verdicts on the parts of a figure's claim; none for a figure whose claim is not of numbers."""
    values = {
        (str(row["dataset"]), str(row["what"])): float(str(row["value"])) for row in rows if row["what"] != "left out"
    }
    return [_judge(figure, part, values) for part in PARTS.get(figure, ())]


def _judge(figure: str, part: Part, values: Mapping[tuple[str, str], float]) -> Verdict:
    pairs = list(_pairs(part, values))
    if not pairs:
        raise DataError(f"{figure} has no numbers for {part.says!r}: make the figure again")
    lefts, rights = ([pair[side] for pair in pairs] for side in (0, 1))
    holds = sum(SIGNS[part.sign](left, right) for left, right in pairs)
    return Verdict(figure, part.says, holds, len(pairs), round(median(lefts), 4), round(median(rights), 4))


def _pairs(part: Part, values: Mapping[tuple[str, str], float]) -> Iterable[tuple[float, float]]:
    before, mark, after = part.left.partition("{}")
    pattern = re.compile(re.escape(before) + ("(.+)" if mark else "()") + re.escape(after))
    for (dataset, what), left in values.items():
        found = pattern.fullmatch(what)
        if found is None:
            continue
        if isinstance(part.right, float | int):
            yield left, float(part.right)
        elif (dataset, part.right.format(found[1])) in values:
            yield left, values[dataset, part.right.format(found[1])]
