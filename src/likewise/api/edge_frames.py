"""Frames between an edge broker and its hub over `/v1/edges/{id}` (docs/guides/edge.md).

Every message is one JSON text with `v` and `type`. The edge speaks first. What an edge sends is numbered by it
(`sequence`, within an `epoch`), what it is delivered by the broker above; either side acknowledges what is on its disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

import msgspec

from likewise.api.deliveries import Cause
from likewise.api.sources import SensingCommand
from likewise.defaults import EDGE_HOPS, EDGE_ITEMS
from likewise.errors import FormatError
from likewise.model.announcements.announcement import AnnouncedAttribute, Announcement
from likewise.model.predicate import Predicate

VERSION: Final = 1
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Count = Annotated[int, msgspec.Meta(ge=0, lt=2**62)]
EdgePath = Annotated[tuple[str, ...], msgspec.Meta(max_length=EDGE_HOPS)]  # the brokers that something came over
Alternatives = tuple[tuple[tuple[Predicate, ...], ...], ...]  # one of which an event must meet in all parts


class Frame(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", kw_only=True):
    """Base of all frames: the version of the protocol."""

    v: int = VERSION


class HelloFrame(Frame, frozen=True, tag="hello"):
    """The edge's first message: who it is, which demand it has, and what waits in its outbox.

    `line` and `received` are up to where it has the deliveries of which line; `below` are the edges that it serves.
    """

    id: Name
    epoch: Name
    demand: str = ""
    first: Count = 0
    last: Count = 0
    line: str = ""
    received: Count = 0
    below: tuple[str, ...] = ()


class HelloAckFrame(Frame, frozen=True, tag="welcome"):
    """The answer: up to where its items are stored here, and what it may send at once.

    `interval` is the seconds between two signs of life; who hears none for two of them lets go. `renames` says that it
    is told of sources' names (`RenameFrame`), which a broker of before does not know.
    """

    sequence: Count
    line: str
    interval: float
    items: int
    bytes: int
    decides: tuple[str, ...] = ()
    renames: bool = False


class AnnounceFrame(Frame, frozen=True, tag="announce"):
    """Announce what a source of the edge can produce; repeated, it renews the lease."""

    announcement: Announcement


class RevokeFrame(Frame, frozen=True, tag="revoke"):
    """Revoke the announcement of a source."""

    source: str
    reason: str = ""


class SourceRename(msgspec.Struct, frozen=True, omit_defaults=True):
    """A former source name and the sources that its events belong to now, as in the log."""

    before: str
    sources: tuple[str, ...]
    label: str = ""
    basis: Literal["", "discovery", "device"] = ""


class RenameFrame(Frame, frozen=True, tag="rename"):
    """Names of the edge's sources that were given up; what is known is no news."""

    names: Annotated[tuple[SourceRename, ...], msgspec.Meta(max_length=EDGE_ITEMS)]


class VocabularyFrame(Frame, frozen=True, tag="vocabulary"):
    """Names, units and texts that events of a source have beside what it announced, for what is asked of it.

    `themes` are those of the events; a source may have events of several.
    """

    source: str
    themes: tuple[str, ...] = ()
    attributes: tuple[AnnouncedAttribute, ...] = ()
    texts: dict[str, tuple[str, ...]] = {}


class FilterSpec(msgspec.Struct, frozen=True):
    """An exact filter of the demand, by a number."""

    number: str
    alternatives: Alternatives


class TermSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """An attribute as it is understood: what `likewise.semantics.measure.Term` says of it."""

    text: str
    theme: tuple[str, ...] = ()
    unit: str = ""
    kind: str = ""
    context: tuple[str, ...] = ()


class LocalSubscriptionSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """The scores by which an edge evaluates one of its relaxed subscriptions for events of a group.

    `filter` finds candidates. `needed` is what they must reach: as a whole, in every relaxed part, and what rules out
    under `not`. `attributes` and `values` are scores: a row for each term that the subscription asks about, in its
    order, a column for each of the group's `terms`, or `values`. `opposed` are names that say opposites.
    """

    subscription: Count
    filter: str
    needed: tuple[float, float, float]
    attributes: tuple[tuple[float, ...], ...] = ()
    values: tuple[tuple[float, ...], ...] = ()
    opposed: tuple[tuple[str, str], ...] = ()


class SourceGroupSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """The demand for sources that offer the same, by their names and the themes of their events.

    `terms`, `allowed` and `texts` are what the filters were judged by: an event that has something else is wanted.
    `own` are subscriptions of the edge that it decides itself, with scores of `terms` and `values`.
    """

    group: str
    sources: tuple[tuple[str, tuple[str, ...]], ...]
    filters: tuple[str, ...] = ()
    terms: tuple[TermSpec, ...] = ()
    allowed: dict[str, tuple[Predicate, ...]] = {}
    texts: dict[str, tuple[str, ...]] = {}
    everything: bool = False
    own: tuple[LocalSubscriptionSpec, ...] = ()
    values: tuple[TermSpec, ...] = ()


