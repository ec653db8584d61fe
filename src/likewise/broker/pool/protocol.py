"""What the coordinator and its workers say to each other: length-prefixed MessagePack over a Unix stream socket.

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
from likewise.model import Explanation, Subscription
from likewise.model.alerts.alert_state import AlertKeyState
from likewise.model.alerts.notification import Key, Why
from likewise.semantics.feedback import Judgement

LENGTH: Final = Struct("<I")
MOST: Final = 2**31  # bytes of one message; more is no message of ours


class InterpretationSettings(msgspec.Struct, frozen=True, tag="told", array_like=True):
    """How a worker takes words and time: the broker's configuration, as far as matching goes by it."""

    space: str | None
    measure: str | None
    threshold: float | None
    profile: str
    types: str | None
    cache_bytes: int
    forget: int
    lateness: int
    stale: int = ALERT_STALE


class NewSubscription(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A subscription with its number and its owner's, held from a moment on."""

    number: int
    owner: int
    at: int
    subscription: Subscription


class AddSubscriptions(msgspec.Struct, frozen=True, tag="hold", array_like=True):
    """Hold subscriptions; those that are there already stay as they are."""

    held: list[NewSubscription]


class RemoveSubscriptions(msgspec.Struct, frozen=True, tag="let go", array_like=True):
    """Hold subscriptions no longer; what is not there is no matter.

    `slowly`: say nothing of them from here on, and let go of them by and by.
    """

    numbers: list[int]
    slowly: bool = False


class UpdateKnowledge(msgspec.Struct, frozen=True, tag="know", array_like=True):
    """What lies over events (CSV) and what people judged holds from here on, in place of what did before."""

    annotations: str
    judgements: list[Judgement]


class EventSent(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An event as the log has it, and the moment it counts at; `over` is one that nobody gets any more by then."""

    position: int
    at: int
    body: bytes
    over: bool = False
    lasting: bool = False  # its validity does not matter to what remembers
    received: int | None = None  # when the first broker got it


class MatchEvents(msgspec.Struct, frozen=True, tag="match", array_like=True):
    """Match events against subscriptions without state; `BatchMatches` is the answer."""

    events: list[EventSent]


class WarmUpMatching(msgspec.Struct, frozen=True, tag="rehearse", array_like=True):
    """Match events for nobody, so that everything is loaded; nothing changes."""

    sample: list[EventSent]


class MatchStateful(msgspec.Struct, frozen=True, tag="match each", array_like=True):
    """Let events move windows or alerts, one after the other; `StateChanges` is the answer."""

    events: list[EventSent]


class WithdrawEvent(msgspec.Struct, frozen=True, tag="withdrawn", array_like=True):
    """An event leaves windows and alerts."""

    position: int


class Advance(msgspec.Struct, frozen=True, tag="advance", array_like=True):
    """Time has passed up to a moment."""

    now: int


class Shift(msgspec.Struct, frozen=True, tag="shift", array_like=True):
    """The clock was set by so much."""

    by: int


class Outage(msgspec.Struct, frozen=True, tag="outage", array_like=True):
    """Nothing could be heard for so long."""

    by: int
    until: int | None


class PostponeExpiry(msgspec.Struct, frozen=True, tag="postpone_expiry", array_like=True):
    """Nothing came for so long, by a clock that may have stepped: it brings no key nearer to being forgotten."""

    by: int


class SuspendAbsence(msgspec.Struct, frozen=True, tag="excuse", array_like=True):
    """The silence of some sources means nothing from a moment on, or counts again."""

    sources: list[str]
    why: Why
    at: int
    ends: bool = False


class Expect(msgspec.Struct, frozen=True, tag="expect", array_like=True):
    """Something is to come from a key of an alert, as an event says; or not any more."""

    number: int
    key: Key
    source: str
    position: int
    at: int
    ends: bool = False


class Rename(msgspec.Struct, frozen=True, tag="rename", array_like=True):
    """What a source announced is said by another event now."""

    before: int
    after: int


class RenameSource(msgspec.Struct, frozen=True, tag="rename source", array_like=True):
    """What alerts know of a source counts for another from now on, or for nobody."""

    before: str
    after: str | None


class Expects(msgspec.Struct, frozen=True, tag="expects", array_like=True):
    """Whether an alert knows a key; `BooleanReply` is the answer."""

    number: int
    key: Key


class AdoptState(msgspec.Struct, frozen=True, tag="adopt", array_like=True):
    """Take over what a saved matcher knows of alerts that are held here, too."""

    folder: str


class SaveShard(msgspec.Struct, frozen=True, tag="save", array_like=True):
    """Write a share to a folder, with its state."""

    folder: str


class LoadShard(msgspec.Struct, frozen=True, tag="load", array_like=True):
    """Be what was saved; of it, hold `kept` alone if they are named. Owners are said by number."""

    folder: str
    owners: dict[int, int]
    kept: list[int] | None = None


class DropShard(msgspec.Struct, frozen=True, tag="drop", array_like=True):
    """Forget a share wholly."""


class SetProxies(msgspec.Struct, frozen=True, tag="proxies", array_like=True):
    """What stands for shares elsewhere: events that meet one of a share's roots are looked at there, too."""

    roots: list[tuple[int, Subscription]]  # with the number of the share behind


class PlanSplit(msgspec.Struct, frozen=True, tag="plan", array_like=True):
    """Which part of a share is heaviest, by how long matching some events takes; `SplitPlan` is the answer."""

    events: list[EventSent]


class WouldMatch(msgspec.Struct, frozen=True, tag="would match", array_like=True):
    """What an event would meet; nothing changes."""

    body: bytes
    at: int


class Explain(msgspec.Struct, frozen=True, tag="explain", array_like=True):
    """Why an event meets a subscription, or why not."""

    body: bytes
    number: int
    at: int
    position: int | None


class Board(msgspec.Struct, frozen=True, tag="board", array_like=True):
    """The k best of a window."""

    number: int


class Standings(msgspec.Struct, frozen=True, tag="standings", array_like=True):
    """The newest keys of an alert."""

    number: int
    limit: int


class QueryState(msgspec.Struct, frozen=True, tag="ask", array_like=True):
    """When time next moves alerts, and which events windows and alerts still need."""

    positions: list[int]


class Usage(msgspec.Struct, frozen=True, tag="usage", array_like=True):
    """What the process has used: `ResourceUsage` is the answer."""


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
    """An operation on a share of a tenant, numbered."""

    id: int
    tenant: int
    share: int
    wanted: Operation


class Completed(msgspec.Struct, frozen=True, tag="done", array_like=True):
    """It is done, and there is nothing to say."""


class OperationFailed(msgspec.Struct, frozen=True, tag="failed", array_like=True):
    """It could not be done."""

    error: str
    kind: str = ""


class BatchMatches(msgspec.Struct, frozen=True, tag="met", array_like=True):
    """What events met, as arrays (little endian), and who gets them, packed as the store keeps it.

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
    """What can go behind a proxy: subscriptions, and the conditions that cover all of them between them."""

    numbers: list[int]
    roots: list[Subscription]


class StateChanges(msgspec.Struct, frozen=True, tag="moved", array_like=True):
    """What each event led to in windows or alerts; `failed` are those that cannot be matched, and why."""

    found: list[list[NumberedMatch]]
    failed: list[tuple[int, str]] = []


class ShardState(msgspec.Struct, frozen=True, tag="answers", array_like=True):
    """What was asked about a share."""

    next_due: int | None
    needed: list[int]
    refused_late: int = 0
    keyless: int = 0
    wrong_clocks: dict[str, tuple[int, int]] = {}


class ExplanationReply(msgspec.Struct, frozen=True, tag="explained", array_like=True):
    """An explanation."""

    explanation: Explanation


class BoardReply(msgspec.Struct, frozen=True, tag="ranked", array_like=True):
    """A board."""

    places: list[RankedEvent]


class StandingsReply(msgspec.Struct, frozen=True, tag="stood", array_like=True):
    """How keys stand, and how many there are."""

    keys: list[AlertKeyState]
    total: int = 0


class ResourceUsage(msgspec.Struct, frozen=True, tag="used", array_like=True):
    """Seconds of the processor, and bytes of memory: all of it, and what is shared with others."""

    cpu: float
    resident: int
    shared: int


class BooleanReply(msgspec.Struct, frozen=True, tag="yes", array_like=True):
    """Whether it is so."""

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
    """What a request led to, and the seconds of the processor that took."""

    id: int
    said: Reply
    seconds: float = 0.0


ENCODER: Final = msgspec.msgpack.Encoder()
REQUESTS: Final = msgspec.msgpack.Decoder(WorkerRequest)
ANSWERS: Final = msgspec.msgpack.Decoder(WorkerResponse)


def frame(message: WorkerRequest | WorkerResponse) -> bytearray:
    """A message as it is sent.

    >>> REQUESTS.decode(frame(Request(7, 1, 0, Advance(3)))[4:])
    Request(id=7, tenant=1, share=0, wanted=Advance(now=3))
    """
    buffer = bytearray(LENGTH.size)
    ENCODER.encode_into(message, buffer, LENGTH.size)
    LENGTH.pack_into(buffer, 0, len(buffer) - LENGTH.size)
    return buffer


def receive(stream: socket.socket) -> bytearray | None:
    """The next message that comes; None if the other side is gone."""
    head = _exactly(stream, LENGTH.size)
    if head is None:
        return None
    (length,) = LENGTH.unpack(head)
    if length > MOST:
        raise FormatError(f"a message of {length:,} bytes is none of ours")
    return _exactly(stream, length)


def _exactly(stream: socket.socket, count: int) -> bytearray | None:
    found = bytearray(count)
    view, done = memoryview(found), 0
    while done < count:
        try:
            got = stream.recv_into(view[done:], count - done)
        except (ConnectionError, OSError):
            return None
        if not got:
            return None
        done += got
    return found
