"""`likewise eval all`: every evaluation, in one page."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson, ModelFolder, SpaceName


def everything(
    out: Annotated[Path, typer.Option("--out", help="A folder for report.html and what it is made from.")],
    data: Annotated[
        str | None,
        typer.Option("--data", metavar="DIR", help="The folder that holds the data; parts without theirs say so."),
    ] = None,
    thesaurus: Annotated[
        str | None,
        typer.Option("--thesaurus", help="A EuroVoc file, or wordnet; the one among the data, else wordnet."),
    ] = None,
    cells: Annotated[
        str | None,
        typer.Option("--cells", help="Thematic cells, like 30x30x5; what DIR/thematic holds already, else quick."),
    ] = None,
    space: SpaceName = None,
    model: ModelFolder = None,
    master: Annotated[
        str | None, typer.Option("--master", help="Spark's master; this machine's cores if none.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A smaller load and fewer files: minutes, rough figures.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Take nothing from earlier runs.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run every evaluation and write one page with all figures, commands, versions and the machine.

    The page needs nothing else: no network, no other file. Below `--data`, files are found by their usual names.
    Vendors set aside for testing are not scored. Run again, it takes what is done and goes on with the rest.

    Example: `likewise eval all --data data --out report`
    """
    from likewise.errors import ArtefactMissing
    from likewise_experiments.report.everything import PAGE
    from likewise_experiments.report.everything import everything as run
    from likewise_experiments.report.setting import Choices

    if data is not None and not Path(data).is_dir():
        raise ArtefactMissing(f"there is no folder {data} with data; leave --data out to run the parts that need none")
    choices = Choices(data, thesaurus, space, model, cells, master, quick)
    console = output.console(stderr=True)
    command = "likewise " + shlex.join(sys.argv[1:]) if sys.argv[1:3] == ["eval", "all"] else "likewise eval all"
    try:
        sections = run(choices, out, command=command, fresh=fresh, console=console)
    except KeyboardInterrupt:
        console.print(f"stopped; what is done is in {out / PAGE}, and the same command goes on from there")
        raise
    if as_json:
        output.print_json(
            [{"name": s.name, "status": s.status, "glances": s.glances, "facts": s.facts} for s in sections]
        )
        return
    from rich.table import Table

    screen = output.console()
    table = Table("", "here", "the paper, or aimed at", box=None, pad_edge=False)
    for section in sections:
        for glance in section.glances:
            table.add_row(glance.what, glance.here, glance.compared)
    if table.row_count:
        screen.print(table)
    screen.print(f"the page is {out / PAGE}")
