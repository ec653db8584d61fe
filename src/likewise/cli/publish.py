"""`likewise publish`: events from a file or standard input to a broker."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import Address, AsJson, Ca, Token

BATCH = 200  # events sent together when there is no rate to keep


def publish(
    events: Annotated[str, typer.Argument(metavar="[FILE]", help="Events, one a line; - is standard input.")] = "-",
    address: Address = None,
    token: Token = None,
    ca: Ca = None,
    source: Annotated[str | None, typer.Option("--source", help="The source of events that name none.")] = None,
    rate: Annotated[
        float | None, typer.Option("--rate", min=0.001, help="Events a second; without it, at once.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Publish events, as text or JSON, one a line; each is on the broker's disk before the next ones are sent.

    Example: `echo '{no2: 45, city: Zagreb}' | likewise publish`
    """
    from likewise.broker.config import Logging
    from likewise.broker.reporting.logging import log_to_stderr
    from likewise.cli.terminal.reading import lines, located, opened, read_event, text_of
    from likewise.client import Publisher
    from likewise.client.endpoint import ADDRESS
    from likewise.model import Event

    log_to_stderr(Logging(level="warning", format="text"))  # says when a connection is tried again
    count, begun = 0, time.monotonic()
    with Publisher(address or ADDRESS, token=token, source=source, ca=ca) as out, opened(events) as stream:

        def send(batch: list[Event]) -> None:
            nonlocal count
            for receipt in out.publish_all(batch):
                if as_json:
                    output.print_json(receipt)
            count += len(batch)

        batch: list[Event] = []
        for line in lines(stream):
            with located(events, line):
                batch.append(read_event(text_of(line)))
            if rate is not None:
                time.sleep(max(0.0, begun + count / rate - time.monotonic()))
            if rate is not None or len(batch) >= BATCH or events == "-":
                send(batch)
                batch = []
        if batch:
            send(batch)
    if not as_json:
        output.print_line(f"Published {count:,} events.")
