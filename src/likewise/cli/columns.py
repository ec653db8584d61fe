"""`likewise columns`: the columns of a table under requested names and in requested units."""

from __future__ import annotations

from typing import Annotated

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson


def columns(
    file: Annotated[str, typer.Argument(metavar="TABLE", help="The table: a file .csv, .tsv or .parquet.")],
    to: Annotated[
        str, typer.Option("--to", metavar="FILE", help="The requested columns: a file .toml, or a saved report.")
    ],
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="Where the new table is written: .csv or .parquet.")
    ] = None,
    report: Annotated[
        str | None, typer.Option("--report", metavar="FILE", help="Where the decisions are written, to use them again.")
    ] = None,
    review: Annotated[bool, typer.Option("--review", help="Choose a column for each name that is uncertain.")] = False,
    confidence: Annotated[
        float | None, typer.Option(min=0, max=1, help="Probability below which a column is left out; 0.5 by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Take the requested columns from a table, whatever they are called there and in whatever unit.

    Without --out the decisions are printed and nothing is written. The exit code is 0 if every requested column was
    found, 1 if some were left out, 2 if something handed in is wrong.

    Example: `likewise columns station.csv --to wanted.toml --out tidy.parquet`
    """
    from likewise.tables import columns as requested_columns
    from likewise.tables.assign import CONFIDENCE
    from likewise.tables.files import read_request, read_table, write_table
    from likewise.tables.report import HEADINGS

    table = read_table(file)
    request, overrides = read_request(to)
    limit = CONFIDENCE if confidence is None else confidence
    result = requested_columns(table, request, overrides=overrides, confidence=limit)
    if review and (chosen := _reviewed(result.report.missing, table.column_names)):
        result = requested_columns(table, request, overrides={**overrides, **chosen}, confidence=limit)
    if out is not None:
        write_table(result.table, out)
    if report is not None:
        result.report.save(report)
    if as_json:
        output.print_json(result.report)
    else:
        output.print_table(HEADINGS, result.report.rows())
    if result.report.missing:
        raise typer.Exit(output.NO)


def _reviewed(missing: tuple[str, ...], headers: list[str]) -> dict[str, str | int | None]:
    """Ask for the column of each name that was left out; an empty answer leaves it out."""
    chosen: dict[str, str | int | None] = {}
    for name in missing:
        for number, header in enumerate(headers, start=1):
            output.print_note(f"{number:>4}  {header}")
        answer = typer.prompt(
            f"column of {name} (number, empty to leave it out)", default=0, type=int, show_default=False
        )
        if 1 <= answer <= len(headers):
            chosen[name] = answer - 1
    return chosen
