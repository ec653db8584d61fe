"""`likewise.Matcher`: one door to all the engines (docs/interface.md).

The matcher deals out ordinals in the order of addition, routes each subscription to the engine that
serves its kind, ends subscriptions whose validity is over, and merges what the engines find back into
the order of addition. One thread owns a matcher; others use its `snapshot`.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from likewise.defaults import CACHE_BYTES, LATENESS, MAX_WITHDRAWN
from likewise.errors import InputError
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
from likewise.matching.engine import Addition, EngineBatchResult
from likewise.matching.explain.feedback_pairs import feedback_pairs
from likewise.matching.matcher_alerts import MatcherAlerts
from likewise.matching.matcher_queries import Clock
from likewise.matching.matcher_state import MatcherState
from likewise.matching.registry import Choice, EngineSelection, Profile
from likewise.matching.results import SubscriptionNumbering, merge, moments_of, slice_batch
from likewise.model import Event, Kind, Match, MatchBatch, Promotion
from likewise.model.matches.batch import ProbabilityCurves
from likewise.model.matches.sequence import NO_MATCHES, Matches
from likewise.model.probability import AS_SCORED
from likewise.semantics.feedback import Judgement, judged_by
from likewise.semantics.interpretation import Interpretation

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

    from likewise.formats.arrow.event_batch import EventBatch
    from likewise.matching.matcher_state import Snapshot
    from likewise.semantics.measure import Measure
    from likewise.semantics.space import Space


def system_clock() -> int:
    """The machine's time in microseconds UTC."""
    import time

    return time.time_ns() // 1_000


