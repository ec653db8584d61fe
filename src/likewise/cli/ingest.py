"""`likewise ingest`: RDF files to events, on Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson, SparkMaster, SparkMemory

if TYPE_CHECKING:
    from likewise.spark.ingest.ingest import IngestSummary


def ingest(
    source: Annotated[str, typer.Argument(help="An RDF file, or a folder of them.")],
    out: Annotated[str, typer.Option("--out", "-o", metavar="DIR", help="The new folder for the events.")],
    classes: Annotated[
        list[str] | None,
        typer.Option("--class", metavar="URI", help="Only subjects of this class, by URI or last part; repeatable."),
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="nt, nq, ttl, trig, rdf or jsonld; the files' names tell if not said.")
    ] = None,
    to: Annotated[str, typer.Option(help="What is written: parquet, jsonl or both.")] = "both",
    as_written: Annotated[
        bool, typer.Option("--as-written", help="Keep words as the URIs spell them: homeTeams, not home Team.")
    ] = False,
    master: SparkMaster = None,
    memory: SparkMemory = "1g",
    partitions: Annotated[int | None, typer.Option(min=1, help="Parts the events are written in.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a folder that is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make one event of each subject in RDF files, with its statements in plain words.

    Reads N-Triples, N-Quads, Turtle, TriG, RDF/XML and JSON-LD, also .gz and .bz2. Statements that cannot be read
    are counted and some are shown; they stop nothing.

    Example: `likewise ingest dbpedia/ --out events --class http://dbpedia.org/ontology/Event`
    """
    from likewise.errors import InputError
    from likewise.spark.ingest.files import rdf_splits
    from likewise.spark.ingest.ingest import WRITTEN
    from likewise.spark.ingest.ingest import ingest as run
    from likewise.spark.session import spark_session

    if to not in (*WRITTEN, "both"):
        raise InputError(f"expected --to parquet, jsonl or both, found {to!r}")
    if Path(out).exists() and not overwrite:
        raise InputError(f"{out} exists already; choose another folder or say --overwrite")
    rdf_splits(source, format)  # a wrong name is said before Spark starts
    screen = output.console(stderr=True)
    with spark_session(master, memory=memory) as spark:
        summary = run(
            spark,
            source,
            out,
            classes=classes or (),
            format=format,
            written=WRITTEN if to == "both" else (to,),
            as_written=as_written,
            partitions=partitions,
            overwrite=overwrite,
            console=screen if screen.is_terminal and not as_json else None,
        )
    if as_json:
        output.print_json(summary)
    else:
        _show(summary)


def _show(summary: IngestSummary) -> None:
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in summary.left_out.items())
    facts = {
        "events": f"{summary.events:,} in {summary.folder} ({summary.parts} parts)",
        "subjects": f"{summary.subjects:,}" + (f" (left out: {reasons})" if reasons else ""),
        "statements": f"{summary.statements:,} from {summary.files:,} files",
        "bad": f"{summary.bad:,}",
        "seconds": f"{summary.seconds:.1f}",
    }
    for key, value in facts.items():
        table.add_row(key, value)
    screen = output.console()
    screen.print(table)
    for example in summary.examples:
        screen.print(f"  {example}", soft_wrap=True)
