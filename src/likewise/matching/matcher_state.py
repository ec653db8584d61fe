"""What a matcher holds: its subscriptions by ordinal, and the engines that serve them.

`likewise.Matcher` is the door to it; a snapshot has one of its own, and a saved matcher is one on disk.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Final, cast

import msgspec

from likewise.defaults import MAX_ADDITIONS
from likewise.errors import DuplicateId, InvalidSubscription, LimitExceeded, UnknownId
from likewise.matching.engine import Addition, BaseEngine, Engine
from likewise.matching.enrichment.step import AnnotationStep
from likewise.matching.registry import EngineSelection
from likewise.model import Event, Explanation, Kind, Match, Subscription
from likewise.model.matches.sequence import Matches, merged

if TYPE_CHECKING:
    from likewise.model.matches.sequence import Ordinals
    from likewise.semantics.interpretation import Interpretation


class MatcherState:
    """Subscriptions of every kind and their engines; ordinals say the order of addition and are never used twice.

    `held` has the subscriptions by ordinal, `ends` the moment the validity of each is over, `next_ordinal` is the next
    one dealt out. Nothing ends by itself: whoever owns the state decides when.
    """

    __slots__ = ("annotating", "choice", "ends", "engines", "held", "interpretation", "next_ordinal", "ordinals")

    def __init__(self, interpretation: Interpretation, choice: EngineSelection) -> None:
        self.interpretation = interpretation
        self.choice = choice
        self.annotating = AnnotationStep(interpretation, choice)
        self.engines: dict[Kind, Engine] = {}
        self.ordinals: dict[str, int] = {}
        self.held: MutableMapping[int, Subscription] = {}
        self.ends: dict[int, int] = {}
        self.next_ordinal = 0

    def add(self, ordinal: int, subscription: Subscription, at: int, end: int | None) -> None:
        """Hold a subscription from the moment `at` on; one that cannot be held changes nothing."""
        self._check(ordinal, subscription.id)
        self.engine(subscription.kind).add(ordinal, subscription, at)
        self._note(ordinal, subscription, end)

    def add_many(self, additions: Sequence[Addition], ends: Sequence[int | None]) -> None:
        """`add` for each, with the ends of their validity, or none of them if one cannot be held."""
        ids: set[str] = set()
        by_kind: dict[Kind, list[Addition]] = {}
        for addition in additions:
            id = addition.subscription.id
            self._check(addition.ordinal, id)
            if id in ids:
                raise DuplicateId(id)
            ids.add(id)
            by_kind.setdefault(addition.subscription.kind, []).append(addition)
        engines = {kind: self.engine(kind) for kind in by_kind}
        done: list[Kind] = []
        try:
            for kind, several in by_kind.items():
                _add_many(engines[kind], several)
                done.append(kind)
        except BaseException:
            for kind in done:
                for addition in by_kind[kind]:
                    engines[kind].remove(addition.ordinal)
            raise
        for addition, end in zip(additions, ends, strict=True):
            self._note(addition.ordinal, addition.subscription, end)

    def _check(self, ordinal: int, id: str) -> None:
        if not id:
            raise InvalidSubscription("the subscription has no id; give it one, or make it with likewise.parse")
        if id in self.ordinals:
            raise DuplicateId(id)
        if ordinal >= MAX_ADDITIONS:
            raise LimitExceeded(
                "additions to one matcher (save it, and add its subscriptions to a new one)", allowed=MAX_ADDITIONS
            )

    def _note(self, ordinal: int, subscription: Subscription, end: int | None) -> None:
        self.ordinals[subscription.id] = ordinal
        self.held[ordinal] = subscription
        self.next_ordinal = ordinal + 1
        if end is not None:
            self.ends[ordinal] = end

    def kinds(self) -> dict[int, Kind]:
        """The kind of every subscription, by ordinal."""
        return {ordinal: subscription.kind for ordinal, subscription in self.held.items()}

    def remove(self, id: str) -> None:
        """Forget a subscription, wholly."""
        ordinal = self.ordinal(id)
        self.engine(self.held[ordinal].kind).remove(ordinal)
        del self.held[ordinal], self.ordinals[id]
        self.ends.pop(ordinal, None)

    def ordinal(self, id: str) -> int:
        """The ordinal of the subscription with this id."""
        ordinal = self.ordinals.get(id)
        if ordinal is None:
            raise UnknownId(id)
        return ordinal

    def engine(self, kind: Kind) -> Engine:
        """The engine that serves a kind, made when the kind first comes."""
        engine = self.engines.get(kind)
        if engine is None:
            engine = self.engines[kind] = self.choice.make(kind, self.interpretation)
        return engine

    def match(self, event: Event, at: int) -> list[tuple[int, Match]]:
        """The matches of one event with their ordinals, in the order of addition."""
        event = self.annotating.annotate(event)
        hits = [hit for engine in self.engines.values() for hit in engine.match(event, at)]
        if len(self.engines) > 1:
            hits.sort(key=lambda hit: hit[0])
        return hits

    def matches(self, event: Event, at: int) -> Matches:
        """The matches of one event in the order of addition, each made when it is looked at."""
        event = self.annotating.annotate(event)
        pieces = []
        for engine in self.engines.values():
            if isinstance(engine, BaseEngine):
                pieces.append(engine.matches(event, at))
            else:
                pieces.append(_made(engine.match(event, at)))
        return pieces[0][1] if len(pieces) == 1 else merged(pieces)

    def explain(self, event: Event, id: str, at: int) -> Explanation:
        """Why the event does or does not meet a subscription at a moment, with what made its scores."""
        from likewise.matching.explain.evidence import with_evidence

        ordinal = self.ordinal(id)
        subscription = self.held[ordinal]
        event, changes = self.annotating.annotate_with_changes(event)
        explained = self.engine(subscription.kind).explain(event, ordinal, at)
        explained = with_evidence(explained, event, subscription, self.interpretation)
        explained = self.annotating.with_changes(explained, changes)
        end = self.ends.get(ordinal)
        if end is not None and end <= at:
            return ended(explained, "the subscription's validity is over; subscribe again")
        if event.expires is not None and event.expires <= at:
            return ended(explained, "the event's validity was over before it was matched; publish it with a later end")
        return explained


def _add_many(engine: Engine, additions: Sequence[Addition]) -> None:
    if isinstance(engine, BaseEngine):
        engine.add_many(additions)
    else:
        BaseEngine.add_many(cast("BaseEngine", engine), additions)  # which needs `add` and `remove` alone


def _made(hits: Sequence[tuple[int, Match]]) -> tuple[Ordinals, Matches]:
    import numpy as np

    made = [match for _, match in hits]
    return np.array([ordinal for ordinal, _ in hits], np.int64), Matches(len(made), lambda a, b: made[a:b])


def ended(explained: Explanation, change: str) -> Explanation:
    """The explanation of what no longer counts."""
    return msgspec.structs.replace(explained, verdict="expired", change=change)


class Snapshot:
    """The subscriptions as they were, without their windows; safe to share between threads.

    Engines are built when something is first matched, so that taking a snapshot copies what is held and no more.
    """

    def __init__(self, state: MatcherState) -> None:
        self.subscriptions: Final = tuple(state.held.values())
        self._ends = dict(state.ends)
        self._ordinals = tuple(state.held)
        self._interpretation, self._choice = state.interpretation, state.choice
        self._lock = Lock()

    @cached_property
    def _state(self) -> MatcherState:
        state = MatcherState(self._interpretation, self._choice)
        for ordinal, subscription in zip(self._ordinals, self.subscriptions, strict=True):
            if not subscription.remembers:
                state.add(ordinal, subscription, 0, self._ends.get(ordinal))
        return state

    def match(self, event: Event, at: int = 0) -> list[Match]:
        """The matches of one event among the subscriptions without windows that are valid at the moment `at`."""
        if event.expires is not None and event.expires <= at:
            return []
        with self._lock:
            matches = self._state.match(event, at)
        return [match for ordinal, match in matches if self._ends.get(ordinal, at + 1) > at]

    def explain(self, event: Event, id: str, at: int = 0) -> Explanation:
        """Why the event does or does not meet a subscription."""
        with self._lock:
            return self._state.explain(event, id, at)
