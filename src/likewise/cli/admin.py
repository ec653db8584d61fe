"""`likewise admin`: figures, copies, checks and tokens of a broker's store."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from likewise.cli.broker.queries import fetch
from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson, BrokerOptions, command_group, with_option_groups

app = command_group(
    "Look after a broker: stats, workers, clock, backup, compact, migrate, verify, token.",
    "likewise admin verify likewise-data",
)
Data = Annotated[Path, typer.Argument(metavar="DATA", help="The broker's folder.")]


@app.command()
@with_option_groups
def stats(broker: BrokerOptions, as_json: AsJson = False) -> None:
    """Print what a running broker holds.

    Example: `likewise admin stats`
    """
    with broker.publisher() as client:
        figures = fetch(client, dict[str, object], "/v1/stats")
    _print(figures, as_json)


@app.command()
@with_option_groups
def workers(
    broker: BrokerOptions,
    policy: Annotated[str | None, typer.Option("--policy", help="paper, utilisation, or none.")] = None,
    minimum: Annotated[int | None, typer.Option("--minimum", help="At least so many.")] = None,
    maximum: Annotated[int | None, typer.Option("--maximum", help="At most so many.")] = None,
    memory: Annotated[int | None, typer.Option("--memory", help="Bytes all may take together; 0: no bound.")] = None,
    split_us: Annotated[float | None, typer.Option("--split-us", help="paper: split above these µs an event.")] = None,
    merge_us: Annotated[float | None, typer.Option("--merge-us", help="paper: merge below these µs an event.")] = None,
    last: Annotated[int | None, typer.Option("--last", help="paper: over so many events.")] = None,
    split_busy: Annotated[float | None, typer.Option("--split-busy", help="utilisation: split above this.")] = None,
    merge_busy: Annotated[float | None, typer.Option("--merge-busy", help="utilisation: merge below this.")] = None,
    span: Annotated[float | None, typer.Option("--span", help="utilisation: over so many seconds.")] = None,
    pause: Annotated[float | None, typer.Option("--pause", help="Seconds between two changes.")] = None,
    as_json: AsJson = False,
) -> None:
    """Print which process of a running broker does what, or change how many there are.

    Example: `likewise admin workers --policy paper --split-us 200`
    """
    import msgspec

    from likewise.api.workers import PoolSettings, PoolStatus

    settings = PoolSettings(
        policy, minimum, maximum, memory, split_us, merge_us, last, split_busy, merge_busy, span, pause
    )
    with broker.publisher() as client:
        if settings != PoolSettings():
            client.request("PUT", "/v1/workers", msgspec.json.encode(settings))
        status = fetch(client, PoolStatus, "/v1/workers")
    if as_json:
        output.print_json(msgspec.to_builtins(status))
        return
    output.print_line(
        f"{status.architecture}, policy {status.policy}, {status.minimum} to {status.maximum} workers; "
        f"{status.splits} splits, {status.merges} merges, {status.deaths} deaths"
    )
    for each in status.processes:
        place = f" below {each.parent}" if each.parent else ""
        output.print_line(
            f"{each.number:>3}  {each.role}{place}, process {each.pid}: {each.subscriptions:,} subscriptions, "
            f"{each.stretches:,} stretches, {each.cpu_seconds:.1f} s of the processor, "
            f"{each.resident / 2**20:.0f} MB ({each.shared / 2**20:.0f} shared)"
        )
    if status.ready is not None:
        output.print_line(
            f"  -  {status.ready.role}, process {status.ready.pid}: {status.ready.resident / 2**20:.0f} MB"
        )


clock = command_group("Show how far a broker trusts its clock, and accept it.", "likewise admin clock show")
app.add_typer(clock, name="clock")


@clock.command("show")
@with_option_groups
def show_clock(broker: BrokerOptions, as_json: AsJson = False) -> None:
    """Print what a running broker keeps because its clock stepped.

    Example: `likewise admin clock show`
    """
    from likewise.api.operations import ClockStatus

    with broker.publisher() as client:
        status = fetch(client, ClockStatus, "/v1/clock")
    output.print_result(status, as_json, status.trouble or "The clock is trusted; nothing is held back.")


@clock.command("accept")
@with_option_groups
def accept_clock(broker: BrokerOptions, as_json: AsJson = False) -> None:
    """Say that a running broker's clock is right, so that what is over by it is removed.

    Example: `likewise admin clock accept`
    """
    from likewise.api.operations import ClockAccepted

    with broker.publisher() as client:
        result = fetch(client, ClockAccepted, "/v1/clock/accept", method="POST")
    accepted = "The clock is accepted; what is over by it is removed from now on."
    nothing = "There is nothing to accept: the clock is trusted already."
    output.print_result(result, as_json, accepted if result.accepted else nothing)


@app.command()
def backup(
    data: Data,
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="A new folder; with --every one for copies.")],
    every: Annotated[
        str | None, typer.Option("--every", metavar="SPAN", help='Copy again and again, such as every "5 min".')
    ] = None,
    keep: Annotated[int, typer.Option("--keep", min=1, help="How many copies to keep, with --every.")] = 12,
    as_json: AsJson = False,
) -> None:
    """Copy a store while the broker runs, or while it does not; serve the copy as any other folder.

    With --every, copies are made until Ctrl-C, each in a folder of TARGET named by its time; the oldest go.

    Example: `likewise admin backup likewise-data copies --every "5 min" --keep 12`
    """
    from likewise.broker.admin import backup as copy

    if every is None:
        _print({"bytes": copy(data, target)}, as_json)
    else:
        _keep_copying(data, target, every, keep, as_json)


def _keep_copying(data: Path, target: Path, every: str, keep: int, as_json: bool) -> None:
    """Copy until somebody stops it; a copy that fails is said, and tried again in its turn."""
    import signal
    import threading

    from likewise.broker.admin import keep_copying
    from likewise.errors import ArtefactMissing, InputError
    from likewise.matching.matcher import system_clock
    from likewise.model.time import duration

    seconds = duration(every) / 1e6
    if seconds < 1:
        raise InputError(f"copies can be made every second at most; --every says {every!r}")
    over, first = threading.Event(), True
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: over.set())
    for made in keep_copying(data, target, every=seconds, keep=keep, clock=system_clock, wait=over.wait):
        if isinstance(made, Exception):
            if first and isinstance(made, ArtefactMissing):
                raise made
            output.print_note(f"No copy was made: {made}. The next one is tried in {every}.")
        else:
            facts = {"copy": made.folder, "bytes": made.bytes, "removed": list(made.removed)}
            output.print_result(facts, as_json, f"{made.folder}  {made.bytes:,} bytes")
        first = False


@app.command()
def compact(data: Data, as_json: AsJson = False) -> None:
    """Give back the space of what was removed; the broker must be stopped.

    Example: `likewise admin compact likewise-data`
    """
    from likewise.broker.admin import compact as shrink

    before, after = shrink(data)
    _print({"bytes_before": before, "bytes_after": after}, as_json)


@app.command()
def migrate(data: Data, as_json: AsJson = False) -> None:
    """Bring a store of an earlier release to this one's version, wholly or not at all; the broker must be stopped.

    There is no way back: make a copy first.

    Example: `likewise admin backup likewise-data copy && likewise admin migrate likewise-data`
    """
    from likewise.broker.admin import migrate as bring_up

    migration = bring_up(data)
    text = f"{data} was brought from version {migration.before} to {migration.after}."
    if migration.before == migration.after:
        text = f"{data} has version {migration.after}; there is nothing to do."
    output.print_result({"before": migration.before, "after": migration.after}, as_json, text)


@app.command()
def verify(data: Data, as_json: AsJson = False) -> None:
    """Check a store's structure and the checksum of every row, running or not.

    Example: `likewise admin verify likewise-data`
    """
    from likewise.broker.admin import verify_store

    _print(verify_store(data), as_json)


@app.command()
def token(
    data: Data,
    name: Annotated[str, typer.Option("--name", help="What the token is called.")],
    scope: Annotated[
        list[str] | None,
        typer.Option("--scope", help="publish[:SOURCE], subscribe[:NAME], admin or metrics; repeat it."),
    ] = None,
    tenant: Annotated[str, typer.Option("--tenant", help="For whom.")] = "default",
    expires: Annotated[
        str | None,
        typer.Option("--expires", help="When it ends: a time like 2027-01-01T00:00:00Z, or a span like '30 d'."),
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Let it open nothing any more.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make a token for a store whose broker is stopped; it is shown once, and its hash is kept.

    Example: `likewise admin token likewise-data --name roof --scope publish:/roof --expires '90 d'`
    """
    from likewise.broker.log.tokens import make_token, remove_token
    from likewise.broker.log.writer import Store
    from likewise.matching.matcher import system_clock

    store = Store(data, clock=system_clock)
    try:
        if remove:
            store.commit(lambda c: remove_token(c, name, tenant))
            _print({"removed": name}, as_json)
        else:
            now = system_clock()
            ends = None if expires is None else _expiry(expires, now)
            made = store.commit(lambda c: make_token(c, name, tenant, scope or [], now, ends))
            _print({"name": name, "token": made}, as_json)
    finally:
        store.close()


def _expiry(text: str, now: int) -> int:
    """Return the time that a text names, or that lies a duration from now."""
    from likewise.model.time import duration, microseconds

    return now + duration(text) if text.strip()[-1:].isalpha() and "T" not in text else microseconds(text)


def _print(figures: Mapping[str, object], as_json: bool) -> None:
    if as_json:
        output.print_json(figures)
        return
    width = max(map(len, figures))
    for name, value in figures.items():
        if isinstance(value, Mapping):
            shown = " · ".join(f"{key} {each}" for key, each in value.items())
        else:
            shown = f"{value:,}" if isinstance(value, int) else str(value)
        output.print_line(f"{name.replace('_', ' '):<{width}}  {shown}")
