"""`olinear settings`: what can be set, and how it is called in Python, on the command and in a file."""

from typing import Annotated

import typer

from olinear.cli.common import Json, print_json, print_wide


def settings(
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the reference page.")] = False,
    as_json: Json = False,
) -> None:
    """List every setting of a fit: its values, its default and what it means.

    A setting has one name: an argument of Forecaster, an option of olinear fit, and a key of a file for --config, in
    the table that stands before it. --json prints the JSON schema of such a file.

    Example: olinear settings --json
    """
    from olinear.core.settings import Settings, default_of, leaves, settings_page, values_of

    if markdown:
        typer.echo(settings_page(), nl=False)
    elif as_json:
        print_json(Settings.model_json_schema())
    else:
        rows = [
            (f"{leaf.section}.{leaf.key}", leaf.option, values_of(leaf), default_of(leaf), leaf.description)
            for leaf in leaves().values()
        ]
        print_wide(("in a file", "option", "values", "default", "what it is"), rows)
