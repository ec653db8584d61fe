"""What the log holds: events, and every command that changes what is matched, in one order.

Because commands stand in the log beside the events, the state of matching is a function of the log up to
a position. A restart goes on from the last position whose deliveries are stored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import force_setattr, replace

from likewise.api.deliveries import Cause
from likewise.api.subscribers import QueuePolicy
from likewise.broker.log.catalogue.records import Basis
from likewise.broker.log.edges.connections import EdgePosition
from likewise.broker.log.edges.uplink import ReceivedPosition
from likewise.broker.log.mqtt.messages import StoredMessage
from likewise.broker.log.uuid7 import uuid7s
from likewise.errors import ArtefactDamaged, InvalidEvent, LikewiseError
from likewise.formats.json.batches import JsonBatch
from likewise.formats.json.events import event_from_json, event_to_json
from likewise.formats.version import JSON_VERSION
from likewise.model import Event, Subscription
from likewise.model.alerts.notification import Why
from likewise.model.announcements.announcement import Announcement
from likewise.semantics.enrichment.corrections import Correction

EVENT: Final = 0
COMMAND: Final = 1


class RegisterCommand(msgspec.Struct, frozen=True, tag="register"):
    """A subscriber exists from here on; registering again changes its queue and loses nothing."""

    subscriber: str
    policy: QueuePolicy
    limit: int


class UnregisterCommand(msgspec.Struct, frozen=True, tag="unregister"):
    """A subscriber, its subscriptions and its queue are forgotten."""

    subscriber: str


class SubscribeCommand(msgspec.Struct, frozen=True, tag="subscribe"):
    """A subscription holds from here on; with `replace` in place of the one with the same id.

    Those of one request stand in the log one after another, `part` being the place among them from 1 on: all of
    them hold, or none.
    """

    subscriber: str
    subscription: Subscription
    replace: bool = False
    part: int = 1


class UnsubscribeCommand(msgspec.Struct, frozen=True, tag="unsubscribe"):
    """A subscription holds no longer."""

    subscriber: str
    id: str


class WithdrawCommand(msgspec.Struct, frozen=True, tag="withdraw"):
    """An event is taken back (unpublished), by its position."""

    event: int


class TickCommand(msgspec.Struct, frozen=True, tag="tick"):
    """Time has passed, up to the entry's arrival."""


class ResumeCommand(msgspec.Struct, frozen=True, tag="resume"):
    """The broker goes on after it could hear nothing for so long, in µs."""

    after: int


class JudgeCommand(msgspec.Struct, frozen=True, tag="judge"):
    """An event was, or was not, what a subscription meant."""

    subscriber: str
    id: str
    event: Event
    relevant: bool


class RetryCommand(msgspec.Struct, frozen=True, tag="replay"):
    """A dead letter about an event is tried again, for its subscriber or, without one, for everybody."""

    letter: int
    event: int
    subscriber: int | None
    subscriptions: tuple[int, ...]


class SubscribeTopicCommand(msgspec.Struct, frozen=True, tag="subscribe-topic", omit_defaults=True):
    """A subscriber gets what is published to some topics from here on, with an acknowledgement.

    In place of one with the same filter, which keeps its number. With `retained` it first gets the retained messages
    that are acknowledged, too.
    """

    subscriber: str
    filter: str
    qos: int = 1
    no_local: bool = False
    retained: bool = False


class UnsubscribeTopicCommand(msgspec.Struct, frozen=True, tag="unsubscribe-topic"):
    """A subscription to topics holds no longer."""

    subscriber: str
    filter: str


class AnnounceCommand(msgspec.Struct, frozen=True, tag="announce"):
    """What a source can produce, from here on until `ends` (µs); with `said`, the next entry is the event of it."""

    announcement: Announcement
    ends: int
    said: bool = True
    before: int = 0  # the position of the event that said what it takes the place of


