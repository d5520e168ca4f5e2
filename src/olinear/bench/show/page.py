"""A whole HTML page, and how the results on it were made."""

from collections.abc import Iterable
from importlib.resources import files

from olinear import __version__
from olinear.bench.show.markup import Markup, tag
from olinear.bench.store.rows import Row


def page(title: str, body: Markup) -> str:
    """It loads nothing, and is complete without JavaScript."""
    style, script = ((files("olinear.bench.show") / f"report.{kind}").read_text("utf-8") for kind in ("css", "js"))
    policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
    head = [
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        tag("title", title),
        tag("style", Markup(style)),
    ]
    main = tag("main", body)
    whole = [*head, "</head>", "<body>", main, tag("script", Markup(script)), "</body>", "</html>"]
    return "\n".join(["<!DOCTYPE html>", '<html lang="en">', "<head>", *whole]) + "\n"


def facts_of(rows: Iterable[Row]) -> Markup:
    """With what the results among some rows were made."""
    done = [row for row in rows if row.is_result]
    hours = sum(row.seconds or 0.0 for row in done) / 3600
    facts = {
        "runs": f"{len(done)} with a result, {hours:.1f} hours of training",
        "seeds": ", ".join(map(str, sorted({row.seed for row in done}))),
        "versions": "; ".join(sorted({row.versions for row in done} - {""})),
        "commits": ", ".join(sorted({row.commit for row in done} - {""})),  # a + marks changes since
        "page": f"olinear {__version__}",
    }
    listed = [part for name, fact in facts.items() for part in (tag("dt", name), tag("dd", fact or "unknown"))]
    return tag("dl", *listed, class_="facts")
