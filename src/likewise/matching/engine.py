"""The seam between `likewise.Matcher` and the engines it routes to.

An engine knows its subscriptions by ordinal: the matcher deals ordinals out in the order of addition,
never twice, so results sorted by ordinal are in the order of addition. Engines that hold no windows
need only `add`, `remove` and `find`; `BaseEngine` derives the rest from these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from pathlib import Path
from sys import getrefcount
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self

from likewise.errors import DuplicateId, UnknownId
from likewise.matching.cache_use import CacheUse
from likewise.model.alerts.alert_state import AlertKeyState
from likewise.model.alerts.notification import Key, Why
from likewise.model.event import Event
from likewise.model.explanation import Explanation
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.model.match import Match
from likewise.model.matches.batch import Promotion
from likewise.model.matches.sequence import Make, Matches
from likewise.model.probability import AS_SCORED, ProbabilityCurve
from likewise.model.subscription import Kind, Subscription

if TYPE_CHECKING:
    from numpy import float32, int32, int64, signedinteger
    from numpy.typing import NDArray

    from likewise.semantics.interpretation import Interpretation

UNHELD = 2  # references to what nobody else holds: the attribute and the argument of `getrefcount`


class EngineResult(NamedTuple):
    """Subscriptions one event met: ordinals in ascending order, and their scores (None: all are 1)."""

    ordinals: NDArray[signedinteger[Any]]
    scores: NDArray[float32] | None = None


class EngineBatchResult(NamedTuple):
    """Subscriptions many events met, ordered by event, then by ordinal: `counts[i]` of them belong to event i.

    >>> import numpy as np
    >>> EngineBatchResult(np.array([2, 0, 1]), np.array([4, 7, 4])).event_index.tolist()
    [0, 0, 2]
    """

    counts: NDArray[int64]
    ordinals: NDArray[signedinteger[Any]]
    scores: NDArray[float32] | None = None
    promoted: tuple[Promotion, ...] = ()

    @property
    def event_index(self) -> NDArray[int32]:
        """For each ordinal, which event met it."""
        import numpy as np

        return np.repeat(np.arange(len(self.counts), dtype=np.int32), self.counts)


class Addition(NamedTuple):
    """A subscription to be held under an ordinal from the moment `at` (µs) on."""

    ordinal: int
    subscription: Subscription
    at: int


class TopKEntry(NamedTuple):
    """One of the k best of a window: its rank, its event, and the value it is ranked by, in base units."""

    rank: int
    event_id: str | None
    value: float
    time: int


class Engine(Protocol):
    """Interface of an engine, to which the matcher gives the subscriptions of its kinds. One thread owns an engine."""

    kinds: ClassVar[frozenset[Kind]]

    def serves(self, subscription: Subscription) -> bool:
        """Return whether this engine can hold the subscription."""
        ...

    def add(self, ordinal: int, subscription: Subscription, at: int) -> None:
        """Hold a subscription from the moment `at` (µs) on. An ordinal in use is `DuplicateId`."""
        ...

    def remove(self, ordinal: int) -> None:
        """Forget a subscription, wholly. An ordinal not in use is `UnknownId`."""
        ...

    def find(self, event: Event, at: int) -> EngineResult:
        """The subscriptions the event meets at the moment `at`, as arrays; the fast path."""
        ...

    def match(self, event: Event, at: int) -> list[tuple[int, Match]]:
        """The same, as (ordinal, match), ordered by ordinal, arrival before promotions."""
        ...

    def match_batch(self, events: Sequence[Event], at: Sequence[int]) -> EngineBatchResult:
        """Equal to `find` one by one, in order."""
        ...

    def advance(self, now: int) -> list[tuple[int, Match]]:
        """Let time pass; promotions caused by what expired."""
        ...

    def shift(self, by: int) -> None:
        """Let everything that is remembered count as so many µs later, earlier if negative."""
        ...

    def holds_for_long(self, event_id: str) -> bool:
        """Return whether an event is in a window that no passing of time takes it out of."""
        ...

    def withdraw(self, event_id: str) -> list[tuple[int, Match]]:
        """Take an event back; promotions caused by that."""
        ...

    def explain(self, event: Event, ordinal: int, at: int) -> Explanation:
        """Explain why the event does or does not meet the subscription; changes nothing."""
        ...

    def forget_relatedness(self, of: Callable[[str], bool]) -> None:
        """Drop what is kept about the seen texts that `of` names: their relatedness has changed."""
        ...

    def caches(self) -> dict[str, CacheUse]:
        """Return how often what is kept was there when it was needed, by the names of `likewise.matching.cache_use`."""
        ...

    def save(self, folder: Path) -> None:
        """Write what adding the subscriptions again would not bring back (windows)."""
        ...

    def load(self, folder: Path) -> None:
        """Read what `save` wrote, after the subscriptions were added again with the same ordinals."""
        ...

    def __len__(self) -> int: ...


class WindowEngine(Engine, Protocol):
    """An engine that holds windows."""

    def board(self, ordinal: int) -> list[TopKEntry]:
        """The k best of a subscription's window now, best first."""
        ...