class Matcher(MatcherAlerts):
    """Subscriptions of every kind, matched against events.

    `space` and `measure` say how terms are related: a space or its name or folder, a measure or its name; the
    embedded space and the default measure unless said otherwise, opened when a relaxed part first needs them.
    `threshold` is the score from which on a relaxed subscription is met. `interpretation` stands for all of these at
    once, shared with another matcher. `clock` gives the time in µs UTC to events that state none. `cache_bytes`
    bounds what each engine keeps of computed relatedness. `lateness` (µs) is how far an event may lie behind the
    newest and still enter windows. `profile` chooses the engines, `full` or `small`, and `registry` another one for
    single kinds, by name or as a class (see `likewise.matching.registry`).

    >>> import likewise as lw
    >>> m = lw.Matcher()
    >>> m.add(lw.parse("{temp > 25 degC}", id="warm"))
    'warm'
    >>> m.match(lw.event({"temp": {"value": 81.2, "unit": "degF"}}, id="e1"))
    [Match(event_id='e1', subscription_id='warm', kind='exact', score=1, product=1, cause='arrival')]

    Parameters, all by name; without any, relaxed parts go by the space and the measure that ship with the package:

    - `space`: the space of meaning, one that was loaded, its name or its folder; opened when first needed
    - `measure`: how related two words are: a `Measure`, or text such as `"thematic"` or `"esa:metric=raw"`
    - `threshold`: the score a match needs, in [0, 1]; a subscription may say its own
    - `clock`: what gives the time in µs since 1970, for events that say none and for the ends of validity
    - `cache_bytes`: how much memory what is kept about words that were seen may take, for each engine that keeps it
    - `lateness`: how far (µs) an event's time may lie behind the newest and the event still enter windows
    - `interpretation`: all of these but `clock` in one, to share them with other matchers
    - `types`: declared hierarchies that `is-a` follows: a mapping of types to wider ones, or an RDF file of
      rdfs:subClassOf and skos:broader
    - `annotations`: what is known about sources, models, topics and attributes, laid over events before they are
      matched: a CSV file, which is read again when it changes, or rows as mappings (docs/guides/annotations.md)
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
        self._withdrawn = {}
        self._take(MatcherState(interpretation, EngineSelection(profile, engines)))
        self._state.annotating.check()

    def _take(self, state: MatcherState) -> None:
        self._state = state
        self._numbering = SubscriptionNumbering(state.held, state.ordinals)
        # The ends of validity as a heap; entries of removed ordinals are passed over.
        self._ending = [(end, ordinal) for ordinal, end in state.ends.items()]
        heapq.heapify(self._ending)

    # -- changing -------------------------------------------------------------------------------

    def add(self, subscription: GivenSubscription, at: int | None = None) -> str:
        """Hold a subscription from now (or `at`) on; its id. An id in use raises `DuplicateId`.

        Its text in the language, or a mapping with its text or structure, is taken, too.

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
        """`add` for each, in order, or none of them if one is refused; their ids. Quicker than one by one.

        `at` is one moment for all of them, or one for each. `numbers` are those that `MatchBatch.numbers` gives back,
        in place of the next ones: rising, and none as low as one that was dealt out.

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
        """Forget a subscription, wholly.

        Args:
            id: Id of the subscription.

        Raises:
            UnknownId: No subscription has this id.
        """
        self._state.remove(id)
        self._numbering.forget()

    def _end_validity(self, now: int) -> tuple[dict[int, str], list[tuple[int, Match]]]:
        """Forget the subscriptions whose validity is over by `now`; their ids by ordinal, and what was due before.

        Time stops at each end that an alert or a window has: what was due before it is sent, however far time jumps.
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
        """The matches of one event, in the order of addition; an event past its validity has none.

        A mapping or JSON is taken for an event, too. The answer is a sequence that makes a `Match` when it is looked
        at: what is counted and not read costs nothing. It never changes, whatever comes or goes later.

        Args:
            event: An `Event`, a mapping, or JSON.
            at: Time of the match in µs since 1970. Default: the event's time, else the matcher's clock.

        Returns:
            The matches, in the order in which the subscriptions were added. Each `Match` is created on access.

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
            return NO_MATCHES if over else self._state.matches(event, now)
        matches = [match for _, match in due]
        if not over:
            matches += self._state.matches(event, now)
        return Matches(len(matches), lambda start, stop: matches[start:stop])

    def match_batch(self, events: Sequence[GivenEvent] | EventBatch, at: Sequence[int] | None = None) -> MatchBatch:
        """What `match` finds one by one, as arrays; of each event its arrivals first, then who moved up in a window.

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
        return MatchBatch(event_index, index, score, ids, tuple(promoted), self._likelihoods(ids), numbers)

    def _end_during(self, moments: NDArray[int64], start: int, stop: int, ended: dict[int, str]) -> list[Promotion]:
        """End validity by the moments of some events; what was due before, with the event whose time shows it."""
        due: list[Promotion] = []
        if not self._ending or start == stop or int(moments[start:stop].max()) < self._ending[0][0]:
            return due
        for place in range(start, stop):
            over, hits = self._end_validity(int(moments[place]))
            ended |= over
            due += [Promotion(place, match, ordinal) for ordinal, match in hits]
        return due

    def _all_annotated(self, events: Sequence[Event]) -> Sequence[Event]:
        """Events as they are matched; the very same if annotations change none of them."""
        if not self._state.annotating.active:
            return events
        received = list(events)
        made = [self._state.annotating.annotate(event) for event in received]
        return made if any(a is not b for a, b in zip(made, received, strict=True)) else events

    def _likelihoods(self, ids: Sequence[str]) -> ProbabilityCurves:
        """What makes the scores of a batch probabilities."""
        engines = self._state.engines
        curves = [getattr(engines.get(kind), "curve", AS_SCORED) for kind in ("approximate", "top", "statements")]
        conditions = curves[0] if "approximate" in engines else curves[1]
        if "statements" not in engines:
            return ProbabilityCurves(conditions)
        stated = {s.id for s in self._state.held.values() if s.kind == "statements"}
        return ProbabilityCurves(conditions, curves[2], tuple(place for place, id in enumerate(ids) if id in stated))

    def advance(self, now: int) -> list[Match]:
        """Let time pass up to `now`: validity ends, windows move; the promotions this causes.

        Args:
            now: The new time in µs since 1970.

        Returns:
            The promotions into windows that the passed time causes.
        """
        times = [match for _, match in self._end_validity(now)[1]]
        return times + [match for engine in self._state.engines.values() for _, match in engine.advance(now)]

    def shift(self, by: int) -> None:
        """Let everything in the windows count as so many µs later (earlier if negative), as after a clock was set.

        What was delivered stays so, and what is in a window stays as old as it was. Validities do not move.

        >>> import likewise as lw
        >>> m = Matcher()
        >>> _ = m.add(lw.parse("{x > 0} top 1 within 1 min by value(x)", id="low"), at=0)
        >>> [len(m.match(lw.event({"x": 5}), at=3_600_000_000)), m.shift(-3_600_000_000)]
        [1, None]
        >>> [match.rank_value for match in m.match(lw.event({"x": 4}), at=1_000_000)]
        [4.0]
        """
        for engine in self._state.engines.values():
            engine.shift(by)

    def holds_for_long(self, event_id: str) -> bool:
        """Whether an event is in a window of the last n events, or in one without an end: time does not take it out."""
        return any(engine.holds_for_long(event_id) for engine in self._state.engines.values())

    def withdraw(self, event_id: str) -> list[Match]:
        """Take an event back; the promotions this causes.

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

    # -- learning -------------------------------------------------------------------------------

    def feedback(self, event: GivenEvent, id: str, relevant: bool) -> Judgement:
        """Say whether an event was what a subscription meant; moves the scores of the term pairs involved.

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
        self.forget_relatedness(judged_by(judgement.pairs))
        return judgement

    def undo_feedback(self, number: int) -> None:
        """Take a judgement back, by its number.

        Args:
            number: Number of the judgement.

        Raises:
            UnknownId: No judgement has this number.
        """
        self.forget_relatedness(judged_by(self.interpretation.feedback.undo(number).pairs))

    def forget_relatedness(self, of: Callable[[str], bool]) -> None:
        """Drop what is kept about the seen texts that `of` names; for matchers that share one feedback."""
        for engine in self._state.engines.values():
            engine.forget_relatedness(of)
        self._state.annotating.forget_relatedness(of)

    # -- keeping --------------------------------------------------------------------------------

    def save(self, folder: str | Path, *, index: bool = True) -> None:
        """Write everything to a folder, replacing what was saved there before.

        With `index`, what was built of exact conditions is kept beside them, so that loading builds nothing.

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
        """A matcher as it was saved; it goes on without repeating a delivery.

        A measure of the space comes back by itself; one of your own must be given again, and must be the same.
        An `interpretation` stands in place of the saved space, measure, threshold and lateness: what windows hold
        keeps the score it had, what comes is judged by the new one. Saved feedback is taken up either way.
        `types` and `annotations` stand in place of the saved ones; saved annotations are rows and follow no file.
        A saved index is memory-mapped and subscriptions are read when they are looked at; an index that does not fit
        is built anew, with the warning `IndexRebuilt`.

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
            The matcher, which continues without repeating a delivery.

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

    def alike(self) -> Matcher:
        """An empty matcher with the same interpretation, engines and clock."""
        choice = self._state.choice
        return Matcher(
            interpretation=self.interpretation, profile=choice.profile, engines=choice.chosen, clock=self._clock
        )

    def alike_from(self, folder: Path) -> Matcher:
        """A matcher as it was saved in a folder, with the interpretation, engines and clock of this one."""
        choice = self._state.choice
        return Matcher.load(
            folder,
            clock=self._clock,
            interpretation=self.interpretation,
            profile=choice.profile,
            engines=choice.chosen,
        )

    def snapshot(self) -> Snapshot:
        """What the matcher holds now, unchanging, for other threads."""
        from likewise.matching.matcher_state import Snapshot

        return Snapshot(self._state)
