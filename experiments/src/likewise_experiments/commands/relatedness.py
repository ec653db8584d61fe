"""`likewise eval relatedness`: measures against people's judgements."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson, SpaceName, parse_measure


def relatedness(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Pairs: `word word score` on each line.")],
    measure: Annotated[
        list[str] | None,
        typer.Option("--measure", help="A measure, with options as in esa:metric=raw; repeat it."),
    ] = None,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Compare measures with people's judgements: Spearman's correlation on each file.

    Lines are `word word score`, with tabs between them where terms have blanks. Pairs with a term the space
    does not know are counted, and scored 0.

    Example: `likewise eval relatedness EN-WS-353-ALL.txt --measure combine --measure esa:metric=cosine`
    """
    from likewise.semantics.library import load_space
    from likewise_experiments.relatedness.experiment import evaluate

    opened = load_space(space)
    results = []
    for said in measure or [None]:  # type: ignore[list-item]
        name, options = (None, {}) if said is None else parse_measure(said)
        chosen = opened.measure(name, **options)
        results += [(said or chosen.name, evaluate(opened, path, chosen)) for path in files]
    if as_json:
        output.print_json([{**_facts(result), "measure": said} for said, result in results])
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for column in ("file", "measure"):
        table.add_column(column)
    for column in ("pairs", "unknown", "Spearman"):
        table.add_column(column, justify="right")
    for said, result in results:
        table.add_row(Text(result.file), Text(said), str(result.pairs), str(result.unknown), f"{result.spearman:.3f}")
    output.console().print(table)


def _facts(result: object) -> dict[str, object]:
    import msgspec

    return msgspec.structs.asdict(result)  # type: ignore[arg-type]
