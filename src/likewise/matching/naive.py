"""The oracle: the plain and obviously right evaluation of every kind of subscription.

Every subscription is looked at for every event. Relatedness comes through the `Measure` seam, mappings
are enumerated, windows are recomputed. Faster engines are compared with this one by
`likewise.testing.check_engine`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, get_args

from likewise.defaults import HYBRID_M, LATENESS, THRESHOLD
from likewise.errors import NotServed, UnknownId
from likewise.matching.conditions import Met, PlainCondition, evaluate, plain_condition, rows_of
from likewise.matching.engine import BaseEngine, Found, FoundBatch
from likewise.matching.explain import explain
from likewise.matching.graph_naive import search, solutions
from likewise.matching.interest_naive import agrees
from likewise.matching.mappings import describe
from likewise.matching.relaxed import SeenEvent
from likewise.matching.scoring import rank_value
from likewise.matching.statements import SeenStatements, relevance
from likewise.matching.windows_naive import PlainWindow, Publication, Standing, Trace
from likewise.model.event import Event
from likewise.model.explanation import Explanation
from likewise.model.mapping import Mapping
from likewise.model.match import Bindings, Match, Promotion
from likewise.model.subscription import GraphPattern, Interest, Kind, Statements, Subscription

if TYPE_CHECKING:
    from likewise.semantics.measure import Measure, Term

Hits = list[tuple[int, Match]]


class NaiveEngine(BaseEngine):
    """Holds subscriptions of every kind and evaluates each one plainly.

    `measure` relates relaxed parts (without one, just equal terms are related). Statements need `jcn` and
    `esa`. `lateness` (µs) is how far an event's own time may lie behind the engine's and still enter
    windows; `refused_late` counts those that lay further back. The engine's time is the latest moment
    it was given and never runs backwards.

    >>> from likewise.model import Condition, Predicate, event
    >>> engine = NaiveEngine()
    >>> engine.add(0, Subscription(Condition((Predicate("t", ">", 25.0),)), id="warm"), at=0)
    >>> engine.match(event({"t": 26}, id="e1"), at=1)
    [(0, Match(event_id='e1', subscription_id='warm', kind='exact', score=1, product=1, cause='arrival'))]
    """

    kinds: ClassVar[frozenset[Kind]] = frozenset(get_args(Kind))

    def __init__(
        self,
        measure: Measure | None = None,
        *,
        jcn: Measure | None = None,
        esa: Measure | None = None,
        m: int = HYBRID_M,
        threshold: float | None = None,
        lateness: int = LATENESS,
    ) -> None:
        super().__init__()
        self.measure, self.jcn, self.esa, self.m = measure, jcn, esa, m
        self.threshold = THRESHOLD if threshold is None else threshold
        self.lateness = lateness
        self.now: int | None = None
        self.refused_late = 0
        self._arrivals = 0
        self._conditions: dict[int, PlainCondition] = {}
        self._windows: dict[int, tuple[PlainCondition, PlainWindow]] = {}
        self._others: dict[int, Subscription] = {}  # statements, patterns, interest vectors
        self._terms: tuple[Term, ...] | None = None

    # -- holding --------------------------------------------------------------------------------

    def serves(self, subscription: Subscription) -> bool:
        """Every kind; statements only with both their measures at hand."""
        return subscription.kind != "statements" or (self.jcn is not None and self.esa is not None)

    def add(self, ordinal: int, subscription: Subscription, at: int) -> None:
        """Hold a subscription; a window starts empty."""
        if not self.serves(subscription):
            raise NotServed("statements need the measures jcn and esa; give both to the engine")
        self.admit(ordinal, subscription)
        self._terms = None
        match subscription.kind:
            case "exact" | "approximate":
                self._conditions[ordinal] = plain_condition(subscription)
            case "top":
                assert subscription.top is not None
                self._windows[ordinal] = plain_condition(subscription), PlainWindow(subscription.top)
            case _:
                self._others[ordinal] = subscription

    def remove(self, ordinal: int) -> None:
        """Forget a subscription and its window."""
        self.dismiss(ordinal)
        self._terms = None
        for held in (self._conditions, self._windows, self._others):
            held.pop(ordinal, None)

    def _threshold(self, ordinal: int) -> float:
        own = self.subscriptions[ordinal].threshold
        return self.threshold if own is None else own

    # -- finding --------------------------------------------------------------------------------

    def find(self, event: Event, at: int) -> Found:
        """What the event meets on arrival. Promotions it causes in windows are told by `match` and `match_batch`."""
        return _as_arrays(self._arrive(event, at)[0])

    def match(self, event: Event, at: int) -> Hits:
        """What the event meets on arrival, and what it promotes, ordered by ordinal."""
        arrived, promoted = self._arrive(event, at, describing=True)
        return sorted(arrived + promoted, key=lambda hit: (hit[0], hit[1].cause != "arrival"))

    def match_batch(self, events: Sequence[Event], at: Sequence[int]) -> FoundBatch:
        """`match` for each event in turn, as arrays."""
        import numpy as np

        founds, promotions = [], []
        for index, (event, when) in enumerate(zip(events, at, strict=True)):
            arrived, promoted = self._arrive(event, when)
            founds.append(_as_arrays(arrived))
            promoted.sort(key=lambda hit: hit[0])
            promotions += [Promotion(index, match) for _, match in promoted]
        counts = [len(found.ordinals) for found in founds]
        return FoundBatch(
            np.repeat(np.arange(len(founds), dtype=np.int64), counts),
            np.concatenate([found.ordinals for found in founds] or [np.empty(0, np.int64)]),
            np.concatenate([found.scores for found in founds] or [np.empty(0, np.float32)]),
            tuple(promotions),
        )

    def _arrive(self, event: Event, at: int, *, describing: bool = False) -> tuple[Hits, Hits]:
        """Arrivals and promotions; mappings and bindings only if the match is described."""
        seen = SeenEvent(event, self.measure)
        if self._terms is None:
            held = [*self._conditions.values(), *(condition for condition, _ in self._windows.values())]
            self._terms = tuple(dict.fromkeys(term for condition in held for term in condition.terms))
        if self._terms:
            seen.relate(self._terms)
        arrived: Hits = []
        for ordinal, condition in self._conditions.items():
            met = evaluate(condition, seen, self._threshold(ordinal))
            if met is not None:
                subscription = self.subscriptions[ordinal]
                trace = _trace(condition, seen, met) if describing and subscription.kind == "approximate" else None
                match = Match(event.id, subscription.id, subscription.kind, met.score, met.product, trace)
                arrived.append((ordinal, match))
        arrived += self._meet_others(event, describing)
        promoted = self.advance(at)
        if self._windows:
            windowed, further = self._enter_windows(event, seen, at)
            arrived += windowed
            promoted += further
        arrived.sort(key=lambda hit: hit[0])
        return arrived, promoted

    def _meet_others(self, event: Event, describing: bool) -> Hits:
        found: Hits = []
        statements: SeenStatements | None = None
        for ordinal, subscription in self._others.items():
            score, body = 1.0, subscription.body
            bindings: Bindings = ()
            if isinstance(body, Interest):
                met = agrees(body.vector, event.interest())
            elif isinstance(body, GraphPattern):
                bindings = solutions(body, event.graph) if describing else ()
                met = bool(bindings) if describing else any(True for _ in search(body.patterns, event.graph))
            else:
                assert isinstance(body, Statements)
                if statements is None:
                    statements = SeenStatements(event, self.jcn, self.esa)
                score = relevance(statements.answers(body, self.m))
                met = score >= self._threshold(ordinal)
            if met:
                match = Match(event.id, subscription.id, subscription.kind, score, score, None, bindings)
                found.append((ordinal, match))
        return found

    # -- windows --------------------------------------------------------------------------------

    def _enter_windows(self, event: Event, seen: SeenEvent, at: int) -> tuple[Hits, Hits]:
        arrived: Hits = []
        promoted: Hits = []
        assert self.now is not None
        if event.time is not None and event.time < self.now - self.lateness:
            self.refused_late += 1
            return arrived, promoted
        sequence, self._arrivals = self._arrivals, self._arrivals + 1
        for ordinal, (condition, window) in self._windows.items():
            met = evaluate(condition, seen, self._threshold(ordinal))
            if met is None:
                continue
            publication = _publication(event, met, window, sequence, at)
            window.insert(publication, _trace(condition, seen, met) if condition.terms else None)
            for hit in self._deliver(ordinal, window, self.now, sequence):
                (arrived if hit[1].cause == "arrival" else promoted).append(hit)
        return arrived, promoted

    def _deliver(self, ordinal: int, window: PlainWindow, now: int, arriving: int | None = None) -> Hits:
        subscription = self.subscriptions[ordinal]
        traces = window.traces
        return [
            (ordinal, Match(
                p.event_id, subscription.id, "top", p.score, p.product, traces.get(p.sequence), (), p.rank_value,
                "arrival" if p.sequence == arriving else "promoted",
            ))
            for p in window.deliver(now)
        ]  # fmt: skip

    def advance(self, now: int) -> Hits:
        """Let time pass, one expiry after the other, as if in small steps; ordered by moment, then ordinal."""
        promoted: Hits = []
        if self.now is not None and now <= self.now:
            return promoted
        due = [(moment, ordinal) for ordinal, (_, window) in self._windows.items() for moment in window.expiries(now)]
        for moment, ordinal in sorted(due):
            promoted += self._deliver(ordinal, self._windows[ordinal][1], moment)
        self.now = now
        return promoted

    def withdraw(self, event_id: str) -> Hits:
        """Take an event out of every window; ordered by ordinal."""
        promoted: Hits = []
        for ordinal, (_, window) in sorted(self._windows.items()):
            if window.withdraw(event_id) and self.now is not None:
                promoted += self._deliver(ordinal, window, self.now)
        return promoted

    # -- explaining and keeping -----------------------------------------------------------------

    def explain(self, event: Event, ordinal: int, at: int) -> Explanation:
        """Why the event does or does not meet the subscription, by the functions that match."""
        subscription = self.subscriptions.get(ordinal)
        if subscription is None:
            raise UnknownId(str(ordinal))
        return explain(
            event, subscription, measure=self.measure, jcn=self.jcn, esa=self.esa, m=self.m,
            threshold=self.threshold, at=at, standing=self._standing(event, ordinal, at),
        )  # fmt: skip

    def _standing(self, event: Event, ordinal: int, at: int) -> Standing | None:
        """Where the event stands in the subscription's window, or would stand if it came now."""
        if ordinal not in self._windows:
            return None
        condition, window = self._windows[ordinal]
        now = at if self.now is None else max(self.now, at)
        if event.id is not None:
            held = [p for p in window.publications if p.event_id == event.id and not p.withdrawn]
            if held:
                return None if held[-1].rank_value is None else window.standing(held[-1], now)
        met = evaluate(condition, SeenEvent(event, self.measure), self._threshold(ordinal))
        if met is None:
            return None
        if event.time is not None and event.time < now - self.lateness:
            return Standing(None, None, expired=True)
        publication = _publication(event, met, window, self._arrivals, at)
        return None if publication.rank_value is None else window.standing(publication, now)

    def save(self, folder: Path) -> None:
        """Write the windows."""
        from likewise.matching.window_files import SavedWindows, write_windows

        windows = {ordinal: window.publications for ordinal, (_, window) in self._windows.items()}
        write_windows(folder, SavedWindows(self.now, self._arrivals, windows))

    def load(self, folder: Path) -> None:
        """Read the windows back; mappings of what was published before are not kept."""
        from likewise.matching.window_files import read_windows

        saved = read_windows(folder)
        self.now, self._arrivals = saved.now, saved.arrivals
        for ordinal, publications in saved.windows.items():
            if ordinal not in self._windows:
                raise UnknownId(str(ordinal))
            self._windows[ordinal][1].publications = publications


def _publication(event: Event, met: Met, window: PlainWindow, sequence: int, at: int) -> Publication:
    time = at if event.time is None else event.time
    value = rank_value(window.top.by, event, met.score)
    return Publication(sequence, time, event.id, value, met.score, met.product)


def _trace(condition: PlainCondition, seen: SeenEvent, met: Met) -> Trace:
    def best() -> Mapping | None:
        conjunction = condition.conjunctions[met.conjunction]
        if conjunction.relaxed_parts == 0:  # predicates may share a tuple: there is no mapping
            return None
        rows = rows_of(conjunction, seen, condition.theme)
        found = describe(rows, conjunction.relaxed_parts, 1, met.conjunction)
        return found[0] if found else None

    return best


def _as_arrays(hits: Hits) -> Found:
    import numpy as np

    ordinals = np.array([ordinal for ordinal, _ in hits], np.int64)
    return Found(ordinals, np.array([match.score for _, match in hits], np.float32))
