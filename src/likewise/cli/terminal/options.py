"""Options that several commands share, so that they read the same everywhere."""

from __future__ import annotations

from typing import Annotated

import typer

from likewise.errors import InputError

Threshold = Annotated[
    float | None,
    typer.Option("--threshold", min=0, max=1, help="The score a match needs; a subscription may say its own."),
]
MeasureName = Annotated[
    str | None,
    typer.Option(
        "--measure",
        help="The measure: esa, thematic, jcn, names, embeddings or combine; options follow as in esa:metric=raw.",
    ),
]
SpaceName = Annotated[
    str | None, typer.Option("--space", help="The space, by name or folder; the embedded one by default.")
]
ModelFolder = Annotated[
    str | None, typer.Option("--model", metavar="FOLDER", help="An embedding model to compare with, too.")
]
Address = Annotated[
    str | None,
    typer.Option("--address", envvar="LIKEWISE_ADDRESS", help="The broker; http://127.0.0.1:8787 by default."),
]
Token = Annotated[
    str | None, typer.Option("--token", envvar="LIKEWISE_TOKEN", help="The token, where the broker wants one.")
]
Ca = Annotated[
    str | None,
    typer.Option(
        "--ca",
        envvar="LIKEWISE_CA",
        metavar="FILE",
        help="The certificate of who signed the broker's, where the machine does not know them.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def measure_named(said: str) -> tuple[str, dict[str, str]]:
    """A measure's name and its options.

    >>> measure_named("esa:metric=raw"), measure_named("jcn")
    (('esa', {'metric': 'raw'}), ('jcn', {}))
    """
    name, _, rest = said.partition(":")
    options = {}
    for piece in rest.split(",") if rest else []:
        key, equals, value = piece.partition("=")
        if not equals:
            raise InputError(f"expected an option like metric=raw after the colon, found {piece!r}")
        options[key.strip()] = value.strip()
    return name, options
