"""What a matcher answers without changing: what it holds, why an event does or does not match, what it would match."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from likewise.defaults import MAX_ENUMERATED_MAPPINGS
from likewise.errors import LimitExceeded, StateError
from likewise.matching.cache_use import CACHES, CacheUse
from likewise.matching.coercion import GivenEvent, as_event
from likewise.matching.engine import AlertingEngine, TopKEntry, WindowEngine
from likewise.matching.explain.select import Selected
from likewise.matching.matcher_state import MatcherState, ended
from likewise.model import Condition, Event, Explanation, Kind, Match, Subscription
from likewise.model import Mapping as PredicateMapping
from likewise.model.alerts.alert_state import AlertKeyState
from likewise.semantics.feedback import Judgement
from likewise.semantics.interpretation import Interpretation

Clock = Callable[[], int]


class MatcherAnswers:
    """The questions to a matcher that change nothing. `likewise.Matcher` is one, and changes, too."""

    _state: MatcherState
    _clock: Clock
    _withdrawn: dict[str, None]  # the events taken back, the oldest first

    def __len__(self) -> int:
        return len(self._state.held)

    def __contains__(self, id: object) -> bool:
        return id in self._state.ordinals

    @property
    def interpretation(self) -> Interpretation:
        """By what it takes relaxed parts: space, measure, feedback, threshold; matchers may share one."""
        return self._state.interpretation

    @property
    def refused_late(self) -> int:
        """How many events came too late for any window; `lateness` (µs) says how late is too late."""
        return sum(getattr(engine, "refused_late", 0) for engine in self._state.engines.values())

    @property
    def reached(self) -> int | None:
        """The moment that windows or alerts have come to, by events and by time; None if there are none.

        >>> import likewise as lw
        >>> m = lw.Matcher()
        >>> _ = m.add(lw.parse("{x > 1} for 5 s", id="high")), m.advance(7)
        >>> m.reached
        7
        """
        times = [getattr(engine, "now", None) for engine in self._state.engines.values()]
        return max((now for now in times if now is not None), default=None)

    @property
    def keyless(self) -> int:
        """How many events lacked an attribute of an alert's `per`, so that they moved nothing.

        >>> import likewise as lw
        >>> m = lw.Matcher()
        >>> _ = m.add(lw.parse("{t > 25} per room for 5 s", id="warm"))
        >>> m.match(lw.event({"t": 30}), at=0), m.keyless
        ([], 1)
        """
        return sum(getattr(engine, "keyless", 0) for engine in self._state.engines.values())

    def caches(self) -> dict[str, CacheUse]:
        """How often what is kept was there when it was needed, by cache; other threads may ask, too.

        >>> import likewise as lw
        >>> lw.Matcher().caches()["relatedness"]
        CacheUse(hits=0, misses=0)
        """
        uses = [engine.caches() for engine in list(self._state.engines.values())]
        return {name: sum((each[name] for each in uses if name in each), CacheUse()) for name in CACHES}

    @property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of subscriptions it has held so far."""
        return frozenset(self._state.engines)

    def subscriptions(self) -> tuple[Subscription, ...]:
        """Every subscription held, in the order of addition."""
        return tuple(self._state.held.values())

    def numbers(self) -> dict[int, str]:
        """The ids of the subscriptions held, by the numbers that `MatchBatch.numbers` gives.

        >>> import likewise as lw
        >>> m = lw.Matcher()
        >>> m.add_many([{"text": "{t > 1}", "id": "a"}], numbers=[7]), m.numbers()
        (['a'], {7: 'a'})
        """
        return {number: id for id, number in self._state.ordinals.items()}

    def _moment(self, event: Event, at: int | None) -> int:
        """When the event counts: as said, else by its own time, else by the clock."""
        if at is not None:
            return at
        return self._clock() if event.time is None else event.time

    def annotated(self, event: GivenEvent) -> Event:
        """The event as it is matched: with what annotations add, and say about its units and names.

        >>> import likewise as lw
        >>> rows = [{"key": "source", "is": "s17", "attribute": "room", "value": "112"}]
        >>> str(lw.Matcher(annotations=rows).annotated({"v": 1, "source": "s17", "payload": {"t": 21}}))
        't: 21 · room: 112'
        """
        return self._state.annotating.annotate(as_event(event))

    def would_match(self, event: GivenEvent, at: int | None = None) -> list[Match]:
        """The matches `match` would find on arrival; changes nothing: no validity ends, no window moves.

        >>> import likewise as lw
        >>> m = lw.Matcher()
        >>> _ = m.add(lw.parse("{x > 1} top 1 within 2 events by value(x)", id="low"))
        >>> [len(m.would_match(lw.event({"x": x}))) for x in (5, 0, 5)]
        [1, 0, 1]
        """
        event = as_event(event)
        now = self._moment(event, at)
        if event.expires is not None and event.expires <= now:
            return []
        hits: list[tuple[int, Match]] = []
        annotated = self.annotated(event)
        for kind, engine in self._state.engines.items():
            if kind not in ("top", "alert"):
                hits += engine.match(annotated, now)
        for ordinal, subscription in self._state.held.items():
            if subscription.remembers and (explanation := self.explain(event, subscription.id, now)).verdict == "match":
                hits.append((ordinal, Match(event.id, subscription.id, subscription.kind, explanation.score)))
        hits = [hit for hit in hits if self._state.ends.get(hit[0], now + 1) > now]
        return [match for _, match in sorted(hits, key=lambda hit: hit[0])]

    def board(self, id: str) -> list[TopKEntry]:
        """The k best of a top-k subscription's window now, best first.

        >>> import likewise as lw
        >>> m = lw.Matcher()
        >>> _ = m.add(lw.parse("{x exists} top 1 within 2 events by value(x)", id="low"))
        >>> for x in (5, 7):
        ...     _ = m.match(lw.event({"x": x}, id=f"e{x}"), at=x)
        >>> m.board("low")
        [TopKEntry(rank=1, event_id='e5', value=5.0, time=5)]
        """
        ordinal = self._state.ordinal(id)
        if self._state.held[ordinal].top is None:
            raise StateError(f"{id!r} is no top-k subscription, so it has no board")
        return cast("WindowEngine", self._state.engine("top")).board(ordinal)

    def selected(self, event: GivenEvent, id: str, at: int | None = None, *, score: float | None = None) -> Selected:
        """What a subscription's `select` names of an event, by name, with notes on what is null; changes nothing.

        `score` is that of the match it is said with: an event that clears an alert does not meet it any more.

        >>> import likewise as lw
        >>> m = lw.Matcher()
        >>> _ = m.add(lw.parse("{t > 25 degC} select (t in degF as f, @source as device)", id="warm"))
        >>> m.selected(lw.event({"t": {"value": 30, "unit": "degC"}}, source="s1"), "warm").values
        {'f': 86.0, 'device': 's1'}
        """
        from likewise.matching.explain.select import names_payload, needs_measure, payload_sent, selected

        known, event = self._state.held[self._state.ordinal(id)], as_event(event)
        by, explained = self.interpretation, self.explain(event, id, at)
        return selected(
            self.annotated(event),
            known,
            explained,
            by.measure if needs_measure(known) else None,
            by.threshold,
            score=score,
            payload=payload_sent(event) if names_payload(known) else None,
        )

    def standings(self, id: str, limit: int = 100) -> list[AlertKeyState]:
        """The keys of an alert, those first of which something was said, then those that hold, the newest first.

        >>> import likewise as lw
        >>> m = lw.Matcher()
        >>> _ = m.add(lw.parse("{x > 1} for 5 s", id="high"))
        >>> _ = m.match(lw.event({"x": 2}, source="s1"), at=3)
        >>> [(each.key, each.since, each.notified) for each in m.standings("high")]
        [(('s1',), 3, False)]
        """
        ordinal = self._state.ordinal(id)
        if self._state.held[ordinal].alert is None:
            raise StateError(f"{id!r} is no alert, so it has no keys")
        return cast("AlertingEngine", self._state.engine("alert")).standings(ordinal, limit)

    def count_keys(self, id: str) -> int:
        """How many keys of an alert have a state; 0 of what is no alert."""
        ordinal = self._state.ordinal(id)
        if self._state.held[ordinal].alert is None:
            return 0
        return cast("AlertingEngine", self._state.engine("alert")).count_keys(ordinal)

    def explain(self, event: GivenEvent, id: str, at: int | None = None) -> Explanation:
        """Why the event does or does not meet the subscription; changes nothing."""
        event = as_event(event)
        explained = self._state.explain(event, id, self._moment(event, at))
        if event.id in self._withdrawn and explained.verdict == "match":
            return ended(explained, "the event was withdrawn, so it meets nothing any more; publish it again")
        return explained

    def mappings(self, event: GivenEvent, id: str, k: int = 10) -> list[PredicateMapping]:
        """The k best mappings of a condition's predicates to the event's tuples, the best first; changes nothing.

        Each has its score, its probability among all mappings (P; among the best 100 or k if there are more than
        10,000) and that of every correspondence in its predicate's row (P_σ). They are given whether or not they reach
        the threshold, each part or all together; fewer than k if no others have a score above 0. Conditions of more
        than 50 predicates have their best one alone, and an exact condition whose predicates share a tuple has none.

        >>> import likewise as lw
        >>> from likewise.testing import TableMeasure
        >>> m = lw.Matcher(measure=TableMeasure({("laptop", "computer"): 0.8, ("laptop", "phone"): 0.2}))
        >>> _ = m.add(lw.parse("{device[] = laptop~}", id="s"))
        >>> found = m.mappings(lw.event({"device": ["computer", "phone"]}), "s", k=2)
        >>> [(round(each.score, 2), round(each.probability, 2)) for each in found]
        [(0.8, 0.8), (0.2, 0.2)]
        """
        from likewise.matching.reference.conditions import best_mappings, prepare_condition
        from likewise.matching.reference.event_view import EventView
        from likewise.matching.reference.match_threshold import MatchThreshold

        subscription = self._state.held[self._state.ordinal(id)]
        if not isinstance(subscription.body, Condition):
            raise StateError(f"{id!r} is no condition in braces, so it has no mappings of predicates to tuples")
        if not 1 <= k <= MAX_ENUMERATED_MAPPINGS:
            raise LimitExceeded("mappings asked for (from 1)", allowed=MAX_ENUMERATED_MAPPINGS, found=k)
        threshold = self.interpretation.threshold if subscription.threshold is None else subscription.threshold
        measure = self.interpretation.measure if subscription.body.is_relaxed() else None
        return best_mappings(
            prepare_condition(subscription),
            EventView(self.annotated(event), measure, self.interpretation.types),
            MatchThreshold.at(threshold),
            k,
        )

    def judgements(self) -> tuple[Judgement, ...]:
        """The feedback given so far, oldest first."""
        return tuple(self.interpretation.feedback)
