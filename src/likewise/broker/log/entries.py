"""The entries of the log: events, and every command that changes what is matched, in one order.

Because commands stand in the log beside the events, the state of matching is a function of the log up to
a position. A restart goes on from the last position whose deliveries are stored.

Events without an id get a UUIDv7, which sorts by the time it was made (RFC 9562, section 5.7).
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
from msgspec.structs import force_setattr, replace

from likewise.api.deliveries import Cause
from likewise.api.subscribers import QueuePolicy
from likewise.broker.log.catalogue.records import Basis
from likewise.broker.log.edges.connections import EdgePosition
from likewise.broker.log.edges.uplink import ReceivedPosition
from likewise.broker.log.mqtt.messages import StoredMessage
from likewise.errors import ArtefactDamaged, InvalidEvent, LikewiseError
from likewise.formats.json.batches import JsonBatch
from likewise.formats.json.events import event_from_json, event_to_json
from likewise.formats.version import JSON_VERSION
from likewise.model import Event, Subscription
from likewise.model.alerts.notification import Why
from likewise.model.announcements.announcement import Announcement
from likewise.semantics.enrichment.corrections import Correction

_VARIANT: Final = dict(zip("0123456789abcdef", "89ab" * 4, strict=True))  # two bits of it say the kind of UUID
_DRAWN: Final = 4096  # bytes of chance asked of the system at once: a call costs more than they do
_MANY: Final = 16  # ids from which on they are written as one array of characters
_DIGITS: Final = np.frombuffer(b"0123456789abcdef", np.uint8)
_SHIFTS: Final = np.arange(56, -4, -4, dtype=np.uint64)  # of the 15 digits of a stamp
_VARIANTS: Final = np.array([ord(_VARIANT.get(chr(code), "8")) for code in range(128)], np.uint8)
_lock = threading.Lock()
_last = 0
_chance = ""  # hexadecimal digits that nobody has had


def _forget_chance() -> None:
    """Draw new random bits in a forked process."""
    global _chance
    _chance = ""


os.register_at_fork(after_in_child=_forget_chance)


def uuid7() -> str:
    """Return a new UUIDv7; those of one process strictly ascend.

    >>> a, b = uuid7(), uuid7()
    >>> a < b, a[14], len(a)
    (True, '7', 36)
    """
    return uuid7s(1)[0]


def uuid7s(count: int) -> list[str]:
    """Return new UUIDv7s, ascending.

    The 12 bits after the milliseconds hold the fraction of a millisecond (method 3 of section 6.2), moved on
    by one where the clock has not moved.

    >>> len(set(uuid7s(1000)))
    1000
    """
    global _last, _chance
    with _lock:
        milliseconds, rest = divmod(time.time_ns(), 1_000_000)
        first = max(milliseconds << 12 | rest * 4096 // 1_000_000, _last + 1)
        _last = first + count - 1
        if len(_chance) < 16 * count:
            _chance = os.urandom(max(_DRAWN, 8 * count)).hex()
        chance, _chance = _chance[: 16 * count], _chance[16 * count :]
    if count >= _MANY:
        return _written(first, chance, count)
    ids = []
    known, begin = -1, ""
    for n in range(count):
        stamp, tail = first + n, chance[16 * n : 16 * n + 16]
        if stamp >> 12 != known:  # most of a batch share their millisecond
            known = stamp >> 12
            begin = f"{known >> 16:08x}-{known & 0xFFFF:04x}-7"
        ids.append(f"{begin}{stamp & 0xFFF:03x}-{_VARIANT[tail[0]]}{tail[1:4]}-{tail[4:]}")
    return ids


def _written(first: int, chance: str, count: int) -> list[str]:
    """Format many at once: a row of characters each."""
    stamps = np.arange(first, first + count, dtype=np.uint64)
    digits = _DIGITS[(stamps[:, None] >> _SHIFTS) & np.uint64(15)]
    drawn = np.frombuffer(chance.encode(), np.uint8).reshape(count, 16)
    made = np.full((count, 36), ord("-"), np.uint8)
    made[:, :8], made[:, 9:13], made[:, 15:18] = digits[:, :8], digits[:, 8:12], digits[:, 12:]
    made[:, 14] = ord("7")
    made[:, 19], made[:, 20:23], made[:, 24:] = _VARIANTS[drawn[:, 0]], drawn[:, 1:4], drawn[:, 4:]
    text = made.tobytes().decode("ascii")
    return [text[n : n + 36] for n in range(0, len(text), 36)]


EVENT: Final = 0
COMMAND: Final = 1


class RegisterCommand(msgspec.Struct, frozen=True, tag="register"):
    """Create a subscriber, or change its queue without losing anything."""

    subscriber: str
    policy: QueuePolicy
    limit: int


class UnregisterCommand(msgspec.Struct, frozen=True, tag="unregister"):
    """Remove a subscriber with its subscriptions and its queue."""

    subscriber: str


class SubscribeCommand(msgspec.Struct, frozen=True, tag="subscribe"):
    """Add a subscription; with `replace` in place of the one with the same id.

    Those of one request stand in the log one after another, `part` being the place among them from 1 on: all of
    them hold, or none.
    """

    subscriber: str
    subscription: Subscription
    replace: bool = False
    part: int = 1


class UnsubscribeCommand(msgspec.Struct, frozen=True, tag="unsubscribe"):
    """Remove a subscription."""

    subscriber: str
    id: str


class WithdrawCommand(msgspec.Struct, frozen=True, tag="withdraw"):
    """Withdraw (unpublish) an event, by its position."""

    event: int


class TickCommand(msgspec.Struct, frozen=True, tag="tick"):
    """Advance time to the entry's arrival."""


