"""State of a matcher: its subscriptions by ordinal, and the engines that serve them.

`likewise.Matcher` adds, matches and explains with it. A broker also needs what users do not: times that windows have
reached, outages, suspended sources, counters, and what another matcher knows of the same alerts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping, Sequence
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Final, cast

import msgspec

from likewise.defaults import MAX_ADDITIONS
from likewise.errors import DuplicateId, InvalidSubscription, LimitExceeded, UnknownId
from likewise.matching.cache_use import CACHES, CacheUse
from likewise.matching.engine import Addition, AlertingEngine, BaseEngine, Engine, TimedEngine
from likewise.matching.enrichment.step import AnnotationStep
from likewise.matching.registry import EngineSelection
from likewise.model import Event, Explanation, Kind, Match, Subscription
from likewise.model.alerts.notification import Key, Why
from likewise.model.matches.sequence import Matches, merged

if TYPE_CHECKING:
    from likewise.model.matches.sequence import Ordinals
    from likewise.semantics.interpretation import Interpretation


class MatcherState:
    """Subscriptions of every kind and their engines; ordinals are the order of addition and are never used twice.

    Attributes:
        held: Subscriptions by ordinal.
        ends: End of each subscription's validity, by ordinal; the owner of the state removes what has ended.
        next_ordinal: Ordinal of the next subscription.
        engines: Engines by kind, created with the first subscription of the kind.
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
        """Explain why the event does or does not meet a subscription at a moment, with what made its scores."""
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

    @property
    def alerts(self) -> AlertingEngine | None:
        """Return the engine of alerts; None as long as there was no alert."""
        return cast("AlertingEngine | None", self.engines.get("alert"))

    @property
    def refused_late(self) -> int:
        """Return how many events were too late for any window (`lateness`)."""
        return sum(getattr(engine, "refused_late", 0) for engine in self.engines.values())

    @property
    def reached(self) -> int | None:
        """Return the time that windows or alerts have reached, in µs; None if there are none.

        >>> import likewise as lw
        >>> m = lw.Matcher()
        >>> _ = m.add(lw.parse("{x > 1} for 5 s", id="high")), m.advance(7)
        >>> m.state.reached
        7
        """
        times = [getattr(engine, "now", None) for engine in self.engines.values()]
        return max((now for now in times if now is not None), default=None)

    @property
    def keyless(self) -> int:
        """Return how many events lacked an attribute of an alert's `per`, so that they moved nothing.

        >>> import likewise as lw
        >>> m = lw.Matcher()
        >>> _ = m.add(lw.parse("{t > 25} per room for 5 s", id="warm"))
        >>> m.match(lw.event({"t": 30}), at=0), m.state.keyless
        ([], 1)
        """
        return sum(getattr(engine, "keyless", 0) for engine in self.engines.values())

    def caches(self) -> dict[str, CacheUse]:
        """Return hits and misses of each cache; any thread may call this.

        >>> import likewise as lw
        >>> lw.Matcher().state.caches()["relatedness"]
        CacheUse(hits=0, misses=0)
        """
        uses = [engine.caches() for engine in list(self.engines.values())]
        return {name: sum((each[name] for each in uses if name in each), CacheUse()) for name in CACHES}

    def numbers(self) -> dict[int, str]:
        """Return the ids of the subscriptions by their numbers in `MatchBatch.numbers`.

        >>> import likewise as lw
        >>> m = lw.Matcher()
        >>> m.add_many([{"text": "{t > 1}", "id": "a"}], numbers=[7]), m.state.numbers()
        (['a'], {7: 'a'})
        """
        return {number: id for id, number in self.ordinals.items()}

    def shift(self, by: int) -> None:
        """Move the times in windows by so many µs (earlier if negative), after a step of the clock.

        Deliveries stay delivered, and events in a window keep their age. Validities do not move.

        >>> import likewise as lw
        >>> m = lw.Matcher()
        >>> _ = m.add(lw.parse("{x > 0} top 1 within 1 min by value(x)", id="low"), at=0)
        >>> [len(m.match(lw.event({"x": 5}), at=3_600_000_000)), m.state.shift(-3_600_000_000)]
        [1, None]
        >>> [match.rank_value for match in m.match(lw.event({"x": 4}), at=1_000_000)]
        [4.0]
        """
        for engine in self.engines.values():
            engine.shift(by)

    def holds_for_long(self, event_id: str) -> bool:
        """Return whether an event is in a window that time alone never evicts it from."""
        return any(engine.holds_for_long(event_id) for engine in self.engines.values())

    def forget_relatedness(self, of: Callable[[str], bool]) -> None:
        """Forget the computed relatedness of the event texts that `of` selects: feedback has changed it."""
        for engine in self.engines.values():
            engine.forget_relatedness(of)
        self.annotating.forget_relatedness(of)

    def count_keys(self, id: str) -> int:
        """Count the keys of an alert that have a state; 0 if the subscription is no alert."""
        ordinal = self.ordinal(id)
        engine = self.alerts
        return 0 if engine is None or self.held[ordinal].alert is None else engine.count_keys(ordinal)

    def outage(self, by: int, until: int | None = None) -> None:
        """Report an outage of so many µs in which no event could arrive: `absent for` does not count it as silence.

        With `until`, the end of the outage, a key that was observed after the outage began counts from there.
        """
        if (engine := self.alerts) is not None:
            engine.outage(by, until)

    def unsend(self, id: str, key: Key, event_id: str) -> None:
        """Mark the last alarm of a key, which names an event, as never sent: it is sent later if it still holds.

        A replay calls this for a notification that was lost.
        """
        if (engine := self.alerts) is not None and id in self.ordinals:
            engine.unsend(self.ordinal(id), key, event_id)

    def postpone_expiry(self, by: int) -> None:
        """Do not count so many µs without any event towards the expiry of an alert's keys.

        A caller that cannot tell a long pause from a step of the clock uses this.
        """
        if (engine := self.alerts) is not None:
            engine.postpone_expiry(by)

    def suspend_absence(self, sources: Iterable[str], why: Why, at: int) -> None:
        """Suspend `absent for` for some sources until `resume_absence`: they rest, or their gateway is down.

        >>> import likewise as lw
        >>> m = lw.Matcher()
        >>> _ = m.add(lw.parse("{t exists} absent for 1 min", id="silent"), at=0)
        >>> _ = m.match(lw.event({"t": 1}, source="s1"), at=0)
        >>> m.state.suspend_absence(["s1"], "unreachable", at=30_000_000), m.advance(3_600_000_000)
        (None, [])
        >>> m.state.resume_absence(["s1"], "unreachable", at=3_600_000_000)
        >>> [match.cause for match in m.advance(3_630_000_000)]
        ['absent']
        """
        if (engine := self.alerts) is not None:
            engine.suspend_absence(sources, why, at)

    def resume_absence(self, sources: Iterable[str], why: Why, at: int) -> None:
        """Resume `absent for` for some sources; the time of the suspension does not count."""
        if (engine := self.alerts) is not None:
            engine.resume_absence(sources, why, at)

    def suspended_sources(self, why: Why) -> set[str]:
        """Return the sources for which `absent for` is suspended."""
        engine = self.alerts
        return set() if engine is None else engine.suspended_sources(why)

    def expect(self, id: str, key: Key, source: str, event_id: str, at: int) -> None:
        """Watch a key of an `absent for` that a source announced, though no event of it matched yet.

        Args:
            id: Id of the alert; of another subscription, nothing is watched.
            key: Values of `per`.
            source: Name of the source.
            event_id: Id of the event that an `absent` notification names.
            at: Time of the announcement in µs since 1970.
        """
        ordinal = self.ordinal(id)
        if self.held[ordinal].alert is not None:
            cast("AlertingEngine", self.engine("alert")).expect(ordinal, key, source, event_id, at)

    def unexpect(self, id: str, key: Key, event_id: str) -> None:
        """Stop watching a key that was only announced; a key of matched events is watched on."""
        if (engine := self.alerts) is not None:
            engine.unexpect(self.ordinal(id), key, event_id)

    def is_expected(self, id: str, key: Key) -> bool:
        """Return whether an alert knows a key."""
        engine = self.alerts
        return engine is not None and id in self.ordinals and engine.is_expected(self.ordinal(id), key)

    def rename(self, before: str, after: str) -> None:
        """Replace the event of an announcement, which `absent` notifications name."""
        if (engine := self.alerts) is not None:
            engine.rename(before, after)

    def rename_source(self, before: str, after: str | None) -> None:
        """Move the alert states of a source to another name, or forget them, without a notification.

        Where both are known, the key that is active, or was active last, is kept.

        Args:
            before: the source's name up to now.
            after: its name from now on; None if several sources used `before` by mistake: they begin anew.

        >>> import likewise as lw
        >>> m = lw.Matcher()
        >>> _ = m.add("{smoke = true} once until false")
        >>> len(m.match(lw.event({"smoke": True}, source="kitchen")))
        1
        >>> m.state.rename_source("kitchen", "0x01")
        >>> len(m.match(lw.event({"smoke": True}, source="0x01")))
        0
        >>> [match.cause for match in m.match(lw.event({"smoke": False}, source="0x01"))]
        ['cleared']
        """
        if (engine := self.alerts) is not None and before != after:
            engine.rename_source(before, after)

    def next_due(self) -> int | None:
        """Return when `advance` next changes an alert, or an earlier time; None if it changes nothing."""
        engine = self.alerts
        return None if engine is None else engine.next_due()

    def next_move(self) -> int | None:
        """Return when `advance` next changes an alert or a window, or an earlier time; None if it changes nothing."""
        engines = [self.engines[kind] for kind in ("alert", "top") if kind in self.engines]
        moments = [cast("TimedEngine", engine).next_due() for engine in engines]
        return min((moment for moment in moments if moment is not None), default=None)

    def wrong_clocks(self) -> dict[str, tuple[int, int]]:
        """Return the sources whose clock fell back: the stated time of the last such event, and its arrival (µs).

        A source is named from when alerts counted an event of it at its arrival until an event comes that is less
        than a day old.
        """
        engine = self.alerts
        return {} if engine is None else dict(getattr(engine, "clocks", {}))

    def may_name(self, event_id: str) -> bool:
        """Return whether a coming notification may name an event."""
        engine = self.alerts
        return engine is not None and engine.may_name(event_id)

    def adopt(self, other: MatcherState) -> None:
        """Copy the alert states of another matcher for the alerts that both have, by their ids."""
        if self.alerts is not None and other.alerts is not None:
            alerts = {theirs: id for id, theirs in other.ordinals.items() if other.held[theirs].alert}
            shared = {theirs: self.ordinals[id] for theirs, id in alerts.items() if id in self.ordinals}
            self.alerts.adopt(other.alerts, shared)


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
    """Return the explanation of a match that has expired."""
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
        """Explain why the event does or does not meet a subscription."""
        with self._lock:
            return self._state.explain(event, id, at)
