"""`likewise eval hybrid`: statements against RDF events, by WordNet, by ESA and by both."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson, SpaceName
from likewise.defaults import HYBRID_M


def hybrid(
    events: Annotated[
        Path,
        typer.Option(
            "--events",
            help="RDF events (.nt, .ttl, .rdf, .jsonld; .gz, .bz2), dated events (.txt), or a folder of ingest.",
        ),
    ],
    subscriptions: Annotated[
        str,
        typer.Option("--subscriptions", help="JSON lines: id, text, relevant; or the shipped infoboxes, icews."),
    ] = "infoboxes",
    out: Annotated[Path | None, typer.Option("--out", help="A folder for the report and the curves.")] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option("--measure", help="hybrid, or a measure that stands for both parts, such as path; repeat it."),
    ] = None,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Compare the hybrid matcher with single measures, for m = 1 to 6: JCn, ESA and sameness unless others are named.

    Relevance is said by SPARQL patterns. Events may be a part of a DBpedia or Freebase dump; of the latter, names take
    the place of ids. Dated events are lines of actor, action, target and date, as ICEWS has them.

    Example: `likewise eval hybrid --events event-infobox-triples.nt.gz --out report`
    """
    from likewise.semantics.interpretation import Interpretation
    from likewise.semantics.library import load_space
    from likewise_experiments.hybrid.experiment import (
        BINS,
        VARIANTS,
        experiment,
        read_events,
        read_subscriptions,
        relevant_events,
    )

    asked = read_subscriptions(subscriptions)
    found, raw, format = read_events(events)
    opened = load_space(space)
    relevant = relevant_events(raw, format, asked)
    named = Interpretation(space=opened).statement_measure
    variants = tuple(dict.fromkeys(measure or VARIANTS))
    report = experiment(found, relevant, asked, named, console=output.console(stderr=True), variants=variants)
    if out is not None:
        import msgspec

        from likewise_experiments.hybrid.plot import plot

        out.mkdir(parents=True, exist_ok=True)
        (out / "hybrid.json").write_bytes(msgspec.json.format(msgspec.json.encode(report)))
        plot(report, out / "hybrid.png")
    if as_json:
        output.print_json(report)
        return
    from rich.table import Table

    console = output.console()
    counts = ", ".join(f"{id}: {count}" for id, count in report.relevant.items())
    console.print(f"{report.events} events; relevant to each subscription: {counts}")
    table = Table("maximal F1", *(f"m = {m}" for m in range(1, 7)), box=None, pad_edge=False)
    for variant in variants:
        table.add_row(variant, *(f"{report.best(variant, m).maximal_f1:.3f}" for m in range(1, 7)))
    console.print(table)
    table = Table(f"subscription (m = {HYBRID_M})", *variants, box=None, pad_edge=False)
    for id in report.relevant:
        row = (report.best(variant, HYBRID_M).by_subscription[id] for variant in variants)
        table.add_row(id, *(f"{value:.3f}" for value in row))
    console.print(table)
    table = Table("pairs by score", *(f"{place / BINS:.1f}" for place in range(BINS)), box=None, pad_edge=False)
    for name, part in (("jcn", "fP"), ("esa", "fV")):
        table.add_row(f"{part} by {name}", *(f"{count:,}" for count in report.histograms[name]))
    console.print(table)