class ResumeCommand(msgspec.Struct, frozen=True, tag="resume"):
    """Report an outage of the broker of so many µs."""

    after: int


class JudgeCommand(msgspec.Struct, frozen=True, tag="judge"):
    """Record feedback: whether an event was what a subscription meant."""

    subscriber: str
    id: str
    event: Event
    relevant: bool


class RetryCommand(msgspec.Struct, frozen=True, tag="replay"):
    """Retry a dead letter about an event, for its subscriber or, without one, for all."""

    letter: int
    event: int
    subscriber: int | None
    subscriptions: tuple[int, ...]


class SubscribeTopicCommand(msgspec.Struct, frozen=True, tag="subscribe-topic", omit_defaults=True):
    """Add an acknowledged subscription to topics.

    In place of one with the same filter, which keeps its number. With `retained` it first gets the retained messages
    that are acknowledged, too.
    """

    subscriber: str
    filter: str
    qos: int = 1
    no_local: bool = False
    retained: bool = False


class UnsubscribeTopicCommand(msgspec.Struct, frozen=True, tag="unsubscribe-topic"):
    """Remove a subscription to topics."""

    subscriber: str
    filter: str


class AnnounceCommand(msgspec.Struct, frozen=True, tag="announce"):
    """Announce a source until `ends` (µs); with `said`, the next entry is the announcement's event."""

    announcement: Announcement
    ends: int
    said: bool = True
    before: int = 0  # the position of the event that said what it takes the place of


class RevokeCommand(msgspec.Struct, frozen=True, tag="revoke"):
    """Revoke a source's announcement, by its own word or because its lease is over."""

    source: str
    reason: str = ""
    waited_for: int = 0  # the event of it, if whoever waits for the source goes on: its lease is over


class RouteCommand(msgspec.Struct, frozen=True, tag="bring"):
    """Record which bridge or edge brings the events of some sources."""

    bringer: str
    sources: tuple[str, ...]


class SuspendAbsenceCommand(msgspec.Struct, frozen=True, tag="excuse", omit_defaults=True):
    """Suspend `absent for` for some sources or, with `ends`, resume it."""

    sources: tuple[str, ...]
    why: Why
    ends: bool = False