class RevokeCommand(msgspec.Struct, frozen=True, tag="revoke"):
    """What a source announced holds no longer: it says so, or its lease is over."""

    source: str
    reason: str = ""
    waited_for: int = 0  # the event of it, if whoever waits for the source goes on: its lease is over


class RouteCommand(msgspec.Struct, frozen=True, tag="bring"):
    """A bridge or an edge brings what some sources say, from here on."""

    bringer: str
    sources: tuple[str, ...]


class SuspendAbsenceCommand(msgspec.Struct, frozen=True, tag="excuse", omit_defaults=True):
    """The silence of some sources means nothing from here on, or (`ends`) counts again."""

    sources: tuple[str, ...]
    why: Why
    ends: bool = False


class ExpectCommand(msgspec.Struct, frozen=True, tag="expect", omit_defaults=True):
    """A source announced, by an event, what an alert waits for: its key is watched, or (`ends`) no longer."""

    subscription: int
    key: tuple[str, ...]
    source: str
    event: int
    ends: bool = False


class CorrectCommand(msgspec.Struct, frozen=True, tag="correct"):
    """A person says what an attribute is, in place of what was said about it before."""

    correction: Correction


class RemoveCorrectionCommand(msgspec.Struct, frozen=True, tag="take back"):
    """A correction holds no longer, by its number."""

    number: int


class PinSourceCommand(msgspec.Struct, frozen=True, tag="keep"):
    """A person's word that a source goes on whoever asks for it, or that it need not any more."""

    source: str
    kept: bool


class RenameSourceCommand(msgspec.Struct, frozen=True, tag="rename source", omit_defaults=True):
    """What was sent under a name belongs to other sources from here on.

    One source takes over the name's alerts, announcement and standing; of several (the name was shared by mistake) each
    begins anew. `label` is what people call the source. A command that names a source by itself only says its label.
    """

    before: str
    sources: tuple[str, ...]
    label: str = ""
    basis: Basis = ""


class RemoteDecision(msgspec.Struct, frozen=True, tag="decided", omit_defaults=True):
    """What the broker above, or an edge by its scores, decided about an event: what it met, by number, with scores.

    What an alert says of it has its facts in `said`.
    """

    source: str
    id: str
    cause: Cause
    subscriptions: tuple[tuple[int, float], ...]
    said: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


Command = (
    RegisterCommand
    | UnregisterCommand
    | SubscribeCommand
    | UnsubscribeCommand
    | WithdrawCommand
    | TickCommand
    | ResumeCommand
    | JudgeCommand
    | RetryCommand
    | SubscribeTopicCommand
    | UnsubscribeTopicCommand
    | AnnounceCommand
    | RevokeCommand
    | RouteCommand
    | SuspendAbsenceCommand
    | ExpectCommand
    | CorrectCommand
    | RemoveCorrectionCommand
    | PinSourceCommand
    | RenameSourceCommand
    | RemoteDecision
)
Applied = Callable[[object], None]


class BatchedEvent(msgspec.Struct, frozen=True, gc=False):
    """An event that was read into columns with others, by its place among them."""

    batch: JsonBatch
    place: int