class DemandFrame(Frame, frozen=True, tag="demand"):
    """The hub's demand: a change of the version `base`, or the whole demand without one.

    With `since`, what is new is also asked of the events that the edge has. It counts until `until` (µs since 1970).
    """

    version: str
    base: str = ""
    until: Count = 0
    add: tuple[FilterSpec, ...] = ()
    drop: tuple[str, ...] = ()
    groups: tuple[SourceGroupSpec, ...] = ()
    gone: tuple[str, ...] = ()
    since: bool = True


class DemandAckFrame(Frame, frozen=True, tag="demand-ack"):
    """The edge goes by a demand from now on; with `unknown`, it lacks what it is based on and needs all of it."""

    version: str
    unknown: bool = False


class SenseFrame(Frame, frozen=True, tag="sense"):
    """A sensing command for a controllable source of the edge."""

    sense: SensingCommand


class EdgeItem(msgspec.Struct, frozen=True, omit_defaults=True, array_like=True):
    """An event of the edge, as an array: its sequence, its envelope, and over which edges below it came.

    `received` is when the first broker got it (µs), said where the event states a time more than a day before that: for
    alerts it counts then. A hub that does not know it passes over it.
    """

    sequence: Count
    event: msgspec.Raw
    hops: EdgePath = ()
    received: Count = 0


class EventsFrame(Frame, frozen=True, tag="events"):
    """Events of the edge, in the order of their sequences.

    Those that follow each other and are the edge's own, most of them, stand in `events`, the first one's sequence in
    `first`; any may stand in `items`.

    >>> encode_frame(EventsFrame.of([EdgeItem(7, msgspec.Raw(b"{}")), EdgeItem(8, msgspec.Raw(b"{}"))]))
    b'{"type":"events","first":7,"events":[{},{}],"v":1}'
    >>> frame = decode_edge_frame(b'{"type":"events","first":7,"events":[{},{}],"v":1}')
    >>> [item.sequence for item in frame.items_with_sequences()]
    [7, 8]
    """

    items: Annotated[tuple[EdgeItem, ...], msgspec.Meta(max_length=EDGE_ITEMS)] = ()
    first: Count = 0
    events: Annotated[tuple[msgspec.Raw, ...], msgspec.Meta(max_length=EDGE_ITEMS)] = ()

    @classmethod
    def of(cls, items: Sequence[EdgeItem]) -> EventsFrame:
        """Return a frame of items in its shortest form."""
        first = items[0].sequence
        if items[-1].sequence - first == len(items) - 1 and not any(item.hops or item.received for item in items):
            return cls(first=first, events=tuple(item.event for item in items))
        return cls(items=tuple(items))

    def items_with_sequences(self) -> tuple[EdgeItem, ...]:
        """Return all items with their sequences."""
        return (*self.items, *(EdgeItem(self.first + place, event) for place, event in enumerate(self.events)))


class RejectedItem(msgspec.Struct, frozen=True):
    """An item that is not taken, and why."""

    sequence: Count
    code: str
    words: str


class EventsAckFrame(Frame, frozen=True, tag="events-ack"):
    """Everything up to a sequence is on disk here, or is refused."""

    sequence: Count
    refused: tuple[RejectedItem, ...] = ()


class WithdrawFrame(Frame, frozen=True, tag="withdraw"):
    """An event that was sent before is taken back."""

    sequence: Count
    source: str
    event: str


class EdgeSubscriptionRequest(msgspec.Struct, frozen=True):
    """A subscription of somebody at the edge, in its published JSON form, under the id that the edge gave it."""

    id: str
    subscription: msgspec.Raw


class SubscribeFrame(Frame, frozen=True, tag="subscribe"):
    """Subscriptions of the edge's own subscribers; with `whole`, there are no others."""

    wanted: tuple[EdgeSubscriptionRequest, ...]
    whole: bool = False


class EdgeSubscriptionResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result for one subscription: accepted, or rejected with a reason."""

    id: str
    refused: str = ""


class SubscribeAckFrame(Frame, frozen=True, tag="subscribed"):
    """The answer to subscriptions, one for each."""

    taken: tuple[EdgeSubscriptionResult, ...]


class UnsubscribeFrame(Frame, frozen=True, tag="unsubscribe"):
    """Subscriptions of the edge hold no longer, by their ids."""

    ids: tuple[str, ...]


class EdgeDelivery(msgspec.Struct, frozen=True, omit_defaults=True):
    """An event for subscriptions of the edge, which it gives to their subscribers.

    Without `event` it is one that came from this edge, named by its source and its id.
    """

    sequence: Count
    cause: Cause
    subscriptions: tuple[tuple[str, float], ...]
    source: str = ""
    id: str = ""
    event: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    hops: EdgePath = ()
    alert: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class DeliverFrame(Frame, frozen=True, tag="deliver"):
    """Deliveries to the edge, in the order of their sequences; withdrawals of what it was given before among them."""

    deliveries: tuple[EdgeDelivery, ...] = ()
    withdrawn: tuple[tuple[str, str], ...] = ()


class DeliverAckFrame(Frame, frozen=True, tag="deliver-ack"):
    """Everything up to a sequence is on the edge's disk."""

    sequence: Count


