"""`likewise eval units`: every engine against exact arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson

if TYPE_CHECKING:
    from likewise_experiments.units.experiment import UnitsResult

WHOLE, QUICK = 1_000_000, 40_000


def units(
    comparisons: Annotated[int, typer.Option("--comparisons", min=1, help="How many at least.")] = WHOLE,
    seed: Annotated[int, typer.Option("--seed", help="Which ones are drawn.")] = 1,
    quick: Annotated[bool, typer.Option("--quick", help=f"{QUICK:,} comparisons only.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compare numbers with units, whole numbers, dates and lists in every engine with fractions and pint's definitions.

    Every question is put to every engine one event at a time, in batches, as columns and through Arrow. Ends with 1 if
    any answer differs.

    Example: `likewise eval units --quick`
    """
    import msgspec
    from rich.progress import Progress

    from likewise_experiments.report.machine import machine, versions
    from likewise_experiments.units.experiment import evaluate_units

    wanted = QUICK if quick else comparisons
    with Progress(console=output.console(stderr=True), transient=True) as progress:
        task = progress.add_task("comparisons", total=wanted)
        result = evaluate_units(wanted, seed, lambda done, _: progress.update(task, completed=done))
    result = msgspec.structs.replace(result, versions=versions(), machine=machine())
    if as_json:
        output.print_json(result)
    else:
        _show(result)
    if result.differences:
        raise typer.Exit(1)


def _show(result: UnitsResult) -> None:
    from rich.table import Table
    from rich.text import Text

    console = output.console()
    table = Table("group", "comparisons", box=None, pad_edge=False)
    for group, count in result.groups.items():
        table.add_row(group, f"{count:,}")
    console.print(table)
    answers = sum(result.engines.values())
    console.print(
        f"{result.comparisons:,} comparisons (seed {result.seed}), {result.met:,} met; {answers:,} answers of "
        f"{len(result.engines)} engines and ways; {result.differences:,} differ from exact arithmetic"
    )
    for wrong in result.examples:
        said = "is met" if wrong.expected else "is not met"
        console.print(Text(f"{wrong.engine}, {wrong.way}: {wrong.subscription} {said} by {wrong.readings}"))
