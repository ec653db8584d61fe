"""What the log holds: events, and every command that changes what is matched, in one order.

Because commands stand in the log beside the events, the state of matching is a function of the log up to
a position. A restart goes on from the last position whose deliveries are stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import force_setattr

from likewise.broker.store.ids import uuid7s
from likewise.errors import ArtefactDamaged
from likewise.formats.json.events import event_to_json
from likewise.formats.wire.subscribers import Policy
from likewise.model import Event, Subscription

EVENT: Final = 0
COMMAND: Final = 1


class Register(msgspec.Struct, frozen=True, tag="register"):
    """A subscriber exists from here on; registering again changes its queue and loses nothing."""

    subscriber: str
    policy: Policy
    limit: int


class Unregister(msgspec.Struct, frozen=True, tag="unregister"):
    """A subscriber, its subscriptions and its queue are forgotten."""

    subscriber: str


class Subscribe(msgspec.Struct, frozen=True, tag="subscribe"):
    """A subscription holds from here on; with `replace` in place of the one with the same id.

    Those of one request stand in the log one after another, `part` being the place among them from 1 on: all of
    them hold, or none.
    """

    subscriber: str
    subscription: Subscription
    replace: bool = False
    part: int = 1


class Unsubscribe(msgspec.Struct, frozen=True, tag="unsubscribe"):
    """A subscription holds no longer."""

    subscriber: str
    id: str


class Withdraw(msgspec.Struct, frozen=True, tag="withdraw"):
    """An event is taken back (unpublished), by its position."""

    event: int


class Tick(msgspec.Struct, frozen=True, tag="tick"):
    """Time has passed, up to the entry's arrival."""


class Judge(msgspec.Struct, frozen=True, tag="judge"):
    """An event was, or was not, what a subscription meant."""

    subscriber: str
    id: str
    event: Event
    relevant: bool


class Retry(msgspec.Struct, frozen=True, tag="replay"):
    """A dead letter about an event is tried again, for its subscriber or, without one, for everybody."""

    letter: int
    event: int
    subscriber: int | None
    subscriptions: tuple[int, ...]


Command = Register | Unregister | Subscribe | Unsubscribe | Withdraw | Tick | Judge | Retry
Applied = Callable[[object], None]


class Entry(msgspec.Struct, gc=False):
    """One entry of the log. `position` and `arrival` are given when it is appended.

    `ends` is the moment (µs) an event's validity is over. `applied` is told what became of a command, or the
    error it met, once that is on disk.
    """

    tenant: int
    kind: int
    value: Event | Command
    body: bytes
    source: str = ""
    id: str = ""
    ends: int | None = None
    position: int = 0
    arrival: int = 0
    own_id: bool = False
    applied: Applied | None = None


class Gone(NamedTuple):
    """An event that the log holds no longer: its validity was over, or it had been withdrawn."""

    tenant: int
    position: int
    id: str
    source: str


_EVENTS: Final = msgspec.json.Decoder(Event)
_COMMANDS: Final[msgspec.json.Decoder[Command]] = msgspec.json.Decoder(Command)
_ENCODE: Final = msgspec.json.Encoder().encode


def command_entry(tenant: int, command: Command, applied: Applied | None = None) -> Entry:
    """The entry of a command.

    >>> command_entry(1, Withdraw(7)).body
    b'{"type":"withdraw","event":7}'
    """
    return Entry(tenant, COMMAND, command, _ENCODE(command), applied=applied)


def read_command(body: bytes) -> Command:
    """The command an entry's body says.

    >>> read_command(b'{"type":"withdraw","event":7}')
    Withdraw(event=7)
    """
    return _COMMANDS.decode(body)


event_body = event_to_json  # the published JSON envelope is what the log holds


def event_entries(tenant: int, events: Sequence[Event], kept: int | None) -> list[Entry]:
    """The entries of a tenant's events: one without an id is given one; valid until it expires, and `kept` at most.

    >>> from likewise.model import event
    >>> [entry] = event_entries(1, [event({"no2": 45}, id="e1", expires=9)], kept=7)
    >>> entry.id, entry.ends, entry.own_id
    ('e1', 7, True)
    """
    entries = []
    new_ids = iter(uuid7s(sum(event.id is None for event in events)))
    for event in events:
        own_id = event.id is not None
        if not own_id:
            event = copy(event)
            force_setattr(event, "id", next(new_ids))  # of a copy that nobody else knows
        ends = event.expires
        if kept is not None:
            ends = kept if ends is None else min(ends, kept)
        assert event.id is not None
        entries.append(
            Entry(tenant, EVENT, event, event_body(event), event.source or "", event.id, ends, own_id=own_id)
        )
    return entries


def read_event(body: bytes, position: int) -> Event:
    """The event at a position of the log, read back without its checks.

    >>> read_event(b'{"v":1,"tuples":[{"attribute":"no2","value":45}]}', 1).tuples[0].value
    45
    """
    try:
        return _EVENTS.decode(body)
    except msgspec.MsgspecError as error:
        raise ArtefactDamaged(f"entry {position} of the log cannot be read: {error}; restore a copy") from error