class ExpectCommand(msgspec.Struct, frozen=True, tag="expect", omit_defaults=True):
    """Watch a key that a source announced by an event or, with `ends`, watch it no longer."""

    subscription: int
    key: tuple[str, ...]
    source: str
    event: int
    ends: bool = False


class CorrectCommand(msgspec.Struct, frozen=True, tag="correct"):
    """Correct what an attribute means, in place of an earlier correction."""

    correction: Correction


class RemoveCorrectionCommand(msgspec.Struct, frozen=True, tag="take back"):
    """Remove a correction, by its number."""

    number: int


class PinSourceCommand(msgspec.Struct, frozen=True, tag="keep"):
    """Pin a source, so that it stays on without demand, or unpin it."""

    source: str
    kept: bool


class RenameSourceCommand(msgspec.Struct, frozen=True, tag="rename source", omit_defaults=True):
    """Move a name to other sources: what was sent under it belongs to them.

    One source takes over the name's alerts, announcement and standing; of several (the name was shared by mistake) each
    begins anew. `label` is what people call the source. A command that names a source by itself only says its label.
    """

    before: str
    sources: tuple[str, ...]
    label: str = ""
    basis: Basis = ""


class RemoteDecision(msgspec.Struct, frozen=True, tag="decided", omit_defaults=True):
    """A decision of the broker above, or of an edge by its scores: the matched subscriptions of an event.

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
    """An event of a columnar batch, by its index there."""

    batch: JsonBatch
    place: int


class Entry(msgspec.Struct, gc=False):
    """An entry of the log. `position` and `arrival` are set when it is appended.

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
        """Return the event or the command; an event of a batch is built on demand."""
        decoded = self.content
        return _with_id(decoded.batch[decoded.place], self.id) if isinstance(decoded, BatchedEvent) else decoded

    @property
    def batch(self) -> JsonBatch | None:
        """Return the batch an event was decoded with, if there is one."""
        return self.content.batch if isinstance(self.content, BatchedEvent) else None

    @property
    def time(self) -> int | None:
        """Return an event's own time; None if it states none, and for a command."""
        if isinstance(self.content, BatchedEvent):
            return self.content.batch.envelope_fields(self.content.place).time
        return self.content.time if isinstance(self.content, Event) else None


class RemovedEvent(NamedTuple):
    """An event that was removed from the log because it expired or was withdrawn."""

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
    """Return the entry of a command.

    >>> command_entry(1, WithdrawCommand(7)).body
    b'{"type":"withdraw","event":7}'
    """
    return Entry(tenant, COMMAND, command, _ENCODE(command), applied=applied)


def read_command(body: bytes) -> Command:
    """Decode the command of an entry's body.

    >>> read_command(b'{"type":"withdraw","event":7}')
    WithdrawCommand(event=7)
    """
    return _COMMANDS.decode(body)


event_body = event_to_json  # the published JSON envelope is what the log holds


def _with_id(event: Event, id: str) -> Event:
    """Return an event with an id, its own if it has one."""
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


def batch_entries(tenant: int, batch: JsonBatch, expires_at: int | None) -> list[Entry]:
    """Return the entries of a batch of events without building any `Event`; each keeps its own bytes.

    >>> from likewise.formats.json.batches import decode_each
    >>> [entry] = batch_entries(1, decode_each([b'{"v": 1, "payload": {"no2": 45}, "id": "e1"}']), expires_at=7)
    >>> entry.id, entry.ends, entry.body, entry.value.tuples[0].value
    ('e1', 7, b'{"v": 1, "payload": {"no2": 45}, "id": "e1"}', 45)
    """
    envelopes = [batch.envelope_fields(place) for place in range(len(batch))]
    new_ids = iter(uuid7s(sum(each.id is None for each in envelopes)))
    ids = []
    for each in envelopes:
        if each.id is None:
            ids.append(next(new_ids))
        else:
            check_id(each.id)
            ids.append(each.id)
    columnar, entries = batch.columnar, []
    for place, (each, id, envelope) in enumerate(zip(envelopes, ids, batch.envelopes(ids), strict=True)):
        ends = each.expires
        if expires_at is not None:
            ends = expires_at if ends is None else min(ends, expires_at)
        body = envelope or event_body(_with_id(batch[place], id))
        decoded = BatchedEvent(batch, place) if columnar else _with_id(batch[place], id)
        entries.append(Entry(tenant, EVENT, decoded, body, each.source or "", id, ends, 0, 0, each.id is not None))
    return entries


