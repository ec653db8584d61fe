"""`likewise.Matcher`: one interface to all engines (docs/interface.md).

The matcher numbers subscriptions in the order of addition, gives each to the engine of its kind, removes
those that have expired, and merges the results of the engines in the order of addition. One thread owns a
matcher; others use its `snapshot`.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, cast

from likewise.defaults import CACHE_BYTES, LATENESS, MAX_ENUMERATED_MAPPINGS, MAX_WITHDRAWN
from likewise.errors import InputError, LimitExceeded, StateError
from likewise.matching.coercion import (
    GivenAnnotations,
    GivenEvent,
    GivenSubscription,
    GivenTypes,
    as_annotations,
    as_event,
    as_events,
    as_subscription,
    as_types,
)
from likewise.matching.engine import Addition, AlertingEngine, EngineBatchResult, TopKEntry, WindowEngine
from likewise.matching.explain.feedback_pairs import feedback_pairs
from likewise.matching.explain.select import Selected
from likewise.matching.matcher_state import MatcherState, Snapshot, ended
from likewise.matching.registry import Choice, EngineSelection, Profile
from likewise.matching.results import SubscriptionNumbering, merge, moments_of, slice_batch
from likewise.model import Condition, Event, Explanation, Kind, Match, MatchBatch, Promotion, Subscription
from likewise.model import Mapping as PredicateMapping
from likewise.model.alerts.alert_state import AlertKeyState
from likewise.model.matched_reading import MatchedReading
from likewise.model.matches.batch import BatchReadings, ProbabilityCurves
from likewise.model.matches.sequence import NO_MATCHES, Matches
from likewise.model.probability import AS_SCORED
from likewise.semantics.feedback import Judgement, judged_by
from likewise.semantics.interpretation import Interpretation

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

    from likewise.formats.arrow.event_batch import EventBatch
    from likewise.semantics.measure import Measure
    from likewise.semantics.space import Space

Clock = Callable[[], int]


def system_clock() -> int:
    """Return the machine's time in microseconds UTC."""
    import time

    return time.time_ns() // 1_000


