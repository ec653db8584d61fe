"""`likewise eval demand`: does what a source is asked for miss nothing, and ask for little more?"""

from __future__ import annotations

from typing import Annotated

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson

WHOLE, QUICK = 2_000, 120
EVENTS, QUICK_EVENTS = 500, 60
BESIDE = 40


def demand(
    pairs: Annotated[int, typer.Option("--pairs", min=1, help="Pairs of subscription and announcement.")] = WHOLE,
    events: Annotated[int, typer.Option("--events", min=1, help="Events of each announcement.")] = EVENTS,
    seed: Annotated[int, typer.Option("--seed", help="Which ones are drawn.")] = 1,
    quick: Annotated[bool, typer.Option("--quick", help=f"{QUICK} pairs and {QUICK_EVENTS} events only.")] = False,
    beside: Annotated[
        int, typer.Option("--beside", min=1, help="Subscriptions beside each announcement; 1 draws one for every pair.")
    ] = BESIDE,
    growth: Annotated[
        bool, typer.Option("--growth", help="How the index grows instead: up to 100,000 subscriptions.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Compile subscriptions against announcements, and compare what is sent on with what the engines match.

    A tenth of the events lies outside their announcement: other names, units, ranges, texts, kinds, themes. Relaxed
    parts, units, feedback and corrections take part. Ends with 1 if a match is missed.

    Example: `likewise eval demand --quick`
    """
    if growth:
        _grow(seed, quick, as_json)
        return
    import msgspec
    from rich.progress import Progress

    from likewise_experiments.demand.experiment import evaluate_demand
    from likewise_experiments.report.machine import machine, versions

    wanted, each = (QUICK, QUICK_EVENTS) if quick else (pairs, events)
    with Progress(console=output.console(stderr=True), transient=True) as progress:
        task = progress.add_task("pairs", total=wanted)
        result = evaluate_demand(wanted, each, seed, lambda done: progress.update(task, completed=done), beside)
    result = msgspec.structs.replace(result, versions=versions(), machine=machine())
    if as_json:
        output.print_json(result)
    else:
        output.print_line(
            f"{result.pairs:,} pairs, {result.events:,} events, {result.outside:,} of them outside their announcement: "
            f"{result.missed} of {result.matches:,} matches missed; {result.sent} subscriptions sent where "
            f"{result.matched} matched ({result.ratio:.2f} times)."
        )
        for line in result.examples:
            output.print_line(f"missed: {line}")
    if result.missed:
        raise typer.Exit(1)


def _grow(seed: int, quick: bool, as_json: bool) -> None:
    from likewise_experiments.demand.growing import grow

    sizes = [(200, 20)] if quick else [(1_000, 1_000), (10_000, 1_000), (100_000, 1_000)]
    found = grow(sizes, seed, progress=output.print_note)
    if as_json:
        output.print_json(found)
        return
    heads = ("subscriptions", "announcements", "µs a subscription", "ms an announcement", "ms one more", "MB", "wanted")
    output.print_table(
        heads,
        [
            (
                f"{g.subscriptions:,}",
                f"{g.announcements:,}",
                g.microseconds_a_subscription,
                g.milliseconds_an_announcement,
                g.milliseconds_of_one_more_subscription,
                g.megabytes,
                g.wanted,
            )
            for g in found
        ],
    )