def by_tenant(entries: Sequence[Entry]) -> dict[int, Sequence[Entry]]:
    """Group entries by tenant, in order.

    >>> entries = [Entry(n, COMMAND, TickCommand(), b"") for n in (1, 2, 1)]
    >>> {number: len(group) for number, group in by_tenant(entries).items()}
    {1: 2, 2: 1}
    """
    if not entries:
        return {}
    first = entries[0].tenant
    if all(entry.tenant == first for entry in entries):
        return {first: entries}
    groups: dict[int, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.tenant, []).append(entry)
    return dict(groups)


def normalized(event: Event) -> Event:
    """Return an event in canonical order of keys, so that events with equal content compare equal.

    >>> from likewise.model import event
    >>> one, other = event({"a": [1, 2], "b": 3}), event({"b": 3, "a": [1, 2]})
    >>> normalized(one) == normalized(other), normalized(one) == normalized(event({"a": [2, 1], "b": 3}))
    (True, False)
    """
    groups: dict[int, int] = {0: 0}
    tuples = sorted(event.tuples, key=lambda item: item.attribute)  # of equal attributes the order stays
    made = tuple(replace(item, group=groups.setdefault(item.group, len(groups))) for item in tuples)
    return replace(event, tuples=made)


def same_content(one: Entry, other: Entry) -> bool:
    """Return whether two entries are the same event, regardless of blanks and the order of keys.

    Deduplication makes publishing idempotent: the same event under a known id is a duplicate, other content a conflict.
    """
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


def event_entries(tenant: int, events: Sequence[Event], expires_at: int | None) -> list[Entry]:
    """Return the entries of events; one without an id gets one, and each expires at `kept` at the latest.

    >>> from likewise.model import event
    >>> [entry] = event_entries(1, [event({"no2": 45}, id="e1", expires=9)], expires_at=7)
    >>> entry.id, entry.ends, entry.has_own_id
    ('e1', 7, True)
    """
    if isinstance(events, JsonBatch):
        return batch_entries(tenant, events, expires_at)
    entries = []
    new_ids = iter(uuid7s(sum(event.id is None for event in events)))
    for event in events:
        has_id = event.id is not None
        if event.id is None:
            event = _with_id(event, next(new_ids))
        else:
            check_id(event.id)
        ends = event.expires
        if expires_at is not None:
            ends = expires_at if ends is None else min(ends, expires_at)
        assert event.id is not None
        entries.append(
            Entry(tenant, EVENT, event, event_body(event), event.source or "", event.id, ends, has_own_id=has_id)
        )
    return entries


def shown_event(entry: Entry) -> dict[str, Any]:
    """Return an event's envelope with its tuples, whatever form it was published in."""
    assert isinstance(entry.value, Event)
    shown: dict[str, Any] = msgspec.json.decode(event_body(entry.value))
    return shown


def is_written(body: bytes) -> bool:
    """Return whether an envelope holds encoded tuples, not the payload as it was published."""
    return body.startswith(_WRITTEN)


def read_event(body: bytes, position: int) -> Event:
    """Decode an event of the log: its tuples, or the payload as it was published.

    >>> read_event(b'{"v":1,"tuples":[{"attribute":"no2","value":45}]}', 1).tuples[0].value
    45
    >>> read_event(b'{"v":1,"payload":{"no2":45},"id":"e1"}', 1).tuples[0].value
    45
    """
    try:
        return _EVENTS.decode(body) if is_written(body) else event_from_json(body, bare=False)
    except (msgspec.MsgspecError, LikewiseError) as error:
        raise ArtefactDamaged(f"entry {position} of the log cannot be read: {error}; restore a copy") from error
