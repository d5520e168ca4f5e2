"""The costs next to the paper's: a table, and in words what agrees, what does not, and why."""

from collections import defaultdict
from collections.abc import Sequence

from olinear.bench.costs.cases import MATCHED, NORMLIN, PLAIN_FORM, REFERENCE, entry_of, settings
from olinear.bench.costs.counting import HOW_COUNTED, HOW_IMAGES_ARE_COUNTED, OF_IMAGES
from olinear.bench.costs.measuring import OUT_OF_MEMORY
from olinear.bench.costs.paper import Printed, printed_cell, printed_ratio
from olinear.bench.costs.rows import CostRow
from olinear.bench.costs.running import KILLED, TOO_SLOW
from olinear.bench.show.tables import Cell, Column, ResultTable
from olinear.models import MAIN

NAMES = (Column("series"), Column("model", False), Column("form", False))
COUNTS = (
    Column("parameters (M)"),
    Column("paper parameters (M)"),
    Column("multiplications (M)", decimals=2),
    Column("paper multiplications (M)"),
)
PARTS = ("counts", "training", "inference")

HOW_MEASURED = (
    "Times are the best of several calls; one of over ten seconds is not repeated. A ratio is to OLinear folded, "
    "measured in turns with the case in the same process. The ratio to OLinear plain is the quotient of two such "
    "ratios; next to it stands the paper's, to its own OLinear, which is the plain form, on a GPU (of times with one "
    "digit for 862 series). Memory is the peak beyond what the process had before it built the model."
)


def cost_table(rows: Sequence[CostRow], parts: Sequence[str] = PARTS) -> ResultTable:
    """A row a case, few series first: ours, and the paper's where it has one."""
    columns = list(NAMES)
    for part in parts:
        columns += COUNTS if part == "counts" else _stage_columns(part)
    cells = []
    plain = {row.series: row for row in rows if (row.model, row.form) == (MAIN, "plain")}
    for row in rows:
        line: list[Cell] = [row.series, row.model, row.form]
        for part in parts:
            line += _counts(row) if part == "counts" else _stage(row, plain.get(row.series), part)
        cells.append(line)
    return ResultTable(columns, cells)


def _stage_columns(stage: str) -> list[Column]:
    ratios = [Column(f"{stage} ratio"), Column(f"{stage} ratio to plain"), Column(f"paper {stage} ratio")]
    ours = [Column(f"{stage} (ms)", decimals=2), Column(f"{stage} (MB)", decimals=1)]
    return [*ratios, *ours, Column(f"paper {stage} (MB)")]


def _counts(row: CostRow) -> list[Cell]:
    found: list[Cell] = []
    for quantity, ours in (("parameters", row.parameters), ("multiplications", row.multiplications)):
        cell = printed_cell(row.model, row.form, row.series, quantity)
        found += [None if ours is None else ours / 1e6, _show(cell, 1e6, ".6g")]
    return found


def _stage(row: CostRow, plain: CostRow | None, stage: str) -> list[Cell]:
    error, ratio = (getattr(row, f"{stage}_{what}") for what in ("error", "ratio"))
    of_plain = None if plain is None else getattr(plain, f"{stage}_ratio")
    to_plain = ratio / of_plain if ratio and of_plain else None
    theirs = printed_ratio(row.model, row.form, row.series, f"{stage}_time")
    memory = printed_cell(row.model, row.form, row.series, f"{stage}_memory")
    ours = [getattr(row, f"{stage}_ms"), getattr(row, f"{stage}_memory_mb")]
    return [status(error) if error else ratio, to_plain, theirs, *ours, _show(memory, 1.0, ".0f")]


def _show(cell: Printed | None, unit: float, digits: str) -> Cell:
    """As text, since its digits are the paper's and not ours."""
    if cell is None:
        return None
    return cell.text if cell.value is None else format(cell.value / unit, digits)


def status(error: str) -> str:
    """An error in a word or two: what a cell has room for."""
    kind = error.partition(":")[0]
    return kind if kind in (TOO_SLOW, KILLED, OUT_OF_MEMORY) else "failed"


def cost_lines(rows: Sequence[CostRow]) -> list[str]:
    """What stands beneath the table."""
    lines = [_threads_in_words(rows), *_runs_in_words(rows), HOW_MEASURED, *_noise_in_words(rows), HOW_COUNTED]
    models = dict.fromkeys(row.model for row in rows)
    images = [name for name in OF_IMAGES if name in models]
    if images:
        lines.append(f"{HOW_IMAGES_ARE_COUNTED}: {', '.join(images)}.")
    remarks = {name: entry_of(name).remark for name in models}
    lines += [f"{name}: {remark}." for name, remark in remarks.items() if remark]
    return [*lines, *_parameters_in_words(rows), *_pairs_in_words(rows), *_failures_in_words(rows)]


