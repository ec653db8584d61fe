"""`likewise eval sameness`: related is not the same."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson, SpaceName, parse_measure

if TYPE_CHECKING:
    from likewise_experiments.sameness.experiment import Counted, SamenessResult


def sameness(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Pairs: kind, asked, seen, same (0 or 1).")],
    measure: Annotated[
        list[str] | None, typer.Option("--measure", help="A measure; repeat it. combine and sameness if none.")
    ] = None,
    threshold: Annotated[float | None, typer.Option("--threshold", help="The default otherwise.")] = None,
    misses: Annotated[bool, typer.Option("--misses", help="List the pairs decided wrongly.")] = False,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Count how many different pairs a measure keeps apart, and how many that are the same it finds.

    Example: `likewise eval sameness pairs.tsv --misses`
    """
    from likewise import defaults
    from likewise.semantics.library import load_space
    from likewise_experiments.sameness.experiment import evaluate_sameness, read_pairs

    level = defaults.THRESHOLD if threshold is None else threshold
    opened = load_space(space)
    pairs = {path: read_pairs(path) for path in files}
    chosen = [parse_measure(said) for said in measure or ["combine", "sameness"]]
    results = [
        evaluate_sameness(found, opened.measure(name, **options), level, path.name)
        for path, found in pairs.items()
        for name, options in chosen
    ]
    if as_json:
        output.print_json(results)
        return
    _show(results, misses=misses)


def _show(results: list[SamenessResult], *, misses: bool) -> None:
    from rich.table import Table
    from rich.text import Text

    console = output.console()
    table = Table("file", "measure", "", "kept apart", "found", box=None, pad_edge=False)
    for result in results:
        table.add_row(Text(result.file), result.measure, "all", *_shares(result.total))
        for kind, counted in result.kinds.items():
            table.add_row("", "", kind, *_shares(counted))
    console.print(table)
    for result in results if misses else ():
        table = Table(
            f"{result.measure} on {result.file}", "asked", "seen", "same", "score", "", box=None, pad_edge=False
        )
        for miss in result.misses:
            cells = (
                miss.category,
                miss.asked,
                miss.seen,
                "yes" if miss.same else "no",
                f"{miss.score:.2f}",
                miss.words,
            )
            table.add_row(*map(Text, cells))
        console.print(table)


def _shares(counted: Counted) -> tuple[str, str]:
    apart = f"{counted.apart} of {counted.different} ({counted.apart / max(1, counted.different):.2f})"
    return apart, f"{counted.found} of {counted.same} ({counted.found / max(1, counted.same):.2f})"
