"""`likewise stream compact` and `expire`: upkeep of a lake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson

if TYPE_CHECKING:
    from likewise.lake.maintenance import UpkeepReport

Folder = Annotated[str, typer.Argument(metavar="DIR", help="The lake's folder, or an object store's address.")]


def compact(folder: Folder, as_json: AsJson = False) -> None:
    """Put the small files of each day together.

    Example: `likewise stream compact lake`
    """
    from likewise.lake.maintenance import compact as run
    from likewise.lake.storage import place_of

    _show(run(place_of(folder)), as_json)


def expire(
    folder: Folder,
    older: Annotated[str, typer.Option("--older", metavar="SPAN", help='Days that ended this long ago: "90 d".')],
    as_json: AsJson = False,
) -> None:
    """Take out matches and events of days that are long over.

    Example: `likewise stream expire lake --older "90 d"`
    """
    from likewise.lake.maintenance import expire as run
    from likewise.lake.storage import place_of
    from likewise.matching.matcher import system_clock
    from likewise.model.time import duration

    _show(run(place_of(folder), duration(older), system_clock()), as_json)


def _show(report: UpkeepReport, as_json: bool) -> None:
    if as_json:
        output.print_json(report)
    else:
        output.print_line(f"{report.before:,} files before, {report.after:,} now.")
