"""Options that several commands share, so that they read the same everywhere."""

from __future__ import annotations

from typing import Annotated

import typer

Threshold = Annotated[
    float | None,
    typer.Option("--threshold", min=0, max=1, help="The score a match needs; a subscription may say its own."),
]
MeasureName = Annotated[
    str | None, typer.Option("--measure", help="The measure: esa, thematic, jcn, names, embeddings or combine.")
]
SpaceName = Annotated[
    str | None, typer.Option("--space", help="The space, by name or folder; the embedded one by default.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
