"""What the dashboard reads from the broker's answers; fields it does not need are passed over."""

from __future__ import annotations

import msgspec

from likewise.formats.shown import Place as Place
from likewise.formats.shown import SeenMatch as SeenMatch
from likewise.formats.shown import SubscriberShown

Subscriber = SubscriberShown


class Arrival(msgspec.Struct, frozen=True):
    """An event in the log."""

    position: int
    arrival: int
    event: dict[str, object]

    @property
    def id(self) -> str:
        """The event's id."""
        return str(self.event.get("id", ""))

    @property
    def source(self) -> str:
        """Who published it."""
        return str(self.event.get("source", ""))

    @property
    def themes(self) -> list[str]:
        """The event's theme tags."""
        found = self.event.get("themes")
        return [str(tag) for tag in found] if isinstance(found, list) else []


class Activity(msgspec.Struct, frozen=True):
    """What is new."""

    events: tuple[Arrival, ...]
    matches: tuple[SeenMatch, ...]
    position: int
    sequence: int


class HeldSubscription(msgspec.Struct, frozen=True):
    """A subscription at the broker."""

    subscriber: str
    id: str
    text: str
    kind: str


class Stats(msgspec.Struct, frozen=True):
    """What a tenant has in the broker."""

    events: int
    deliveries: int
    pending: int
    subscriptions: int
    dead_letters: int
    dropped: int


class Grid(msgspec.Struct, frozen=True):
    """Every predicate against every tuple."""

    predicates: tuple[str, ...]
    tuples: tuple[str, ...]
    attribute: tuple[tuple[float, ...], ...]
    value: tuple[tuple[float, ...], ...]
    chosen: tuple[int | None, ...]
    score: float

    def similarity(self, predicate: int, item: int) -> float:
        """Relatedness of the attributes times that of the values.

        >>> Grid(("p",), ("t",), ((0.5,),), ((0.5,),), (0,), 0.25).similarity(0, 0)
        0.25
        """
        return self.attribute[predicate][item] * self.value[predicate][item]


class Tried(msgspec.Struct, frozen=True):
    """A stored event that a subscription would have met."""

    event: str
    source: str
    arrival: int
    score: float
    rank_value: float | None = None


class Backtest(msgspec.Struct, frozen=True):
    """A subscription tried on stored events."""

    events: int
    matched: int
    matches: tuple[Tried, ...]


class Pair(msgspec.Struct, frozen=True):
    """Two terms that a judgement was about."""

    role: str
    asked: str
    seen: str


class Judged(msgspec.Struct, frozen=True):
    """A judgement that was taken."""

    number: int
    relevant: bool
    pairs: tuple[Pair, ...]


class Near(msgspec.Struct, frozen=True):
    """A word and its relatedness."""

    term: str
    relatedness: float


class SharedDocument(msgspec.Struct, frozen=True):
    """A document both terms occur in, and its share of their relatedness."""

    title: str
    share: float


class Evidence(msgspec.Struct, frozen=True):
    """What stands behind a score."""

    score: float
    scores: tuple[tuple[str, float], ...]
    documents: tuple[SharedDocument, ...]
    notes: tuple[str, ...] = ()
    without_themes: float | None = None
    asked_basis: int = 0
    seen_basis: int = 0


class Letter(msgspec.Struct, frozen=True):
    """A dead letter."""

    number: int
    at: int
    reason: str
    detail: str
    subscriber: str = ""
    event: str = ""
    body: str = ""
