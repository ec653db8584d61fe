"""`likewise eval thematic`: the thematic matcher by the sizes of themes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson, ModelFolder, SpaceName, parse_measure

if TYPE_CHECKING:
    from likewise_experiments.thematic.cold_start import ColdStart
    from likewise_experiments.thematic.departures import Departures
    from likewise_experiments.thematic.experiment import Report


def thematic(
    out: Annotated[Path, typer.Option("--out", help="A folder for every step, the figures and report.json.")],
    thesaurus: Annotated[
        str, typer.Option("--thesaurus", help="What makes the data: a EuroVoc file (JSON, .gz), or wordnet.")
    ] = "wordnet",
    space: SpaceName = None,
    measure: Annotated[
        str | None, typer.Option("--measure", help="A measure, with options as in thematic:metric=raw; else thematic.")
    ] = None,
    letter: Annotated[bool, typer.Option("--letter", help="The paper's own matcher instead of ours.")] = False,
    departures: Annotated[
        bool,
        typer.Option("--departures", help="The letter, ours, and one departure at a time, on a grid of 64 cells each."),
    ] = False,
    cold_start: Annotated[
        bool, typer.Option("--cold-start", help="The first 1,000 events of a matcher that knows nothing yet.")
    ] = False,
    degree: Annotated[
        int, typer.Option("--degree", help="Percent of each subscription's parts that are relaxed: 0, 50 or 100.")
    ] = 100,
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
    from likewise.errors import InputError
    from likewise_experiments.thematic.load import DEGREES

    if letter and measure is not None:
        raise InputError("--letter is a measure of its own; leave --measure out")
    if degree not in DEGREES:
        raise InputError(f"the degree of approximation is one of {', '.join(map(str, DEGREES))}, found {degree}")
    if departures and (letter or cold_start or degree != 100):
        raise InputError("--departures has the letter in it and relaxes every part; leave the other options out")
    out.mkdir(parents=True, exist_ok=True)
    progress = output.console(stderr=True)
    if departures:
        from likewise_experiments.thematic.departures import SIZES
        from likewise_experiments.thematic.departures import departures as run_departures
        from likewise_experiments.thematic.themes import read_cells

        sizes = SIZES if cells == "quick" else read_cells(cells)[0]
        found = run_departures(
            thesaurus,
            out,
            space=space,
            sizes=sizes,
            seed=seed,
            events=events,
            subscriptions=subscriptions,
            console=progress,
        )
        output.print_json(found) if as_json else _show_departures(found)
        return
    if cold_start:
        from likewise_experiments.thematic.cold_start import cold_starts

        chosen = None if measure is None else parse_measure(measure)
        rows = cold_starts(
            thesaurus,
            out,
            space=space,
            measure=chosen,
            letter=letter,
            seed=seed,
            events=events,
            subscriptions=subscriptions,
        )
        output.print_json(rows) if as_json else _show_cold_start(rows)
        return
    from likewise_experiments.thematic.experiment import Choices, experiment
    from likewise_experiments.thematic.letter import LETTER

    named = LETTER.measure if letter else parse_measure(measure or "thematic")
    choices = Choices(thesaurus, space, named, cells, seed, throughput, events, subscriptions, model, letter, degree)
    report = experiment(choices, out, master=master, console=progress)
    if as_json:
        output.print_json(report)
    else:
        _show(report, out)


def _show(report: Report, out: Path) -> None:
    from rich.table import Table

    console = output.console()
    circular = " (circular: space and thesaurus are both WordNet's)" if report.circular else ""
    console.print(
        f"{report.events:,} events, {report.subscriptions} subscriptions at {report.degree} % approximation, "
        f"{report.sub_experiments:,} sub-experiments; "
        f"thesaurus {report.thesaurus}, space {report.space}, measure {report.measure}{circular}"
    )
    for said in report.sentences:
        console.print(f"here:  {said}", soft_wrap=True)
    for said in report.paper.values():
        console.print(f"paper: {said}", soft_wrap=True)
    table = Table("measure, no themes", box=None, pad_edge=False)
    for column in ("F1", "ten sets", "F1, wider", "F1, all that is meant", "events/s, warm"):
        table.add_column(column, justify="right")
    for row in report.measures:
        quality = (f"{row.f1:.3f}", f"{row.least:.3f} to {row.most:.3f}", f"{row.wider_f1:.3f}", f"{row.meant_f1:.3f}")
        figures = (*quality, f"{row.events_per_s:,.0f}")
        if not row.note:
            table.add_row(row.measure, *figures)
    console.print(table)
    for row in report.measures:
        if row.note:
            console.print(f"{row.measure}: {row.note}", soft_wrap=True)
    console.print(f"rewritten, the subscriptions are {report.rewritten:,} exact ones")
    console.print(f"figures and report.json are in {out}")


def _show_departures(found: Departures) -> None:
    from rich.table import Table

    console = output.console()
    console.print(
        f"{found.events:,} events, {found.subscriptions} subscriptions; thesaurus {found.thesaurus}, "
        f"space {found.space}; themes of {', '.join(map(str, found.sizes))} tags, one sample",
        soft_wrap=True,
    )
    table = Table("", box=None, pad_edge=False)
    for column in ("no themes", "mean gain", "cells above", "best", "worst", "more event tags", "more asked tags"):
        table.add_column(column, justify="right")
    for row in found.rows:
        figures = (row.best, row.worst, row.larger_event_themes, row.larger_subscription_themes)
        table.add_row(
            row.variant,
            f"{100 * row.baseline:.1f}",
            f"{100 * row.gain:+.1f}",
            f"{100 * row.share_above:.0f} %",
            *(f"{100 * x:.1f}" for x in figures),
        )
    console.print(table)


def _show_cold_start(rows: tuple[ColdStart, ...]) -> None:
    from rich.table import Table

    table = Table("measure", "tags", "events", box=None, pad_edge=False)
    for column in ("F1", "CPU, s", "median, ms", "p99, ms", "slowest"):
        table.add_column(column, justify="right")
    for row in rows:
        for name, part in (("first", row.first), ("following", row.following)):
            figures = (
                f"{part.f1:.3f}",
                f"{part.cpu_s:.2f}",
                f"{part.median_ms:.3f}",
                f"{part.p99_ms:.2f}",
                f"{part.slowest_ms:.1f}",
            )
            tags = f"{row.event_tags}, {row.subscription_tags}"
            table.add_row(row.name, tags, f"{name} {part.events:,}", *figures)
    output.console().print(table)