class Entry(msgspec.Struct, gc=False):
    """One entry of the log. `position` and `arrival` are given when it is appended.

    `body` is the event's JSON envelope, with its payload in the bytes it came in where they are known. `ends` is the
    moment (µs) an event's validity is over. `applied` is told what became of a command, or the error it met, once that
    is on disk. `message` is what a device published, `received` the session and packet id of QoS 2 it came with. `hops`
    are the brokers that an event came over, `first_received` when the first of them got it, if that was said; `noted`
    is written in the entry's commit, even if it was there already.
    """

    tenant: int
    kind: int
    content: Event | Command | BatchedEvent
    body: bytes
    source: str = ""
    id: str = ""
    ends: int | None = None
    position: int = 0
    arrival: int = 0
    has_own_id: bool = False
    applied: Applied | None = None
    message: StoredMessage | None = None
    received: tuple[int, int] | None = None
    hops: tuple[str, ...] = ()
    first_received: int | None = None
    progress: EdgePosition | ReceivedPosition | None = None

    @property
    def value(self) -> Event | Command:
        """The event or the command; an event of a batch is made now."""
        said = self.content
        return _with_id(said.batch[said.place], self.id) if isinstance(said, BatchedEvent) else said

    @property
    def batch(self) -> JsonBatch | None:
        """The batch an event was read with, if it was."""
        return self.content.batch if isinstance(self.content, BatchedEvent) else None

    @property
    def time(self) -> int | None:
        """An event's own time; None if it states none, and for a command."""
        if isinstance(self.content, BatchedEvent):
            return self.content.batch.envelope_fields(self.content.place).time
        return self.content.time if isinstance(self.content, Event) else None


class RemovedEvent(NamedTuple):
    """An event that the log holds no longer: its validity was over, or it had been withdrawn."""

    tenant: int
    position: int
    id: str
    source: str


_EVENTS: Final = msgspec.json.Decoder(Event)
_COMMANDS: Final[msgspec.json.Decoder[Command]] = msgspec.json.Decoder(Command)
_ENCODE: Final = msgspec.json.Encoder().encode
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_WRITTEN: Final = b'{"v":%d,"tuples":' % JSON_VERSION  # how an envelope begins that was written here


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


def _with_id(event: Event, id: str) -> Event:
    """An event with an id, its own if it has one."""
    if event.id is None:
        event = copy(event)
        force_setattr(event, "id", id)  # of a copy that nobody else knows
    return event


def check_id(id: str) -> None:
    """Refuse an id that nobody could address the event by.

    >>> check_id("a\\nb")
    Traceback (most recent call last):
    likewise.errors.InvalidEvent: the id 'a\\nb' has control characters; leave them out
    """
    if not id:
        raise InvalidEvent("the event's id is empty; give it one, or leave `id` out and it gets one")
    if _CONTROL.search(id) is not None:
        raise InvalidEvent(f"the id {id[:60]!r} has control characters; leave them out")


def batch_entries(tenant: int, batch: JsonBatch, kept: int | None) -> list[Entry]:
    """The entries of a tenant's events that were read together: no `Event` is made, and each keeps its own bytes.

    >>> from likewise.formats.json.batches import decode_each
    >>> [entry] = batch_entries(1, decode_each([b'{"v": 1, "payload": {"no2": 45}, "id": "e1"}']), kept=7)
    >>> entry.id, entry.ends, entry.body, entry.value.tuples[0].value
    ('e1', 7, b'{"v": 1, "payload": {"no2": 45}, "id": "e1"}', 45)
    """
    around = [batch.envelope_fields(place) for place in range(len(batch))]
    new_ids = iter(uuid7s(sum(each.id is None for each in around)))
    ids = []
    for each in around:
        if each.id is None:
            ids.append(next(new_ids))
        else:
            check_id(each.id)
            ids.append(each.id)
    columnar, entries = batch.columnar, []
    for place, (each, id, envelope) in enumerate(zip(around, ids, batch.envelopes(ids), strict=True)):
        ends = each.expires
        if kept is not None:
            ends = kept if ends is None else min(ends, kept)
        body = envelope or event_body(_with_id(batch[place], id))
        said = BatchedEvent(batch, place) if columnar else _with_id(batch[place], id)
        entries.append(Entry(tenant, EVENT, said, body, each.source or "", id, ends, 0, 0, each.id is not None))
    return entries


def by_tenant(entries: Sequence[Entry]) -> dict[int, Sequence[Entry]]:
    """The entries of each tenant, in order; most often all are of one.

    >>> {number: len(own) for number, own in by_tenant([Entry(n, COMMAND, Tick(), b"") for n in (1, 2, 1)]).items()}
    {1: 2, 2: 1}
    """
    if not entries:
        return {}
    first = entries[0].tenant
    if all(entry.tenant == first for entry in entries):
        return {first: entries}
    found: dict[int, list[Entry]] = {}
    for entry in entries:
        found.setdefault(entry.tenant, []).append(entry)
    return dict(found)