class TimedEngine(Engine, Protocol):
    """An engine in which time alone brings something about."""

    def next_due(self) -> int | None:
        """Return when time next moves something by itself, or an earlier moment."""
        ...


class AlertingEngine(TimedEngine, Protocol):
    """An engine that holds alerts."""

    def standings(self, ordinal: int, limit: int) -> list[AlertKeyState]:
        """The keys of an alert: first those of which something was said, then those that hold, the newest first."""
        ...

    def count_keys(self, ordinal: int) -> int:
        """Return how many keys of an alert have a state."""
        ...

    def outage(self, by: int, until: int | None = None) -> None:
        """Nothing could be heard for so long (µs), until a moment: silence counts on from there."""
        ...

    def unsend(self, ordinal: int, key: Key, event_id: str) -> None:
        """Let the last alarm of a key, naming an event, be one that was never sent: it is deferred if it stands."""
        ...

    def postpone_expiry(self, by: int) -> None:
        """Let a time (µs) in which nothing came at all bring no key nearer to being forgotten."""
        ...

    def suspend_absence(self, sources: Iterable[str], why: Why, at: int) -> None:
        """From now on the silence of some sources means nothing."""
        ...

    def resume_absence(self, sources: Iterable[str], why: Why, at: int) -> None:
        """It counts again; what passed meanwhile does not."""
        ...

    def suspended_sources(self, why: Why) -> set[str]:
        """The sources whose silence means nothing."""
        ...

    def expect(self, ordinal: int, key: Key, source: str, event_id: str | None, at: int) -> None:
        """Something is to come from a key, though nothing held yet: its silence counts from now on."""
        ...

    def unexpect(self, ordinal: int, key: Key, event_id: str) -> None:
        """It is not to come any more; a key that has held otherwise is watched on."""
        ...

    def rename(self, before: str, after: str) -> None:
        """Return what is expected was said anew: by another event, in place of an earlier one."""
        ...

    def rename_source(self, before: str, after: str | None) -> None:
        """Let what is known of a source count for another from now on, or (None) for nobody; nothing is said of it."""
        ...

    def is_expected(self, ordinal: int, key: Key) -> bool:
        """Return whether a key of an alert is waited for."""
        ...

    def may_name(self, event_id: str) -> bool:
        """Return whether what is said next may name an event."""
        ...

    def adopt(self, other: Self, ordinals: Mapping[int, int]) -> None:
        """Take over what another of its kind knows of some alerts, from its ordinals to those here."""
        ...


