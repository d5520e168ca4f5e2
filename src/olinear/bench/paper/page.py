"""`docs/paper.md`: every item of the paper with its verdict."""

from collections import Counter
from collections.abc import Mapping
from os.path import relpath
from pathlib import Path

from olinear.bench.paper.judging import judge
from olinear.bench.paper.listing import Item, OfNumbers, OfPicture, items
from olinear.bench.paper.numbers import read_numbers
from olinear.bench.paper.verdict import Evidence, Verdict

HEAD = """# The paper, item by item

Every table, figure, equation and named system of the paper: what it claims, which command answers it here, and the
answer. `olinear paper list` prints this list, `olinear paper show NAME` one item with its numbers, and `olinear paper
run NAME` computes what is missing and then the answer. This page is written by `olinear paper list --page
docs/paper.md`.

*same*: what the item says is so here: mean ratios to the printed cells within 2 %, the same best method or one tied
with it, the claim of a picture on every dataset that was looked at. *different*: it is not, with the reason as far as
it is known. *not to be had*: it needs data that cannot be had. Cells are those with a result, of those whose data is at
hand, of those printed.
"""
TITLES = {"table": "Tables", "figure": "Figures", "equation": "Equations and proofs", "system": "Named systems"}


def paper_page(evidence: Evidence, page: Path) -> str:
    """The page as Markdown, for a file at that place, from which its pictures are linked."""
    verdicts = {item.name: judge(item, evidence) for item in items().values()}
    counts = Counter(verdict.word for verdict in verdicts.values())
    parts = [HEAD, ", ".join(f"{count} {word}" for word, count in counts.most_common()) + ".\n"]
    for kind, title in TITLES.items():
        parts.append(f"## {title}\n")
        parts += [_section(item, verdicts[item.name], evidence, page) for item in items().values() if item.kind == kind]
    return "\n".join(parts)


def _section(item: Item, verdict: Verdict, evidence: Evidence, page: Path) -> str:
    reason = reason_of(item, verdict)
    lines = [
        f"### {item.name}\n",
        f"{item.where}. {item.claim}\n",
        f"**{verdict.word}**{cells_in_words(verdict)}: {verdict.how}.{' ' + reason if reason else ''}\n",
        f"`{item.command}`\n",
    ]
    picture = picture_of(item, evidence)
    if picture is not None:
        lines.append(f"![{item.claim}]({relpath(picture, page.parent)})\n")
    return "\n".join(lines)


def cells_in_words(verdict: Verdict) -> str:
    return f" ({verdict.done} of {verdict.here} of {verdict.printed} cells)" if verdict.printed else ""


def reason_of(item: Item, verdict: Verdict) -> str:
    """Why it differs, or has no answer yet."""
    return {"different": item.why, "open": item.open}.get(verdict.word, "")


def picture_of(item: Item, evidence: Evidence) -> Path | None:
    """Its picture, if it has one that is drawn."""
    names: Mapping[type, str] = {
        OfNumbers: f"{getattr(item.answer, 'figure', '')}.png",
        OfPicture: getattr(item.answer, "picture", ""),
    }
    path = evidence.pictures / names.get(type(item.answer), "-")
    return path if path.is_file() else None


def numbers_of(item: Item, evidence: Evidence) -> dict[str, dict[str, float]]:
    """By dataset, the numbers behind its picture, if it has any."""
    return read_numbers(evidence.results, item.answer.figure) if isinstance(item.answer, OfNumbers) else {}
