"""`olinear models`: the forecasters there are."""

from typing import Any

from olinear.cli.common import Json, print_json, print_wide
from olinear.core import OLinearError

N_SERIES, LENGTH = 7, 96  # ETTh1, the next 96 steps from the last 96


def models(as_json: Json = False) -> None:
    """List the forecasters: how many parameters each trains, and what it is.

    The count is that of the default options, for 7 series and the next 96 steps from the last 96. A closed form is
    solved from the training windows at once and trains none. Installed packages may bring models of their own.

    Example: olinear models --json
    """
    from olinear.models import MODELS

    records = [_describe(name) for name in MODELS]
    if as_json:
        print_json(records)
        return
    sizes = [_size(one) for one in records]
    width = max(map(len, sizes))
    rows = [(one["name"], size.rjust(width), one["summary"]) for one, size in zip(records, sizes, strict=True)]
    print_wide(("model", "parameters".rjust(width), "what it is"), rows)


def _size(record: dict[str, Any]) -> str:
    if record["closed_form"]:
        return "closed form"
    return "unknown" if record["parameters"] is None else f"{record['parameters']:,}"


def _describe(name: str) -> dict[str, Any]:
    """A model of an installed package that does not work is listed with what is wrong."""
    from olinear.core.runtime import private_draws
    from olinear.models import MODELS

    row: dict[str, Any] = {"name": name, "parameters": None, "closed_form": False, "options": {}}
    try:
        card = MODELS.find(name)
        kind: Any = card.load()
        with private_draws():
            built = kind(N_SERIES, LENGTH, LENGTH)
        options = card.options()
    except OLinearError as error:
        return row | {"summary": str(error)}
    traits = {key: sorted(value) if isinstance(value, frozenset) else value for key, value in vars(card.traits).items()}
    return row | {
        "parameters": sum(parameter.numel() for parameter in built.parameters() if parameter.requires_grad),
        "closed_form": card.traits.closed_form,
        "summary": card.about,
        "options": options,
        "package": card.package,
        "traits": traits,
    }