class BaseEngine:
    """The parts of an engine that follow from `find`."""

    kinds: ClassVar[frozenset[Kind]] = frozenset()
    curve: ProbabilityCurve = AS_SCORED  # what makes a score a probability

    types: Hierarchy = NO_TYPES  # the declared ones that `is-a` follows

    def __init__(self) -> None:
        self.subscriptions: MutableMapping[int, Subscription] = {}
        self._gone: dict[int, Subscription] = {}  # removed, while matches that may name them are held

    @classmethod
    def serving(cls, interpretation: Interpretation) -> Self:
        """A fresh engine for a matcher; one that relates terms takes its measure from the interpretation."""
        return cls()

    def __len__(self) -> int:
        return len(self.subscriptions)

    def serves(self, subscription: Subscription) -> bool:
        """Return whether this engine can hold the subscription."""
        return subscription.kind in self.kinds

    def add(self, ordinal: int, subscription: Subscription, at: int) -> None:
        """Hold a subscription; every engine says how."""
        raise NotImplementedError(f"{type(self).__name__} must say how it adds")

    def remove(self, ordinal: int) -> None:
        """Forget a subscription; every engine says how."""
        raise NotImplementedError(f"{type(self).__name__} must say how it removes")

    def add_many(self, additions: Sequence[Addition]) -> None:
        """`add` for each, or none of them if one is refused."""
        for done, addition in enumerate(additions):
            try:
                self.add(*addition)
            except BaseException:
                for added, _, _ in additions[:done]:
                    self.remove(added)
                raise

    def find(self, event: Event, at: int) -> EngineResult:
        """The subscriptions the event meets; every engine says how."""
        raise NotImplementedError(f"{type(self).__name__} must say how it finds")

    def register(self, ordinal: int, subscription: Subscription) -> None:
        """Note the subscription, refusing an ordinal in use; engines call it first in `add`."""
        if ordinal in self.subscriptions:
            raise DuplicateId(str(ordinal))
        self.subscriptions[ordinal] = subscription

    def unregister(self, ordinal: int) -> Subscription:
        """Take the note back, refusing an ordinal not in use; engines call it first in `remove`."""
        subscription = self.subscriptions.pop(ordinal, None)
        if subscription is None:
            raise UnknownId(str(ordinal))
        if getrefcount(self._gone) > UNHELD:
            self._gone[ordinal] = subscription
        elif self._gone:
            self._gone = {}
        return subscription

    def match(self, event: Event, at: int) -> list[tuple[int, Match]]:
        """`find`, as matches. An engine may add to what this returns; so it must not ask `matches`, which asks here."""
        ordinals, scores = self.find(event, at)
        return list(zip(ordinals.tolist(), self._maker(event, ordinals, scores)(0, len(ordinals)), strict=True))

    def matches(self, event: Event, at: int) -> tuple[NDArray[signedinteger[Any]], Matches]:
        """`match`, as ordinals and a sequence that makes a match when it is looked at.

        An engine that says how it matches, and not this, has its matches made at once.
        """
        if type(self).match is not BaseEngine.match:
            import numpy as np

            hits = self.match(event, at)
            made = [match for _, match in hits]
            return np.array([ordinal for ordinal, _ in hits], np.int64), Matches(len(hits), lambda a, b: made[a:b])
        ordinals, scores = self.find(event, at)
        return ordinals, Matches(len(ordinals), self._maker(event, ordinals, scores))

    def _maker(self, event: Event, ordinals: NDArray[signedinteger[Any]], scores: NDArray[float32] | None) -> Make:
        subscriptions, removed, curve, id = self.subscriptions, self._gone, self.curve, event.id

        def make(start: int, stop: int) -> list[Match]:
            listed = [1.0] * (stop - start) if scores is None else scores[start:stop].tolist()
            made = []
            for ordinal, score in zip(ordinals[start:stop].tolist(), listed, strict=True):
                subscription = subscriptions.get(ordinal) or removed[ordinal]
                made.append(Match(id, subscription.id, subscription.kind, score, likelihood=curve))
            return made

        return make

    def match_batch(self, events: Sequence[Event], at: Sequence[int]) -> EngineBatchResult:
        """`find` for each event in turn."""
        return batch_result([self.find(event, when) for event, when in zip(events, at, strict=True)])

    def advance(self, now: int) -> list[tuple[int, Match]]:
        """Nothing here depends on time."""
        return []

    def shift(self, by: int) -> None:
        """Nothing here is remembered of past events."""

    def holds_for_long(self, event_id: str) -> bool:
        """Nothing here is remembered of past events."""
        return False

    def withdraw(self, event_id: str) -> list[tuple[int, Match]]:
        """Nothing here is remembered of past events."""
        return []

    def explain(self, event: Event, ordinal: int, at: int) -> Explanation:
        """Explained by the plain evaluation, which every engine's results equal."""
        from likewise.matching.explain.explain import explain

        subscription = self.subscriptions.get(ordinal)
        if subscription is None:
            raise UnknownId(str(ordinal))
        return explain(event, subscription, types=self.types)

    def forget_relatedness(self, of: Callable[[str], bool]) -> None:
        """No relatedness is kept here."""

    def caches(self) -> dict[str, CacheUse]:
        """Nothing is looked up here that could be missing."""
        return {}

    def save(self, folder: Path) -> None:
        """Adding the subscriptions again brings everything back."""

    def load(self, folder: Path) -> None:
        """There is nothing to read."""


def result_of(hits: Sequence[tuple[int, Match]]) -> EngineResult:
    """Matches by ordinal, as arrays, in the order they are given.

    >>> result_of([]).ordinals.tolist()
    []
    """
    import numpy as np

    ordinals = np.array([ordinal for ordinal, _ in hits], np.int64)
    return EngineResult(ordinals, np.array([match.score for _, match in hits], np.float32))


def batch_result(results: Sequence[EngineResult], promoted: Sequence[Promotion] = ()) -> EngineBatchResult:
    """Return what each event of a batch met, as one."""
    import numpy as np

    counts = np.fromiter((len(r.ordinals) for r in results), np.int64, len(results))
    ordinals = np.concatenate([r.ordinals for r in results] or [np.empty(0, np.int64)])
    scores = None
    if not results or any(r.scores is not None for r in results):
        parts = [np.ones(len(r.ordinals), np.float32) if r.scores is None else r.scores for r in results]
        scores = np.concatenate(parts or [np.empty(0, np.float32)])
    return EngineBatchResult(counts, ordinals, scores, tuple(promoted))
