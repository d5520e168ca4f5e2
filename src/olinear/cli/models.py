"""`olinear models`: the forecasters there are."""

from typing import Any

from olinear.cli.common import Json, print_json, print_wide

N_SERIES, LENGTH = 7, 96  # ETTh1, the next 96 steps from the last 96


def models(as_json: Json = False) -> None:
    """List the forecasters: how many parameters each trains, and what it is.

    The count is that of the default options, for 7 series and the next 96 steps from the last 96. A closed form is
    solved from the training windows at once and trains none.

    Example: olinear models --json
    """
    from olinear.models import MODELS

    records = [_describe(name) for name in MODELS]
    if as_json:
        print_json(records)
        return
    sizes = ["closed form" if one["closed_form"] else f"{one['parameters']:,}" for one in records]
    width = max(map(len, sizes))
    rows = [(one["name"], size.rjust(width), one["summary"]) for one, size in zip(records, sizes, strict=True)]
    print_wide(("model", "parameters".rjust(width), "what it is"), rows)


def _describe(name: str) -> dict[str, Any]:
    from olinear.models import MODELS, default_options, summary

    model: Any = MODELS.find(name).load()
    built = model(N_SERIES, LENGTH, LENGTH)
    return {
        "name": name,
        "parameters": sum(parameter.numel() for parameter in built.parameters() if parameter.requires_grad),
        "closed_form": MODELS.find(name).traits.closed_form,
        "summary": summary(name),
        "options": default_options(name),
    }
