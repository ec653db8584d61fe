"""The protocol between coordinator and workers: length-prefixed MessagePack over a Unix socket.

A `Request` names a tenant's share and what is to be done there; requests are answered in the order in which they were
sent. Nothing here can run code on either side: there are no pickles.
"""

from __future__ import annotations

import socket
from struct import Struct
from typing import Final

import msgspec

from likewise.broker.tenants.numbered_matcher import NumberedMatch, RankedEvent
from likewise.defaults import ALERT_STALE
from likewise.errors import FormatError
from likewise.model import Explanation, Kind, Subscription
from likewise.model.alerts.alert_state import AlertKeyState
from likewise.model.alerts.notification import Key, Why
from likewise.semantics.feedback import Judgement

LENGTH: Final = Struct("<I")
MOST: Final = 2**31  # bytes of one message; more is no message of ours


class InterpretationSettings(msgspec.Struct, frozen=True, tag="told", array_like=True):
    """Settings by which a worker interprets terms and time: the part of the configuration that matching needs."""

    space: str | None
    measure: str | None
    threshold: float | None
    profile: str
    types: str | None
    cache_bytes: int
    forget: int
    lateness: int
    stale: int = ALERT_STALE
    engines: dict[Kind, str] = {}


class NewSubscription(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A subscription with its number, its owner's number, and the time from which it counts."""

    number: int
    owner: int
    at: int
    subscription: Subscription


class AddSubscriptions(msgspec.Struct, frozen=True, tag="hold", array_like=True):
    """Add subscriptions; those that the shard has already stay as they are."""

    held: list[NewSubscription]


class RemoveSubscriptions(msgspec.Struct, frozen=True, tag="let go", array_like=True):
    """Remove subscriptions; unknown numbers are ignored.

    `slowly`: say nothing of them from here on, and let go of them by and by.
    """

    numbers: list[int]
    slowly: bool = False


class UpdateKnowledge(msgspec.Struct, frozen=True, tag="know", array_like=True):
    """Replace annotations (CSV) and feedback."""

    annotations: str
    judgements: list[Judgement]


class EventSent(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An event of the log, and the time at which it counts; `over` marks one that had expired by then."""

    position: int
    at: int
    body: bytes
    over: bool = False
    lasting: bool = False  # its validity does not matter to what remembers
    received: int | None = None  # when the first broker got it


class MatchEvents(msgspec.Struct, frozen=True, tag="match", array_like=True):
    """Match events against stateless subscriptions; the reply is `Matched`."""

    events: list[EventSent]


class WarmUpMatching(msgspec.Struct, frozen=True, tag="rehearse", array_like=True):
    """Match events without any effect, so that libraries and kernels are loaded."""

    sample: list[EventSent]


class MatchStateful(msgspec.Struct, frozen=True, tag="match each", array_like=True):
    """Let events move windows or alerts, one after the other; the reply is `Moved`."""

    events: list[EventSent]


class WithdrawEvent(msgspec.Struct, frozen=True, tag="withdrawn", array_like=True):
    """Withdraw an event from windows and alerts."""

    position: int


class Advance(msgspec.Struct, frozen=True, tag="advance", array_like=True):
    """Advance time."""

    now: int


class Shift(msgspec.Struct, frozen=True, tag="shift", array_like=True):
    """Shift all times by a step of the clock."""

    by: int


class Outage(msgspec.Struct, frozen=True, tag="outage", array_like=True):
    """Report an outage of the broker."""

    by: int
    until: int | None


class PostponeExpiry(msgspec.Struct, frozen=True, tag="postpone_expiry", array_like=True):
    """Nothing came for so long, by a clock that may have stepped: it brings no key nearer to being forgotten."""

    by: int


class SuspendAbsence(msgspec.Struct, frozen=True, tag="excuse", array_like=True):
    """Suspend `absent for` for some sources or, with `ends`, resume it."""

    sources: list[str]
    why: Why
    at: int
    ends: bool = False


class Expect(msgspec.Struct, frozen=True, tag="expect", array_like=True):
    """Watch a key of an alert that was announced by an event, or watch it no longer."""

    number: int
    key: Key
    source: str
    position: int
    at: int
    ends: bool = False


class Rename(msgspec.Struct, frozen=True, tag="rename", array_like=True):
    """Replace the event of an announcement."""

    before: int
    after: int


class RenameSource(msgspec.Struct, frozen=True, tag="rename source", array_like=True):
    """Move what alerts know of a source to another, or drop it."""

    before: str
    after: str | None


class Expects(msgspec.Struct, frozen=True, tag="expects", array_like=True):
    """Return whether an alert knows a key; the reply is `Yes`."""

    number: int
    key: Key


class AdoptState(msgspec.Struct, frozen=True, tag="adopt", array_like=True):
    """Adopt the state of alerts from a saved matcher."""

    folder: str


class SaveShard(msgspec.Struct, frozen=True, tag="save", array_like=True):
    """Save a shard to a folder, with its state."""

    folder: str


class LoadShard(msgspec.Struct, frozen=True, tag="load", array_like=True):
    """Load a saved shard; of it, keep only the subscriptions in `kept` if that is given."""

    folder: str
    owners: dict[int, int]
    kept: list[int] | None = None


class DropShard(msgspec.Struct, frozen=True, tag="drop", array_like=True):
    """Drop a shard."""


class SetProxies(msgspec.Struct, frozen=True, tag="proxies", array_like=True):
    """Set the proxies of shards elsewhere: events that match one of a shard's roots are forwarded to it."""

    roots: list[tuple[int, Subscription]]  # with the number of the share behind


class PlanSplit(msgspec.Struct, frozen=True, tag="plan", array_like=True):
    """Find the heaviest part of a shard, by the time of matching some events; the reply is `Planned`."""

    events: list[EventSent]


class WouldMatch(msgspec.Struct, frozen=True, tag="would match", array_like=True):
    """Match an event without any effect."""

    body: bytes
    at: int


class Explain(msgspec.Struct, frozen=True, tag="explain", array_like=True):
    """Explain why an event matches a subscription, or why not."""

    body: bytes
    number: int
    at: int
    position: int | None


class Board(msgspec.Struct, frozen=True, tag="board", array_like=True):
    """Return the top k of a window."""

    number: int


class Standings(msgspec.Struct, frozen=True, tag="standings", array_like=True):
    """Return the newest keys of an alert."""

    number: int
    limit: int


class QueryState(msgspec.Struct, frozen=True, tag="ask", array_like=True):
    """Return when time next moves alerts, and which events windows and alerts still need."""

    positions: list[int]


class Usage(msgspec.Struct, frozen=True, tag="usage", array_like=True):
    """Return the resource usage of the process; the reply is `Used`."""


Operation = (
    InterpretationSettings
    | AddSubscriptions
    | RemoveSubscriptions
    | UpdateKnowledge
    | MatchEvents
    | WarmUpMatching
    | MatchStateful
    | WithdrawEvent
    | Advance
    | Shift
    | Outage
    | PostponeExpiry
    | SuspendAbsence
    | Expect
    | Expects
    | Rename
    | RenameSource
    | AdoptState
    | SaveShard
    | LoadShard
    | DropShard
    | PlanSplit
    | SetProxies
    | WouldMatch
    | Explain
    | Board
    | Standings
    | QueryState
    | Usage
)


class WorkerRequest(msgspec.Struct, frozen=True, array_like=True):
    """A numbered operation on a shard of a tenant."""

    id: int
    tenant: int
    share: int
    wanted: Operation


class Completed(msgspec.Struct, frozen=True, tag="done", array_like=True):
    """The operation was done."""


class OperationFailed(msgspec.Struct, frozen=True, tag="failed", array_like=True):
    """The operation failed."""

    error: str
    kind: str = ""


class BatchMatches(msgspec.Struct, frozen=True, tag="met", array_like=True):
    """The matches of a batch as little-endian arrays, and the recipients, encoded as in the store.

    `counts` (i4) says how many of `numbers` (i8) each event met, `scores` (f4) stand beside them, empty if all are 1.
    `given` are the places of events that somebody gets, `recipients` (i8, `reach` (i4) of each) and `packed` theirs.
    `owners`, `cuts` and `events` say what each owner gets. `failed` are events that cannot be matched, and why.
    `behind` are the places of events to be looked at behind each proxy.
    """

    counts: bytes
    numbers: bytes
    scores: bytes
    given: bytes = b""
    reach: bytes = b""
    recipients: bytes = b""
    packed: list[tuple[bytes, bytes]] = []
    owners: list[int] = []
    cuts: list[int] = []
    events: bytes = b""
    failed: list[tuple[int, str]] = []
    behind: dict[int, bytes] = {}


class SplitPlan(msgspec.Struct, frozen=True, tag="planned", array_like=True):
    """The part of a shard that can go behind a proxy: subscriptions, and the roots that cover them."""

    numbers: list[int]
    roots: list[Subscription]


class StateChanges(msgspec.Struct, frozen=True, tag="moved", array_like=True):
    """The changes that each event caused in windows or alerts; `failed` are those that cannot be matched."""

    found: list[list[NumberedMatch]]
    failed: list[tuple[int, str]] = []


class ShardState(msgspec.Struct, frozen=True, tag="answers", array_like=True):
    """The state of a shard, as counts and due times."""

    next_due: int | None
    needed: list[int]
    refused_late: int = 0
    keyless: int = 0
    wrong_clocks: dict[str, tuple[int, int]] = {}


class ExplanationReply(msgspec.Struct, frozen=True, tag="explained", array_like=True):
    """An explanation."""

    explanation: Explanation


class BoardReply(msgspec.Struct, frozen=True, tag="ranked", array_like=True):
    """The top k of a window."""

    places: list[RankedEvent]


class StandingsReply(msgspec.Struct, frozen=True, tag="stood", array_like=True):
    """The standings of an alert's keys, and their number."""

    keys: list[AlertKeyState]
    total: int = 0


class ResourceUsage(msgspec.Struct, frozen=True, tag="used", array_like=True):
    """Processor seconds, and bytes of memory: all of it, and the shared part."""

    cpu: float
    resident: int
    shared: int


class BooleanReply(msgspec.Struct, frozen=True, tag="yes", array_like=True):
    """A truth value."""

    so: bool


Reply = (
    Completed
    | OperationFailed
    | BatchMatches
    | SplitPlan
    | StateChanges
    | ShardState
    | ExplanationReply
    | BoardReply
    | StandingsReply
    | ResourceUsage
    | BooleanReply
)


class WorkerResponse(msgspec.Struct, frozen=True, array_like=True):
    """The reply to a request, and the processor seconds it took."""

    id: int
    said: Reply
    seconds: float = 0.0


ENCODER: Final = msgspec.msgpack.Encoder()
REQUESTS: Final = msgspec.msgpack.Decoder(WorkerRequest)
ANSWERS: Final = msgspec.msgpack.Decoder(WorkerResponse)


def frame(message: WorkerRequest | WorkerResponse) -> bytearray:
    """Encode a message with its length.

    >>> REQUESTS.decode(frame(WorkerRequest(7, 1, 0, Advance(3)))[4:])
    WorkerRequest(id=7, tenant=1, share=0, wanted=Advance(now=3))
    """
    buffer = bytearray(LENGTH.size)
    ENCODER.encode_into(message, buffer, LENGTH.size)
    LENGTH.pack_into(buffer, 0, len(buffer) - LENGTH.size)
    return buffer


def receive(stream: socket.socket) -> bytearray | None:
    """Receive the next message; None if the peer closed the connection."""
    head = _exactly(stream, LENGTH.size)
    if head is None:
        return None
    (length,) = LENGTH.unpack(head)
    if length > MOST:
        raise FormatError(f"a message of {length:,} bytes is none of ours")
    return _exactly(stream, length)


def _exactly(stream: socket.socket, count: int) -> bytearray | None:
    data = bytearray(count)
    view, done = memoryview(data), 0
    while done < count:
        try:
            got = stream.recv_into(view[done:], count - done)
        except (ConnectionError, OSError):
            return None
        if not got:
            return None
        done += got
    return data