def normalized(event: Event) -> Event:
    """What an event says, whatever the order of its keys: two with equal contents are the same.

    >>> from likewise.model import event
    >>> one, other = event({"a": [1, 2], "b": 3}), event({"b": 3, "a": [1, 2]})
    >>> content(one) == content(other), content(one) == content(event({"a": [2, 1], "b": 3}))
    (True, False)
    """
    groups: dict[int, int] = {0: 0}
    tuples = sorted(event.tuples, key=lambda item: item.attribute)  # of equal attributes the order stays
    made = tuple(replace(item, group=groups.setdefault(item.group, len(groups))) for item in tuples)
    return replace(event, tuples=made)


def same_content(one: Entry, other: Entry) -> bool:
    """Whether two entries are the same event: blanks and the order of keys do not count, the kind of a number does."""
    if one.body == other.body:
        return True
    if not isinstance(one.value, Event) or not isinstance(other.value, Event):
        return False
    return event_body(normalized(one.value)) == event_body(normalized(other.value))


def without_source(event: Event) -> bytes:
    """Return what an event says, whoever sent it and whatever the order of its keys, as bytes to compare."""
    return event_body(replace(normalized(event), source=None))


def set_source(entry: Entry, source: str) -> None:
    """Let an event be of another source: its name stands for that one."""
    value = entry.value
    assert isinstance(value, Event)
    entry.content = replace(value, source=source)
    entry.source, entry.body = source, event_body(entry.content)


def event_entries(tenant: int, events: Sequence[Event], kept: int | None) -> list[Entry]:
    """The entries of a tenant's events: one without an id is given one; valid until it expires, and `kept` at most.

    >>> from likewise.model import event
    >>> [entry] = event_entries(1, [event({"no2": 45}, id="e1", expires=9)], kept=7)
    >>> entry.id, entry.ends, entry.own_id
    ('e1', 7, True)
    """
    if isinstance(events, JsonBatch):
        return batch_entries(tenant, events, kept)
    entries = []
    new_ids = iter(uuid7s(sum(event.id is None for event in events)))
    for event in events:
        own_id = event.id is not None
        if event.id is None:
            event = _with_id(event, next(new_ids))
        else:
            check_id(event.id)
        ends = event.expires
        if kept is not None:
            ends = kept if ends is None else min(ends, kept)
        assert event.id is not None
        entries.append(
            Entry(tenant, EVENT, event, event_body(event), event.source or "", event.id, ends, has_own_id=own_id)
        )
    return entries


def shown_event(entry: Entry) -> dict[str, Any]:
    """An event as it is shown: its envelope with its tuples, whichever form it came in."""
    assert isinstance(entry.value, Event)
    found: dict[str, Any] = msgspec.json.decode(event_body(entry.value))
    return found


def is_written(body: bytes) -> bool:
    """Whether an event's tuples were written here, not its payload kept as it came."""
    return body.startswith(_WRITTEN)


def read_event(body: bytes, position: int) -> Event:
    """The event at a position of the log: its tuples as they were written, or its payload, which is read again.

    >>> read_event(b'{"v":1,"tuples":[{"attribute":"no2","value":45}]}', 1).tuples[0].value
    45
    >>> read_event(b'{"v":1,"payload":{"no2":45},"id":"e1"}', 1).tuples[0].value
    45
    """
    try:
        return _EVENTS.decode(body) if is_written(body) else event_from_json(body, bare=False)
    except (msgspec.MsgspecError, LikewiseError) as error:
        raise ArtefactDamaged(f"entry {position} of the log cannot be read: {error}; restore a copy") from error