class Matcher:
    """Subscriptions of every kind, matched against events.

    Without arguments, relaxed parts use the space and the measure that ship with the package.

    Args:
        space: Space of meaning: one that was loaded, its name or its folder. It is opened when first needed.
        measure: How related two terms are: a `Measure`, or text such as `"thematic"` or `"esa:metric=raw"`.
        threshold: Score that a relaxed match needs, in [0, 1]; a subscription may state its own.
        clock: Function that returns the time in µs since 1970, for events without a time and for the ends of
            validity. Default: the system clock.
        cache_bytes: Memory that each engine may use for computed relatedness.
        lateness: How far (µs) the time of an event may lie behind the newest and the event still enters windows.
        interpretation: Replaces space, measure, threshold, cache_bytes, lateness, types and annotations; several
            matchers may share one.
        profile: Set of engines: `full` or `small`.
        engines: Engines of single kinds, by name or as a class, that replace those of the profile (see
            `likewise.matching.registry`).
        types: Declared hierarchies that `is-a` follows: a mapping of types to wider ones, or an RDF file of
            rdfs:subClassOf and skos:broader.
        annotations: What is known about sources, models, topics and attributes, added to events before they are
            matched: a CSV file, which is read again when it changes, or rows as mappings
            (docs/guides/annotations.md).

    >>> import likewise as lw
    >>> m = lw.Matcher()
    >>> m.add(lw.parse("{temp > 25 degC}", id="warm"))
    'warm'
    >>> m.match(lw.event({"temp": {"value": 81.2, "unit": "degF"}}, id="e1"))
    [Match(event_id='e1', subscription_id='warm', kind='exact', score=1, product=1, cause='arrival')]
    """

    def __init__(
        self,
        *,
        space: Space | str | Path | None = None,
        measure: Measure | str | None = None,
        threshold: float | None = None,
        clock: Clock | None = None,
        cache_bytes: int = CACHE_BYTES,
        lateness: int = LATENESS,
        interpretation: Interpretation | None = None,
        profile: Profile = "full",
        engines: Mapping[Kind, Choice] | None = None,
        types: GivenTypes | None = None,
        annotations: GivenAnnotations | None = None,
    ) -> None:
        parts = {
            "space": space,
            "measure": measure,
            "threshold": threshold,
            "types": types,
            "annotations": annotations,
        }
        if interpretation is None:
            interpretation = Interpretation(
                space=space,
                measure=measure,
                threshold=threshold,
                cache_bytes=cache_bytes,
                lateness=lateness,
                types=as_types(types),
                annotations=as_annotations(annotations),
            )
        elif given_names := [name for name, part in parts.items() if part is not None]:
            raise InputError(f"an interpretation says the {given_names[0]} already; give the one or the other")
        self._clock = clock or system_clock
        self._withdrawn: dict[str, None] = {}  # the withdrawn events, the oldest first
        self._take(MatcherState(interpretation, EngineSelection(profile, engines)))
        self._state.annotating.check()

    def _take(self, state: MatcherState) -> None:
        self._state = state
        self._numbering = SubscriptionNumbering(state.held, state.ordinals)
        # The ends of validity as a heap; entries of removed ordinals are passed over.
        self._ending = [(end, ordinal) for ordinal, end in state.ends.items()]
        heapq.heapify(self._ending)

    def __len__(self) -> int:
        return len(self._state.held)

    def __contains__(self, id: object) -> bool:
        return id in self._state.ordinals

    @property
    def interpretation(self) -> Interpretation:
        """Return how relaxed parts are interpreted: space, measure, feedback, threshold; matchers may share one."""
        return self._state.interpretation

    @property
    def state(self) -> MatcherState:
        """Return the subscriptions, engines and alerts, for a program that runs a matcher as a service."""
        return self._state

    # -- changing -------------------------------------------------------------------------------

    def add(self, subscription: GivenSubscription, at: int | None = None) -> str:
        """Add a subscription.

        Args:
            subscription: A `Subscription`, text of the language, or a mapping with its text or structure.
            at: Time of the addition in µs since 1970. Default: the matcher's clock.

        Returns:
            The id of the subscription.

        Raises:
            DuplicateId: The id is in use.
            ParseError: The text is not in the language.
            UnsupportedSubscription: No engine serves this kind of subscription.

        >>> Matcher().add({"text": "{temp > 25 degC}", "id": "warm"})
        'warm'
        """
        subscription = as_subscription(subscription)
        now = self._clock() if at is None else at
        end = None if subscription.valid_for is None else now + subscription.valid_for
        ordinal = self._state.next_ordinal
        self._state.add(ordinal, subscription, now, end)
        self._numbering.forget()
        if end is not None:
            heapq.heappush(self._ending, (end, ordinal))
        return subscription.id

    def add_many(
        self,
        subscriptions: Iterable[GivenSubscription],
        at: int | Sequence[int] | None = None,
        *,
        numbers: Sequence[int] | None = None,
    ) -> list[str]:
        """Add subscriptions in order, or none of them if one is refused. Quicker than one by one.

        Args:
            subscriptions: Subscriptions, in any of the forms of `add`.
            at: One time for all, or one for each, in µs since 1970. Default: the matcher's clock.
            numbers: Numbers as in `MatchBatch.numbers`: ascending, and higher than all numbers in use. Default: the
                next ones.

        Returns:
            The ids, in order.

        Raises:
            DuplicateId: An id is in use or repeated; nothing was added.

        >>> Matcher().add_many([{"text": "{temp > 25 degC}", "id": "warm"}, {"text": "{temp < 0 degC}", "id": "cold"}])
        ['warm', 'cold']
        """
        parsed = [as_subscription(value) for value in subscriptions]
        if at is None or isinstance(at, int):
            at = [self._clock() if at is None else at] * len(parsed)
        if len(at) != len(parsed):
            raise InputError(f"there are {len(parsed)} subscriptions and {len(at)} moments; give one for each")
        first = self._state.next_ordinal
        if numbers is None:
            numbers = range(first, first + len(parsed))
        elif len(numbers) != len(parsed) or any(a >= b for a, b in pairwise([first - 1, *numbers])):
            raise InputError(f"numbers of subscriptions rise, from {first} on, one for each; found {list(numbers)[:5]}")
        additions = [Addition(n, s, now) for n, s, now in zip(numbers, parsed, at, strict=True)]
        ends = [None if s.valid_for is None else now + s.valid_for for _, s, now in additions]
        self._state.add_many(additions, ends)
        self._numbering.forget()
        for (ordinal, _, _), end in zip(additions, ends, strict=True):
            if end is not None:
                heapq.heappush(self._ending, (end, ordinal))
        return [subscription.id for subscription in parsed]

    def remove(self, id: str) -> None:
        """Remove a subscription.

        Args:
            id: Id of the subscription.

        Raises:
            UnknownId: No subscription has this id.
        """
        self._state.remove(id)
        self._numbering.forget()

    def _end_validity(self, now: int) -> tuple[dict[int, str], list[tuple[int, Match]]]:
        """Remove the subscriptions that have expired by `now`; return their ids by ordinal, and the matches due before.

        Time stops at each end of an alert or a window: what was due before it is sent, however far time jumps.
        """
        ended: dict[int, str] = {}
        due: list[tuple[int, Match]] = []
        while self._ending and self._ending[0][0] <= now:
            end, ordinal = heapq.heappop(self._ending)
            if self._state.ends.get(ordinal) == end:
                if self._state.held[ordinal].remembers:
                    due += [hit for engine in self._state.engines.values() for hit in engine.advance(end - 1)]
                ended[ordinal] = self._state.held[ordinal].id
                self.remove(ended[ordinal])
        return ended, due

    # -- matching -------------------------------------------------------------------------------

    def match(self, event: GivenEvent, at: int | None = None) -> Matches:
        """Return the matches of one event, in the order of addition; an expired event has none.

        The result is an immutable sequence that creates a `Match` on access: counting matches costs nothing.

        Args:
            event: An `Event`, a mapping, or JSON.
            at: Time of the match in µs since 1970. Default: the event's time, else the matcher's clock.

        Returns:
            The matches, in the order in which the subscriptions were added.

        Raises:
            InvalidEvent: The event is impossible.
        """
        if type(event) is not Event:
            event = as_event(event)
        if self._withdrawn and event.id is not None:
            self._withdrawn.pop(event.id, None)
        now = self._moment(event, at)
        _, due = self._end_validity(now)
        over = event.expires is not None and event.expires <= now
        if not due:
            matched = NO_MATCHES if over else self._state.matches(event, now)
            if matched is not NO_MATCHES:
                matched.reader = partial(self._readings, event, now)
            return matched
        matches = [match for _, match in due]
        if not over:
            matches += self._state.matches(event, now)
        return Matches(len(matches), lambda start, stop: matches[start:stop])

    def _readings(self, event: Event, at: int, id: str) -> tuple[MatchedReading, ...]:
        """Return the readings of an event that met a subscription; none once the subscription was removed."""
        from likewise.matching.explain.matched_readings import matched_readings

        if id not in self:
            return ()
        return matched_readings(self.annotated(event), self._state.explain(event, id, at))

    def match_batch(self, events: Sequence[GivenEvent] | EventBatch, at: Sequence[int] | None = None) -> MatchBatch:
        """Return the matches of a batch of events as arrays; for each event its arrivals first, then promotions.

        Args:
            events: Events in any of the forms of `match`, or an `EventBatch`.
            at: Time of each event's match in µs since 1970. Default: as in `match`.

        Returns:
            The matches of all events as arrays.
        """
        events = as_events(events)
        moments, over = moments_of(events, at, self._clock)
        events = self._all_annotated(events)
        pieces: list[tuple[int, EngineBatchResult]] = []
        over_now: dict[int, str] = {}
        due: list[Promotion] = []
        checked = 0
        for start, stop in slice_batch(moments, over, self._ending[0][0] if self._ending else None):
            due += self._end_during(moments, checked, start + 1, over_now)  # what is left out tells the time, too
            checked = stop
            part, when = events[start:stop], moments[start:stop].tolist()
            for engine in self._state.engines.values():
                result = engine.match_batch(part, when)
                moved = tuple(Promotion(p.event_index + start, p.match, p.number) for p in result.promoted)
                pieces.append((start, result._replace(promoted=moved)))
        due += self._end_during(moments, checked, len(moments), over_now)
        event_index, ordinals, score = merge(pieces)
        promoted = sorted((x for _, p in pieces for x in p.promoted), key=lambda x: (x.event_index, x.number))
        if due:
            promoted = sorted([*due, *promoted], key=lambda x: x.event_index)
        index, ids, numbers = self._numbering.number(ordinals, over_now)
        read = BatchReadings(lambda at, id: self._readings(events[at], int(moments[at]), id))
        return MatchBatch(event_index, index, score, ids, tuple(promoted), self._likelihoods(ids), numbers, read)

    def _end_during(self, moments: NDArray[int64], start: int, stop: int, ended: dict[int, str]) -> list[Promotion]:
        """End validity by the times of some events; return the matches due before, each with its event."""
        due: list[Promotion] = []
        if not self._ending or start == stop or int(moments[start:stop].max()) < self._ending[0][0]:
            return due
        for place in range(start, stop):
            over, hits = self._end_validity(int(moments[place]))
            ended |= over
            due += [Promotion(place, match, ordinal) for ordinal, match in hits]
        return due

    def _all_annotated(self, events: Sequence[Event]) -> Sequence[Event]:
        """Return the events as they are matched; the same sequence if annotations change none of them."""
        if not self._state.annotating.active:
            return events
        received = list(events)
        made = [self._state.annotating.annotate(event) for event in received]
        return made if any(a is not b for a, b in zip(made, received, strict=True)) else events

    def _likelihoods(self, ids: Sequence[str]) -> ProbabilityCurves:
        """Return the curves from scores to probabilities for a batch."""
        engines = self._state.engines
        curves = [getattr(engines.get(kind), "curve", AS_SCORED) for kind in ("approximate", "top", "statements")]
        conditions = curves[0] if "approximate" in engines else curves[1]
        if "statements" not in engines:
            return ProbabilityCurves(conditions)
        stated = {s.id for s in self._state.held.values() if s.kind == "statements"}
        return ProbabilityCurves(conditions, curves[2], tuple(place for place, id in enumerate(ids) if id in stated))

    def advance(self, now: int) -> list[Match]:
        """Advance time to `now`: validity ends, windows move.

        Args:
            now: The new time in µs since 1970.

        Returns:
            The promotions into windows that the passed time causes.
        """
        times = [match for _, match in self._end_validity(now)[1]]
        return times + [match for engine in self._state.engines.values() for _, match in engine.advance(now)]

    def withdraw(self, event_id: str) -> list[Match]:
        """Withdraw an event.

        Args:
            event_id: Id of the event.

        Returns:
            The promotions into windows that its removal causes.
        """
        self._withdrawn[event_id] = None
        if len(self._withdrawn) > MAX_WITHDRAWN:
            del self._withdrawn[next(iter(self._withdrawn))]
        hits = [hit for engine in self._state.engines.values() for hit in engine.withdraw(event_id)]
        return [match for _, match in sorted(hits, key=lambda hit: hit[0])]

    # -- asking, without a change -----------------------------------------------------------------

    def subscriptions(self) -> tuple[Subscription, ...]:
        """Return the subscriptions in the order of addition."""
        return tuple(self._state.held.values())

    def _moment(self, event: Event, at: int | None) -> int:
        """Return the time of a match: `at`, else the time of the event, else the clock's."""
        if at is not None:
            return at
        return self._clock() if event.time is None else event.time

    def annotated(self, event: GivenEvent) -> Event:
        """Return the event as it is matched: annotations add to it and correct its units and names.

        Args:
            event: An event, in any of the forms of `match`.

        >>> import likewise as lw
        >>> rows = [{"key": "source", "is": "s17", "attribute": "room", "value": "112"}]
        >>> str(lw.Matcher(annotations=rows).annotated({"v": 1, "source": "s17", "payload": {"t": 21}}))
        't: 21 · room: 112'
        """
        return self._state.annotating.annotate(as_event(event))

    def would_match(self, event: GivenEvent, at: int | None = None) -> list[Match]:
        """Return the matches that `match` would return on arrival, without any effect.

        No validity ends and no window moves.

        Args:
            event: An event, in any of the forms of `match`.
            at: Time of the match in µs since 1970. Default: as in `match`.

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
        """Return the k best of a top-k subscription's window, the best first.

        Args:
            id: Id of the subscription.

        Raises:
            StateError: The subscription is no top-k subscription.

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
        """Return the columns of a subscription's `select` for an event, with notes on what is null; changes nothing.

        Args:
            event: An event, in any of the forms of `match`.
            id: Id of the subscription.
            at: Time of the match in µs since 1970. Default: as in `match`.
            score: Score of the match that the columns go with: an event that clears an alert does not match it.

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
            curve=by.probability_curve("conditions"),
        )

    def standings(self, id: str, limit: int = 100) -> list[AlertKeyState]:
        """Return the states of an alert's keys: those with a notification first, then the newest.

        Args:
            id: Id of the alert.
            limit: How many keys to return at most.

        Raises:
            StateError: The subscription is no alert.

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

    def explain(self, event: GivenEvent, id: str, at: int | None = None) -> Explanation:
        """Explain why an event matches a subscription, or why not; changes nothing.

        Args:
            event: An event, in any of the forms of `match`.
            id: Id of the subscription.
            at: Time of the match in µs since 1970. Default: as in `match`.

        Raises:
            UnknownId: No subscription has this id.
        """
        event = as_event(event)
        explained = self._state.explain(event, id, self._moment(event, at))
        if event.id in self._withdrawn and explained.verdict == "match":
            return ended(explained, "the event was withdrawn, so it meets nothing any more; publish it again")
        return explained

    def mappings(self, event: GivenEvent, id: str, k: int = 10) -> list[PredicateMapping]:
        """Return the k best mappings of a condition's predicates to the event's tuples, the best first.

        Args:
            event: An event, in any of the forms of `match`.
            id: Id of the subscription.
            k: How many mappings to return at most.

        Each mapping has its score, its probability among all mappings (P; among the best 100 or k if there are more
        than 10,000) and that of every correspondence in its predicate's row (P_σ). Mappings below the threshold are
        included; there are fewer than k if no others have a score above 0. Conditions of more than 50 predicates have
        one mapping, and an exact condition whose predicates share a tuple has none.

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

    # -- learning -------------------------------------------------------------------------------

    def feedback(self, event: GivenEvent, id: str, relevant: bool) -> Judgement:
        """Judge whether an event is what a subscription means; this moves the scores of the term pairs involved.

        Args:
            event: The event, in any of the forms of `match`.
            id: Id of the subscription.
            relevant: Whether the event is what the subscription means.

        Returns:
            The judgement; its `number` undoes it.
        """
        subscription = self._state.held[self._state.ordinal(id)]
        event = self.annotated(event)
        pairs = feedback_pairs(event, subscription, self.interpretation.measure)
        judgement = self.interpretation.feedback.judge(id, event.id or "", relevant, pairs)
        self._state.forget_relatedness(judged_by(judgement.pairs))
        return judgement

    def undo_feedback(self, number: int) -> None:
        """Undo a judgement.

        Args:
            number: Number of the judgement.

        Raises:
            UnknownId: No judgement has this number.
        """
        self._state.forget_relatedness(judged_by(self.interpretation.feedback.undo(number).pairs))

    # -- keeping --------------------------------------------------------------------------------

    def save(self, folder: str | Path, *, index: bool = True) -> None:
        """Save the matcher to a folder.

        Args:
            folder: Folder that is created or replaced.
            index: Whether the index of exact conditions is saved, so that loading builds nothing.
        """
        from likewise.matching.storage.folder import save

        save(self._state, Path(folder), indexed=index)

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *,
        space: Space | str | Path | None = None,
        measure: Measure | str | None = None,
        clock: Clock | None = None,
        cache_bytes: int = CACHE_BYTES,
        interpretation: Interpretation | None = None,
        profile: Profile = "full",
        engines: Mapping[Kind, Choice] | None = None,
        types: GivenTypes | None = None,
        annotations: GivenAnnotations | None = None,
    ) -> Matcher:
        """Load a saved matcher; it continues without repeating a delivery.

        A measure of the space is restored by itself; a measure of your own must be given again, and must be the same.
        With an `interpretation`, events in windows keep their scores and new events get those of the new one. Saved
        feedback is restored either way; saved annotations are rows and follow no file. A saved index is mapped into
        memory; an index that does not fit is built anew, with the warning `IndexRebuilt`.

        Args:
            folder: Folder of a saved matcher.
            space: Space of the saved matcher, if it was not found by name.
            measure: Measure of the saved matcher, if it was the user's own object.
            clock: Function that returns the time in µs since 1970. Default: the system clock.
            cache_bytes: Memory that each engine may use for computed relatedness.
            interpretation: Settings that replace the saved space, measure, threshold and lateness.
            profile: Set of engines: `full` or `small`.
            engines: Engines of single kinds, by name or as a class, that replace those of the profile.
            types: Type hierarchy that replaces the saved one.
            annotations: Annotations that replace the saved ones.

        Returns:
            The matcher.

        Raises:
            ArtefactMissing: The folder has no saved matcher.
            ArtefactDamaged: A file is altered, or another space is open.
            InputError: The measure is another one.
        """
        from likewise.matching.storage.folder import load

        matcher = cls(clock=clock, profile=profile, engines=engines)
        matcher._take(
            load(
                Path(folder),
                space=space,
                measure=measure,
                cache_bytes=cache_bytes,
                interpretation=interpretation,
                choice=matcher._state.choice,
                types=None if types is None else as_types(types),
                annotations=None if annotations is None else as_annotations(annotations),
            )
        )
        return matcher

    def alike(self, folder: Path | None = None) -> Matcher:
        """Return a matcher with the same interpretation, engines and clock.

        Args:
            folder: Folder of the saved matcher that it continues. Default: an empty matcher.
        """
        choice = self._state.choice
        make = Matcher if folder is None else partial(Matcher.load, folder)
        return make(
            interpretation=self.interpretation, profile=choice.profile, engines=choice.chosen, clock=self._clock
        )

    def snapshot(self) -> Snapshot:
        """Return an immutable view of the subscriptions, for other threads."""

        return Snapshot(self._state)
