"""`likewise eval thematic`: the thematic matcher by the sizes of themes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson, ModelFolder, SpaceName, measure_named


def thematic(
    out: Annotated[Path, typer.Option("--out", help="A folder for every step, the figures and report.json.")],
    thesaurus: Annotated[
        str, typer.Option("--thesaurus", help="What makes the data: a EuroVoc file (JSON, .gz), or wordnet.")
    ] = "wordnet",
    space: SpaceName = None,
    measure: Annotated[
        str, typer.Option("--measure", help="A measure, with options as in thematic:metric=raw.")
    ] = "thematic",
    cells: Annotated[
        str, typer.Option("--cells", help="Event sizes x subscription sizes x samples; or quick.")
    ] = "quick",
    throughput: Annotated[int, typer.Option("--throughput", min=0, help="Samples of each cell to time; 0: none.")] = 1,
    seed: Annotated[int, typer.Option("--seed", help="Another load and other themes.")] = 0,
    events: Annotated[int, typer.Option("--events", min=1, help="Expanded events.")] = 14_743,
    subscriptions: Annotated[int, typer.Option("--subscriptions", min=1, help="Subscriptions.")] = 94,
    master: Annotated[
        str | None, typer.Option("--master", help="Spark's master; this machine's cores if none.")
    ] = None,
    model: ModelFolder = None,
    as_json: AsJson = False,
) -> None:
    """Repeat the experiments of the thematic paper: F1 and throughput against the sizes of themes.

    The thesaurus makes events and ground truth; the matcher never sees it. `wordnet` with the WordNet space is
    circular, and labelled so. A run that was interrupted goes on where it stopped; one that was
    finished draws its figures again.

    Example: `likewise eval thematic --thesaurus eurovoc.json.gz --cells 30x30x5 --out report`
    """
    from likewise.evaluation.thematic.experiment import Choices, experiment

    choices = Choices(thesaurus, space, measure_named(measure), cells, seed, throughput, events, subscriptions, model)
    out.mkdir(parents=True, exist_ok=True)
    report = experiment(choices, out, master=master, console=output.console(stderr=True))
    if as_json:
        output.print_json(report)
        return
    from rich.table import Table

    console = output.console()
    circular = " (circular: space and thesaurus are both WordNet's)" if report.circular else ""
    console.print(
        f"{report.events:,} events, {report.subscriptions} subscriptions, {report.sub_experiments:,} sub-experiments; "
        f"thesaurus {report.thesaurus}, space {report.space}, measure {report.measure}{circular}"
    )
    for said in report.sentences:
        console.print(f"here:  {said}", soft_wrap=True)
    for said in report.paper.values():
        console.print(f"paper: {said}", soft_wrap=True)
    table = Table("measure, no themes", box=None, pad_edge=False)
    for column in ("F1", "F1, wider"):
        table.add_column(column, justify="right")
    for row in report.measures:
        table.add_row(row.measure, *((row.note, "") if row.note else (f"{row.f1:.3f}", f"{row.wider_f1:.3f}")))
    console.print(table)
    console.print(f"figures and report.json are in {out}")