def _threads_in_words(rows: Sequence[CostRow]) -> str:
    threads = sorted({row.threads for row in rows if row.threads is not None})
    shapes = settings().shapes
    text = f"Lookback {shapes.lookback}, horizon {shapes.horizon}, batches of {shapes.batch} windows, float32, on "
    if len(threads) == 1:
        return text + f"{threads[0]} {'thread' if threads[0] == 1 else 'threads'}."
    return text + f"{' or '.join(map(str, threads))} threads: ratios of different rows compare only roughly."


def _runs_in_words(rows: Sequence[CostRow]) -> list[str]:
    """Whether all was measured by one version of everything."""
    made = sorted({f"{row.versions}, commit {row.commit}" for row in rows})
    return [f"Measured by several versions ({'; '.join(made)})."] if len(made) > 1 else []


def _noise_in_words(rows: Sequence[CostRow]) -> list[str]:
    itself = [row for row in rows if (row.model, row.form) == (MAIN, REFERENCE)]
    ratios = [ratio for row in itself for ratio in (row.training_ratio, row.inference_ratio) if ratio is not None]
    if not ratios:
        return []
    return [f"OLinear folded against itself is {min(ratios):.2f} to {max(ratios):.2f}: so much is noise."]


def _parameters_in_words(rows: Sequence[CostRow]) -> list[str]:
    """Where our counts are the printed ones, and for each model where they are not."""
    same: dict[str, list[int]] = defaultdict(list)
    other: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        cell = printed_cell(row.model, row.form, row.series, "parameters")
        if cell is None or row.parameters is None:
            continue
        name = f"{row.model} {NORMLIN}" if row.form == NORMLIN else row.model
        if cell.agrees(row.parameters):
            same[name].append(row.series)
        else:
            other[name].append(f"{row.parameters:,} against {cell.text} M with {row.series} series")
    lines = []
    if same:
        named = (name if name not in other else f"{name} (with {_listed(same[name])} series)" for name in same)
        lines.append(f"Parameters as printed: {', '.join(named)}.")
    for name, found in other.items():
        note = entry_of(name.removesuffix(f" {NORMLIN}")).note or "why is not known"
        lines.append(f"Parameters not as printed, {name}: {', '.join(found)}; {note}.")
    return lines


def _listed(counts: Sequence[int]) -> str:
    return ", ".join(map(str, counts))


def _pairs_in_words(rows: Sequence[CostRow]) -> list[str]:
    """NormLin in the place of attention: how long a step takes, of what it took."""
    ratios = {(row.model, row.form, row.series): row.training_ratio for row in rows if row.training_ratio}
    found: dict[str, list[str]] = defaultdict(list)
    for (model, form, series), ratio in ratios.items():
        attention = ratios.get((model, PLAIN_FORM, series))
        if form != NORMLIN or attention is None:
            continue
        cells = [printed_cell(model, each, series, "training_time") for each in (NORMLIN, PLAIN_FORM)]
        theirs = [cell.value for cell in cells if cell is not None and cell.value]
        paper = f" (paper {theirs[0] / theirs[1]:.2f})" if len(theirs) == 2 else ""
        matched = ratios.get((model, MATCHED, series))
        fair = f"{ratio / matched:.2f} like for like, " if matched else ""
        found[model].append(f"{fair}{ratio / attention:.2f}{paper} with {series} series")
    return [
        f"NormLin for attention, training step, {model}: {', '.join(ratios_in_words)}{_changes_in_words(model)}."
        for model, ratios_in_words in found.items()
    ]


def _changes_in_words(model: str) -> str:
    """What is not the same on both sides of a pair."""
    entry = entry_of(model)
    changed = [f"{name} {value} instead of {entry.options.get(name)}" for name, value in (entry.normlin or {}).items()]
    return f"; the paper's pair has {', '.join(changed)} with NormLin" if changed else ""


def _failures_in_words(rows: Sequence[CostRow]) -> list[str]:
    stages = ("inference", "training")
    errors = [(row.case, stage, getattr(row, f"{stage}_error")) for row in rows for stage in stages]
    return [f"Not measured, {case}, {stage}: {error}." for case, stage, error in errors if error]
