"""`likewise sources`: who sends what, announced or learnt; announce, revoke, keep awake."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.completion import complete_sources
from likewise.cli.terminal.options import AsJson, BrokerOptions, command_group, with_option_groups

if TYPE_CHECKING:
    from likewise.api.sources import AttributeDetails, SourceDetails

app = command_group(
    "See who sends what, and what it means; announce sources and keep them awake.", "likewise sources list"
)
Name = Annotated[str, typer.Argument(metavar="SOURCE", help="The source's name.", autocompletion=complete_sources)]
BARS = "▁▂▃▄▅▆▇█"


@app.command("list")
@with_option_groups
def list_sources(
    broker: BrokerOptions,
    containing: Annotated[str, typer.Option("--containing", help="Only those whose name contains this text.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many.")] = 100,
    after: Annotated[str, typer.Option("--after", help="The last name of the page before.")] = "",
    as_json: AsJson = False,
) -> None:
    """List the sources of the stream: when they were seen, how often they send, where and what they are.

    Example: `likewise sources list --containing kitchen`
    """
    with broker.publisher() as client:
        page = client.sources.list(containing, after, limit)
    if as_json or not page.sources:
        output.print_result(page, as_json, "No source yet. They come by themselves when events name their source.")
        return
    heads = ("source", "called", "state", "model", "place", "events", "every", "last seen", "attributes")
    rows = [
        (e.source, e.label, e.activity, e.model, e.place, e.events, _interval_text(e), _last_seen(e), e.count)
        for e in page.sources
    ]
    output.print_table(heads, rows)
    for offer in page.one_device:
        output.print_note(f"one device? {', '.join(offer.sources)}: a topic map can say so (docs/guides/mqtt.md)")
    if page.after:
        output.print_note(f"{page.total:,} in all; go on with --after {page.after!r}")


@app.command()
@with_option_groups
def show(broker: BrokerOptions, source: Name, as_json: AsJson = False) -> None:
    """Show a source: what it announced, what it sends, and what each of it is taken for.

    Example: `likewise sources show sensor-17`
    """
    with broker.publisher() as client:
        record = client.sources.show(source)
    if as_json:
        output.print_json(record)
        return
    where = "".join(f", {each}" for each in (record.model, record.place) if each)
    if record.aliases:
        output.print_note(f"it was called {', '.join(record.aliases)} before")
    output.print_line(
        f"{record.source}{where}: {record.activity}, {record.events} events, last seen {_last_seen(record)}"
    )
    rows = [
        (
            each.attribute,
            each.unit,
            "/".join(each.kinds),
            _range(each),
            _last_value(each),
            sparkline_text(each.line),
            each.understood.means or "?",
            f"{each.understood.probability:.2f}",
            _basis(each),
        )
        for each in record.attributes
    ]
    output.print_table(("attribute", "unit", "kind", "range", "last", "", "is taken for", "p", ""), rows)


@app.command()
@with_option_groups
def announce(
    broker: BrokerOptions,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An announcement as JSON; `-` reads standard input.")],
    as_json: AsJson = False,
) -> None:
    """Announce what a source can produce, from JSON: source, attributes, model, place, lease.

    Example: `likewise sources announce sensor-17.json`
    """
    import sys

    import msgspec

    from likewise.cli.terminal.rendering import time_of_day
    from likewise.errors import FormatError
    from likewise.model.announcements.announcement import Announcement

    text = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    try:
        announcement = msgspec.json.decode(text, type=Announcement)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise FormatError(f"{file} holds no announcement: {error}") from None
    with broker.publisher() as client:
        result = client.sources.announce(announcement)
    done = "Renewed" if result.renewed else "Announced"
    output.print_result(result, as_json, f"{done} {result.source} until {time_of_day(result.ends)}.")


@app.command()
@with_option_groups
def revoke(broker: BrokerOptions, source: Name) -> None:
    """Take back what a source announced.

    Example: `likewise sources revoke sensor-17`
    """
    with broker.publisher() as client:
        client.sources.revoke(source)
    output.print_line(f"{source} announces nothing any more.")


@app.command()
@with_option_groups
def keep(
    broker: BrokerOptions,
    source: Name,
    no: Annotated[bool, typer.Option("--no", help="Let it rest again when nobody asks for it.")] = False,
) -> None:
    """Keep a source awake, whoever asks for it.

    Example: `likewise sources keep sensor-17`
    """
    with broker.publisher() as client:
        client.sources.keep(source, not no)
    output.print_line(f"{source} {'may rest when nobody asks for it' if no else 'is kept awake'}.")


def sparkline_text(numbers: tuple[float, ...]) -> str:
    """Draw numbers as a line of block characters.

    >>> sparkline_text((1, 2, 8))
    '▁▂█'
    """
    if len(numbers) < 2:
        return ""
    low, high = min(numbers), max(numbers)
    step = (high - low) or 1.0
    return "".join(BARS[int((each - low) / step * (len(BARS) - 1))] for each in numbers)


def _interval_text(source: SourceDetails) -> str:
    if source.interval is None:
        return ""
    from likewise.model.time import duration_text

    return duration_text(round(source.interval) * 1_000_000) if source.interval >= 1 else f"{source.interval:.3g} s"


def _last_seen(source: SourceDetails) -> str:
    from likewise.cli.terminal.rendering import time_of_day

    return time_of_day(source.seen) if source.seen else "never"


def _range(each: AttributeDetails) -> str:
    if each.low is None and each.high is None:
        return ""
    return f"{'' if each.low is None else f'{each.low:g}'} to {'' if each.high is None else f'{each.high:g}'}".strip()


def _last_value(each: AttributeDetails) -> str:
    return f"{each.last:g}" if isinstance(each.last, (int, float)) else str(each.last or "")


def _basis(each: AttributeDetails) -> str:
    return "" if each.understood.basis == "learnt" else each.understood.basis
