"""`likewise stream compact` and `expire`: upkeep of a lake.

`likewise stream view`: a lake's events, or what a subscription selected, as a plain table.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson

if TYPE_CHECKING:
    import pyarrow as pa

    from likewise.lake.maintenance import MaintenanceReport

SHOWN = 20  # rows of a table on a terminal


Folder = Annotated[str, typer.Argument(metavar="DIR", help="The lake's folder, or an object store's address.")]


def view(
    folder: Folder,
    columns: Annotated[
        list[str] | None,
        typer.Option("--column", "-c", metavar="COLUMN", help='An attribute, as "temperature in degC as t"; several.'),
    ] = None,
    selected: Annotated[
        str, typer.Option("--selected", metavar="ID", help="What this subscription's `select` named, in its columns.")
    ] = "",
    tenant: Annotated[str | None, typer.Option(help="One tenant's alone.")] = None,
    first: Annotated[str, typer.Option("--from", metavar="DAY", help="From this day on: 2024-05-01.")] = "",
    last: Annotated[str, typer.Option("--to", metavar="DAY", help="Up to this day.")] = "",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write it to FILE.parquet or FILE.csv.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the events of a lake as a table: a row each, and a column for each attribute that is asked for.

    With --selected a row for each match of a subscription, and a column for each name of its `select`.

    Example: `likewise stream view lake -c "temperature in degC" -c city --out warm.parquet`
    """
    from likewise.errors import InputError
    from likewise.lake.view import selected as selected_by
    from likewise.lake.view import view as make

    if out is not None and out.suffix not in (".parquet", ".csv"):
        raise InputError(f"a view is written to a file that ends with .parquet or .csv, not to {out}")
    if selected and columns:
        raise InputError("--selected has the columns that `select` names; leave --column out, or --selected")
    if selected:
        table = selected_by(folder, selected, tenant=tenant, first_day=first, last_day=last)
    else:
        table = make(folder, columns or (), tenant=tenant, first_day=first, last_day=last)
    if out is not None:
        _write_table(table, out)
        output.print_line(f"{out} has {table.num_rows:,} rows.")
    elif as_json:
        output.print_json(table.to_pylist())
    else:
        rows = table.slice(0, SHOWN).to_pylist()
        output.print_table(
            tuple(table.column_names), [tuple("" if v is None else str(v) for v in row.values()) for row in rows]
        )
        if table.num_rows > SHOWN:
            output.print_line(f"{table.num_rows - SHOWN:,} more; --out writes them all.")


def _write_table(table: pa.Table, out: Path) -> None:
    from pyarrow import csv, parquet

    if out.suffix == ".csv":
        csv.write_csv(table, out)
    else:
        parquet.write_table(table, out, compression="zstd")


def compact(folder: Folder, as_json: AsJson = False) -> None:
    """Put the small files of each day together.

    Example: `likewise stream compact lake`
    """
    from likewise.lake.maintenance import compact as run
    from likewise.lake.storage import storage_path

    _print_report(run(storage_path(folder)), as_json)


def expire(
    folder: Folder,
    older: Annotated[str, typer.Option("--older", metavar="SPAN", help='Days that ended this long ago: "90 d".')],
    as_json: AsJson = False,
) -> None:
    """Take out matches and events of days that are long over.

    Example: `likewise stream expire lake --older "90 d"`
    """
    from likewise.lake.maintenance import expire as run
    from likewise.lake.storage import storage_path
    from likewise.matching.matcher import system_clock
    from likewise.model.time import duration

    _print_report(run(storage_path(folder), duration(older), system_clock()), as_json)


def _print_report(report: MaintenanceReport, as_json: bool) -> None:
    output.print_result(report, as_json, f"{report.before:,} files before, {report.after:,} now.")
