"""`likewise stream subscriptions`: the change log of subscriptions that streams on Spark follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.terminal import output
from likewise.cli.terminal.options import AsJson, Subscriptions, SubscriptionsFile, command_group

if TYPE_CHECKING:
    from likewise.lake.subscription_snapshot import SubscriptionSnapshot

app = command_group(
    "The subscriptions that streams follow: a log of changes in a folder.",
    "likewise stream subscriptions list subscriptions/",
)
Folder = Annotated[
    str, typer.Argument(metavar="DIR", help="The folder of the change log, or an object store's address.")
]


@app.command()
def add(
    folder: Folder,
    subscriptions: Subscriptions = None,
    file: SubscriptionsFile = None,
    as_json: AsJson = False,
) -> None:
    """Hold subscriptions, in place of those with the same name; a stream follows from its next batch on.

    Example: `likewise stream subscriptions add subscriptions/ 'warm: {temperature > 25 degC}'`
    """
    from likewise.cli.terminal.text_input import collect_subscriptions
    from likewise.formats.json.subscriptions import with_default_id
    from likewise.lake.change_log import ChangeLog
    from likewise.matching.matcher import system_clock

    parsed = [with_default_id(each) for each in collect_subscriptions(subscriptions, file)]
    active = ChangeLog(folder).add(parsed, at=system_clock())
    _print_version(active, as_json, numbers={each.id: active.number(each.id) for each in parsed})


@app.command()
def remove(
    folder: Folder,
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="Which ones.")],
    as_json: AsJson = False,
) -> None:
    """Hold subscriptions no longer.

    Example: `likewise stream subscriptions remove subscriptions/ warm`
    """
    from likewise.lake.change_log import ChangeLog

    active = ChangeLog.opened(folder).remove(names)
    _print_version(active, as_json, removed=names)


def _print_version(active: SubscriptionSnapshot, as_json: bool, **changed: object) -> None:
    count = len(active.subscriptions)
    facts = {"version": active.version, "subscriptions": count, **changed}
    output.print_result(facts, as_json, f"Version {active.version} holds {count:,} subscriptions.")


@app.command("list")
def list_subscriptions(
    folder: Folder,
    version: Annotated[int | None, typer.Option(min=0, help="As they were at this version.")] = None,
    as_json: AsJson = False,
) -> None:
    """List what is held: its number, which is never another one's, its name, its kind and its text.

    Example: `likewise stream subscriptions list subscriptions/ --version 3`
    """
    from likewise.lake.change_log import ChangeLog
    from likewise.language import subscription_text
    from likewise.model.rendering import KINDS

    active = ChangeLog.opened(folder).snapshot(version)
    listed = [(n, each.subscription) for n, each in active.subscriptions.items()]
    if as_json:
        shown = [{"number": n, "id": s.id, "kind": s.kind, "text": subscription_text(s)} for n, s in listed]
        output.print_json({"version": active.version, "subscriptions": shown})
    elif not listed:
        output.print_line(f"Version {active.version} holds no subscription.")
    else:
        rows = [(str(n), s.id, KINDS[s.kind], subscription_text(s)) for n, s in listed]
        output.print_table(("number", "name", "kind", "subscription"), rows)


@app.command()
def compact(
    folder: Folder,
    keep: Annotated[int, typer.Option(min=0, help="How many versions back can still be looked at.")] = 100,
    as_json: AsJson = False,
) -> None:
    """Write a snapshot of what is held, so that starting is quick, and forget old versions.

    Example: `likewise stream subscriptions compact subscriptions/`
    """
    from likewise.lake.change_log import ChangeLog

    log = ChangeLog.opened(folder)
    removed, version = log.compact(keep), log.newest()
    text = f"Version {version} has a snapshot; {removed:,} files of old versions are gone."
    output.print_result({"version": version, "removed": removed}, as_json, text)