class HealthFrame(Frame, frozen=True, tag="health"):
    """A sign of life; of an edge, with what waits, what was dropped, and when each source was last read (µs).

    `sources` names those that were read since the last sign.
    """

    waiting: Count = 0
    bytes: Count = 0
    oldest: Count = 0
    dropped: Count = 0
    policy: Annotated[str, msgspec.Meta(max_length=40)] = ""
    forwarded: Count = 0
    passed_over: Count = 0
    sources: dict[str, int] = {}
    subscribers: Count = 0
    subscriptions: Count = 0
    below: tuple[str, ...] = ()


class ByeFrame(Frame, frozen=True, tag="bye"):
    """The edge has sent all it had and leaves: leases of its sources end at once."""


class NackFrame(Frame, frozen=True, tag="refused"):
    """The line is closed, or a message is not taken, and why."""

    code: str
    words: str


EdgeFrame = (
    HelloFrame
    | AnnounceFrame
    | RevokeFrame
    | RenameFrame
    | DemandAckFrame
    | VocabularyFrame
    | EventsFrame
    | WithdrawFrame
    | SubscribeFrame
    | UnsubscribeFrame
    | DeliverAckFrame
    | HealthFrame
    | ByeFrame
)
HubFrame = (
    HelloAckFrame
    | DemandFrame
    | SenseFrame
    | EventsAckFrame
    | SubscribeAckFrame
    | DeliverFrame
    | HealthFrame
    | NackFrame
)
AnyFrame = EdgeFrame | HubFrame
_FROM_EDGE: Final = msgspec.json.Decoder(EdgeFrame)
_FROM_ABOVE: Final = msgspec.json.Decoder(HubFrame)
_ENCODER: Final = msgspec.json.Encoder()


def encode_frame(message: AnyFrame) -> bytes:
    """Encode a frame.

    >>> encode_frame(EventsAckFrame(sequence=7))
    b'{"type":"events-ack","sequence":7,"v":1}'
    """
    return _ENCODER.encode(message)[:-1] + b',"v":%d}' % VERSION  # which is left out as what it is by default


def _decode(decoder: msgspec.json.Decoder[Any], data: bytes | str, whose: str) -> Any:
    try:
        message = decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"{whose} said what is no message of the uplink: {error}") from None
    if message.v != VERSION:
        raise FormatError(
            f"{whose} speaks version {message.v} of the uplink, this is {VERSION}; update the older of both"
        )
    return message


def decode_edge_frame(data: bytes | str) -> EdgeFrame:
    """Decode a frame of an edge; refuse anything else.

    >>> decode_edge_frame(b'{"type": "bye", "v": 1}')
    ByeFrame(v=1)
    """
    message: EdgeFrame = _decode(_FROM_EDGE, data, "the edge")
    return message


def decode_hub_frame(data: bytes | str) -> HubFrame:
    """Decode a frame of a hub; refuse anything else.

    >>> decode_hub_frame(b'{"type": "events-ack", "sequence": 7}').sequence
    7
    """
    message: HubFrame = _decode(_FROM_ABOVE, data, "the broker above")
    return message


EdgeState = Literal["connected", "away"]


class UplinkRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The broker above that an edge is to connect to; `upstream` may name several addresses, with commas between."""

    upstream: str
    token: str | None = None


class UplinkStatus(msgspec.Struct, frozen=True):
    """Where an edge connects, and how its connection stands; `waiting` items are not above yet."""

    id: str
    upstream: tuple[str, ...]
    state: Literal["connected", "away", "disconnected"]
    address: str
    waiting: int
    trouble: str = ""


class EdgeStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """A broker at the edge as it is shown: whether it is connected, how far it has come, and what it last said.

    Times are µs since 1970. `bytes_received` counts what it sent since this broker runs. Of one that is away, `seen`
    and what waited there are as it said last; nought if that was before this broker was started.
    """

    id: str
    state: EdgeState
    epoch: str
    sequence: int
    added: int
    since: int = 0
    seen: int = 0
    address: str = ""
    demand: str = ""
    filters: int = 0
    sources: int = 0
    subscriptions: int = 0
    waiting: int = 0
    waiting_bytes: int = 0
    oldest: int = 0
    dropped: int = 0
    policy: str = ""
    forwarded: int = 0
    passed_over: int = 0
    queued: int = 0
    bytes_received: int = 0
    bytes_sent: int = 0
    refused: int = 0
    readings: dict[str, int] = {}
    below: tuple[str, ...] = ()
