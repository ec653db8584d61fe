"""Questions that change nothing, judgements, and what is answered."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from likewise.api.live_views import Arrival, MatchedSubscription
from likewise.defaults import STORED_EVENTS
from likewise.model.alerts.notification import Key
from likewise.model.match import Cause

Count = Annotated[int, msgspec.Meta(ge=0, lt=2**62)]
Matrix = tuple[tuple[float, ...], ...]


class MatchRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An event (`event`, or the `event_id` of a stored one) and a subscription (an id of a subscriber, or `text`).

    `mappings` is the number of best mappings that an explanation lists; 0 lists none.
    """

    event: msgspec.Raw = msgspec.Raw()
    event_id: str | None = None
    source: str | None = None
    subscriber: str | None = None
    subscription: str | None = None
    text: str | None = None
    mappings: Count = 0


class MatchResponse(msgspec.Struct, frozen=True):
    """The subscriptions that an event would meet."""

    matches: tuple[MatchedSubscription, ...]


class BacktestRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A subscription as text to try on stored events: the newest `events` of them, showing `shown` matches."""

    text: str
    events: Count = STORED_EVENTS
    shown: Count = 100


class BacktestMatch(msgspec.Struct, frozen=True, omit_defaults=True):
    """One match, or one notification of an alert, that a subscription would have had, with its event (`content`).

    `cause` and `time` (µs) say why and when it would have been sent. An alert also says whose state it is (`key`),
    since when, how many notifications its cool-down `suppressed`, and how many a digest has (`total`). `promoted` says
    that the event was among the k best only after better ones had left; `cause` says so, too.
    """

    event: str
    source: str
    arrival: int
    score: float
    cause: Cause
    time: int
    position: int = 0
    content: dict[str, Any] = {}
    promoted: bool = False
    rank_value: float | None = None
    key: Key = ()
    since: int | None = None
    suppressed: int = 0
    total: int = 0

    @property
    def arrived(self) -> Arrival:
        """Return the event as it was received."""
        return Arrival(self.position, self.arrival, self.content)


class BacktestResult(msgspec.Struct, frozen=True):
    """Result of a backtest: what a subscription would have matched among stored events.

    `events` were tried, which arrived from `first` to `last`; time was advanced to `until`. `causes` counts everything
    that would have been sent, by cause; `matched` is that number without `cleared` and `returned`, which end an alarm
    and are no matches. `matches` are the last of all of them, in the order in which they would have been sent.
    """

    events: int
    matched: int
    first: int | None
    last: int | None
    matches: tuple[BacktestMatch, ...]
    causes: dict[str, int] = {}
    until: int | None = None


class JudgementRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Feedback of a user: whether an event was relevant to a subscription."""

    subscriber: str
    subscription: str
    relevant: bool
    event: msgspec.Raw = msgspec.Raw()
    event_id: str | None = None
    source: str | None = None


class JudgedPair(msgspec.Struct, frozen=True):
    """Two terms that a judgement moved: what was asked and what was seen."""

    role: str
    asked: str
    seen: str


class JudgementReceipt(msgspec.Struct, frozen=True):
    """A judgement and the pairs it moved; `number` names it for undoing."""

    number: int
    relevant: bool
    pairs: tuple[JudgedPair, ...]


class GridRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An event, as it would be published, and the text of a subscription."""

    event: msgspec.Raw
    subscription: str


class Grid(msgspec.Struct, frozen=True):
    """One row for each predicate, one column for each tuple.

    A cell's similarity is its `attribute` times its `value`; `chosen` names the tuple each predicate has in
    the best mapping, None where there is no mapping.
    """

    predicates: tuple[str, ...]
    tuples: tuple[str, ...]
    attribute: Matrix
    value: Matrix
    chosen: tuple[int | None, ...]
    score: float

    def similarity(self, predicate: int, item: int) -> float:
        """Relatedness of the attributes times that of the values.

        >>> Grid(("p",), ("t",), ((0.5,),), ((0.5,),), (0,), 0.25).similarity(0, 0)
        0.25
        """
        return self.attribute[predicate][item] * self.value[predicate][item]


class GridResponse(msgspec.Struct, frozen=True):
    """The matrix; None for kinds of subscriptions that have none."""

    grid: Grid | None
