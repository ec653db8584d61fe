"""The oracle: the plain and obviously right evaluation of every kind of subscription.

Every subscription is looked at for every event. Relatedness comes through the `Measure` seam, mappings
are enumerated, windows are recomputed. Faster engines are compared with this one by
`likewise.testing.check_engine`.

All windows of the plain engine, moved step by step: arrivals, the passing of time, withdrawals.

Time is the latest moment the engine was given and never runs backwards. When it moves, expiries are
taken one after the other, so that a long step delivers what many short ones would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, get_args

import msgspec

from likewise.defaults import ALERT_STALE, HYBRID_M, LATENESS, THRESHOLD
from likewise.errors import ArtefactDamaged, ArtefactMissing, ArtefactVersion, UnknownId, UnsupportedSubscription
from likewise.matching.engine import BaseEngine, EngineBatchResult, EngineResult, TopKEntry, batch_result, result_of
from likewise.matching.explain.alerts import AlertKeyStatus, standing_of, with_alert_status
from likewise.matching.explain.explain import explain
from likewise.matching.oracle.alerts import OracleAlerts
from likewise.matching.reference.alerts.state import run_of
from likewise.matching.reference.conditions import (
    ConditionMatch,
    PreparedCondition,
    evaluate,
    prepare_condition,
    rows_of,
)
from likewise.matching.reference.event_view import EventView
from likewise.matching.reference.graphs import search, solutions
from likewise.matching.reference.interests import agrees
from likewise.matching.reference.lateness import is_late
from likewise.matching.reference.locality import Locality
from likewise.matching.reference.mappings import describe
from likewise.matching.reference.match_threshold import MatchThreshold
from likewise.matching.reference.scoring import rank_value
from likewise.matching.reference.statements import EventStatements, meet_statements, relevance
from likewise.matching.reference.triple_distance import TripleDistances, meet_near, score_of, solutions_of
from likewise.matching.reference.window import Publication, ReferenceWindow, Trace, WindowPosition
from likewise.model.alerts.notification import Key, Why
from likewise.model.event import Event
from likewise.model.explanation import Explanation
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.model.mapping import Mapping
from likewise.model.match import Bindings, Match
from likewise.model.matches.batch import Promotion
from likewise.model.probability import AS_SCORED, ProbabilityCurve
from likewise.model.subscription import (
    Condition,
    GraphPattern,
    Interest,
    Kind,
    NearbyTriple,
    Statements,
    Subscription,
    Top,
)

if TYPE_CHECKING:
    from likewise.semantics.measure import Measure, Term

Hits = list[tuple[int, Match]]

FILE = "windows.json"
VERSION = 2


class OracleWindows:
    """The windows of every top-k subscription, by ordinal; `refused_late` counts events that came too late."""

    def __init__(self, lateness: int, curve: ProbabilityCurve = AS_SCORED) -> None:
        self._curve = curve
        self.lateness = lateness
        self.now: int | None = None
        self.refused_late = 0
        self._arrivals = 0
        self._windows: dict[int, ReferenceWindow] = {}
        self._ids: dict[int, str] = {}

    def open(self, ordinal: int, subscription: Subscription, top: Top) -> None:
        """Start an empty window."""
        self._windows[ordinal] = ReferenceWindow(top)
        self._ids[ordinal] = subscription.id

    def close(self, ordinal: int) -> None:
        """Forget a window, if there is one."""
        self._windows.pop(ordinal, None)
        self._ids.pop(ordinal, None)

    def enter(
        self, event: Event, at: int, met_conditions: list[tuple[int, ConditionMatch, Trace | None]]
    ) -> tuple[Hits, Hits]:
        """An event arrives that met these subscriptions' conditions, `at` being no later than `now`.

        What it meets on arrival, and what it promotes. An event whose own time lies further back than
        the lateness takes part in no window.
        """
        arrived: Hits = []
        promoted: Hits = []
        assert self.now is not None
        if is_late(event.time, self.now, self.lateness):
            self.refused_late += 1
            return arrived, promoted
        sequence, self._arrivals = self._arrivals, self._arrivals + 1
        for ordinal, how, trace in met_conditions:
            window = self._windows[ordinal]
            window.insert(_publication(event, how, window.top, sequence, at, self.now), trace)
            for hit in self._deliver(ordinal, self.now, sequence):
                (arrived if hit[1].cause == "arrival" else promoted).append(hit)
        return arrived, promoted

    def _deliver(self, ordinal: int, now: int, arriving: int | None = None) -> Hits:
        window, id = self._windows[ordinal], self._ids[ordinal]
        traces = dict(window.traces)
        return [
            (
                ordinal,
                Match(
                    p.event_id,
                    id,
                    "top",
                    p.score,
                    p.product,
                    traces.get(p.sequence),
                    (),
                    p.rank_value,
                    "arrival" if p.sequence == arriving else "promoted",
                    self._curve,
                ),
            )
            for p in window.deliver(now)
        ]

    def advance(self, now: int) -> Hits:
        """Let time pass; the promotions this causes, ordered by moment, then ordinal."""
        promoted: Hits = []
        if self.now is not None and now <= self.now:
            return promoted
        due = [(moment, ordinal) for ordinal, window in self._windows.items() for moment in window.expiries(now)]
        for moment, ordinal in sorted(due):
            promoted += self._deliver(ordinal, moment)
        self.now = now
        return promoted

    def shift(self, by: int) -> None:
        """Let time, and every publication, count as so many µs later."""
        if self.now is not None:
            self.now += by
        for window in self._windows.values():
            for publication in window.publications:
                publication.time += by

    def holds_for_long(self, event_id: str) -> bool:
        """Return whether an event is in a window that no passing of time takes it out of."""
        return any(
            p.event_id == event_id and not p.withdrawn
            for window in self._windows.values()
            if window.top.duration is None
            for p in window.publications
        )

    def withdraw(self, event_id: str) -> Hits:
        """Take an event out of every window; the promotions this causes, ordered by ordinal."""
        promoted: Hits = []
        for ordinal, window in sorted(self._windows.items()):
            if window.withdraw(event_id) and self.now is not None:
                promoted += self._deliver(ordinal, self.now)
        return promoted

    def position(self, event: Event, ordinal: int, at: int, result: ConditionMatch | None) -> WindowPosition | None:
        """Where the event stands in a window, or would stand if it came now; None if it is no candidate."""
        window = self._windows[ordinal]
        now = at if self.now is None else max(self.now, at)
        if event.id is not None:
            in_window = [p for p in window.publications if p.event_id == event.id and not p.withdrawn]
            if in_window:
                return None if in_window[-1].rank_value is None else window.position(in_window[-1], now)
        if result is None:
            return None
        if is_late(event.time, now, self.lateness):
            return WindowPosition(None, None, expired=True)
        publication = _publication(event, result, window.top, self._arrivals, at, now)
        return None if publication.rank_value is None else window.position(publication, now)

    def board(self, ordinal: int) -> list[TopKEntry]:
        """The k best of a window now, best first."""
        window = self._windows[ordinal]
        best = [] if self.now is None else window.candidates(self.now)[: window.top.k]
        return [
            TopKEntry(rank, p.event_id, p.rank_value, p.time)
            for rank, p in enumerate(best, 1)
            if p.rank_value is not None
        ]

    def save(self, folder: Path) -> None:
        """Write every window to a folder."""
        in_window = {ordinal: window.publications for ordinal, window in self._windows.items()}
        saved = _SavedWindows(VERSION, self.now, self._arrivals, in_window)
        (folder / FILE).write_bytes(msgspec.json.encode(saved))

    def load(self, folder: Path) -> None:
        """Fill the windows from a folder; mappings of earlier events are not saved.

        Raises:
            ArtefactError: The file is missing, damaged, or of another version.
            UnknownId: A saved window belongs to no subscription of this engine.
        """
        path = folder / FILE
        try:
            saved = msgspec.json.decode(path.read_bytes(), type=_SavedWindows)
        except FileNotFoundError:
            raise ArtefactMissing(f"the saved windows {path} are missing; restore a copy of the folder") from None
        except (OSError, UnicodeDecodeError, msgspec.MsgspecError) as error:
            raise ArtefactDamaged(f"{path} cannot be read ({error}); restore a copy of the folder") from None
        if saved.v != VERSION:
            raise ArtefactVersion(f"{path} is in version {saved.v}; this one reads version {VERSION}")
        unknown = saved.windows.keys() - self._windows.keys()
        if unknown:
            raise UnknownId(str(min(unknown)))
        self.now, self._arrivals = saved.now, saved.arrivals
        for ordinal, publications in saved.windows.items():
            self._windows[ordinal].publications = publications


def _publication(event: Event, result: ConditionMatch, top: Top, sequence: int, at: int, now: int) -> Publication:
    time = min(now, at if event.time is None else event.time)  # a clock that is ahead holds no place for longer
    return Publication(sequence, time, event.id, rank_value(top.by, event, result.ranked), result.score, result.product)


class OracleEngine(BaseEngine):
    """Holds subscriptions of every kind and evaluates each one plainly.

    `measure` relates relaxed parts (without one, just equal terms are related). Statements need `jcn` and
    `esa`, or `sameness` (the measure itself without one), near triples by meaning need `meaning`, which makes vectors.

    `lateness` (µs) is how far an event's own time may lie behind the engine's and still enter
    windows; `refused_late` counts those that lay further back. The engine's time is the latest moment
    it was given and never runs backwards.

    >>> from likewise.model import Condition, Predicate, event
    >>> engine = OracleEngine()
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
        sameness: Measure | None = None,
        background: Measure | None = None,
        m: int = HYBRID_M,
        threshold: float | None = None,
        lateness: int = LATENESS,
        meaning: Callable[[], Locality] | None = None,
        curve: ProbabilityCurve = AS_SCORED,
        types: Hierarchy = NO_TYPES,
        stale: int = ALERT_STALE,
    ) -> None:
        super().__init__()
        self.types = types
        self._nearness = TripleDistances(meaning)
        self.curve = curve
        self.measure, self.jcn, self.esa, self.m = measure, jcn, esa, m
        self.sameness = measure if sameness is None else sameness
        self.background = esa if background is None else background
        self.threshold = THRESHOLD if threshold is None else threshold
        self._windows = OracleWindows(lateness, curve)
        self.alerts = OracleAlerts(lateness, curve, stale=stale)
        self._conditions: dict[int, PreparedCondition] = {}
        self._windowed: dict[int, PreparedCondition] = {}
        self._ranked: dict[int, Subscription] = {}  # statements and near triples whose k best count
        self._others: dict[int, Subscription] = {}  # statements, patterns, interest vectors
        self._terms: tuple[Term, ...] | None = None

    # -- holding --------------------------------------------------------------------------------

    def serves(self, subscription: Subscription) -> bool:
        """Every kind; statements only with their measures at hand, what is near by meaning only with vectors."""
        if isinstance(subscription.body, NearbyTriple):
            return self._nearness.serves(subscription)
        if not isinstance(subscription.body, Statements):
            return True
        if subscription.using == "sameness":
            return self.sameness is not None
        return self.jcn is not None and self.esa is not None

    def add(self, ordinal: int, subscription: Subscription, at: int) -> None:
        """Hold a subscription; a window starts empty."""
        if not self.serves(subscription):
            raise UnsupportedSubscription(
                "statements need the measures jcn and esa, or sameness, and what is near by meaning vectors; give "
                "them to the engine"
            )
        self.register(ordinal, subscription)
        self._terms = None
        match subscription.kind:
            case "exact" | "approximate":
                self._conditions[ordinal] = prepare_condition(subscription)
            case "top":
                assert subscription.top is not None
                if isinstance(subscription.body, Condition):
                    self._windowed[ordinal] = prepare_condition(subscription)
                else:
                    self._ranked[ordinal] = subscription
                self._windows.open(ordinal, subscription, subscription.top)
            case "alert":
                self.alerts.open(ordinal, subscription, self._threshold(ordinal))
            case _:
                self._others[ordinal] = subscription

    def remove(self, ordinal: int) -> None:
        """Forget a subscription and its window."""
        self.unregister(ordinal)
        self._terms = None
        self._conditions.pop(ordinal, None)
        self._windowed.pop(ordinal, None)
        self._ranked.pop(ordinal, None)
        self._others.pop(ordinal, None)
        self._windows.close(ordinal)
        self.alerts.close(ordinal)

    def _threshold(self, ordinal: int) -> float:
        threshold = self.subscriptions[ordinal].threshold
        return self.threshold if threshold is None else threshold

    def _needed(self, ordinal: int) -> MatchThreshold:
        return MatchThreshold.of(self.subscriptions[ordinal], self._threshold(ordinal), self.curve)

    def _named(self, name: str) -> Measure:
        measure = {"jcn": self.jcn, "esa": self.esa, "sameness": self.sameness, "background": self.background}[name]
        if measure is None:
            raise UnsupportedSubscription(f"the measure {name} is needed; give it to the engine")
        return measure

    def outage(self, by: int, until: int | None = None) -> None:
        """Nothing could be heard for so long (µs), until a moment."""
        self.alerts.outage(by, until)

    def unsend(self, ordinal: int, key: Key, event_id: str) -> None:
        """Let the last alarm of a key, naming an event, be one that was never sent: it is deferred if it stands."""
        self.alerts.unsend(ordinal, key, event_id)

    def postpone_expiry(self, by: int) -> None:
        """Let a time (µs) in which nothing came at all bring no key nearer to being forgotten."""
        self.alerts.postpone_expiry(by)

    def suspend_absence(self, sources: Iterable[str], why: Why, at: int) -> None:
        """From now on the silence of some sources means nothing."""
        self.alerts.suspend_absence(sources, why, at)

    def resume_absence(self, sources: Iterable[str], why: Why, at: int) -> None:
        """It counts again."""
        self.alerts.resume_absence(sources, why, at)

    def suspended_sources(self, why: Why) -> set[str]:
        """The sources whose silence means nothing."""
        return self.alerts.suspended_sources(why)

    def is_expected(self, ordinal: int, key: Key) -> bool:
        """Return whether a key of an alert is waited for."""
        return self.alerts.is_expected(ordinal, key)

    def expect(self, ordinal: int, key: Key, source: str, event_id: str | None, at: int) -> None:
        """Something is to come from a key, though nothing held yet."""
        self.alerts.expect(ordinal, key, source, event_id, at)

    def unexpect(self, ordinal: int, key: Key, event_id: str) -> None:
        """It is not to come any more."""
        self.alerts.unexpect(ordinal, key, event_id)

    def rename_source(self, before: str, after: str | None) -> None:
        """Let what is known of a source count for another from now on, or (None) for nobody."""
        self.alerts.rename_source(before, after)

    def rename(self, before: str, after: str) -> None:
        """Return what is expected was said anew."""
        self.alerts.rename(before, after)

    @property
    def keyless(self) -> int:
        """Return how many events lacked an attribute of an alert's `per`."""
        return self.alerts.keyless

    @property
    def refused_late(self) -> int:
        """Return how many events came too late for any window, or for an alert."""
        return self._windows.refused_late + self.alerts.refused_late

    # -- finding --------------------------------------------------------------------------------

    def find(self, event: Event, at: int) -> EngineResult:
        """Return the matches on arrival; `match` and `match_batch` also return promotions in windows."""
        return result_of(self._arrive(event, at)[0])

    def match(self, event: Event, at: int) -> Hits:
        """Return what the event meets on arrival, and what it promotes, ordered by ordinal."""
        arrived, promoted = self._arrive(event, at, describing=True)
        return sorted(arrived + promoted, key=lambda hit: (hit[0], hit[1].kind == "top" and hit[1].cause != "arrival"))

    def match_batch(self, events: Sequence[Event], at: Sequence[int]) -> EngineBatchResult:
        """`match` for each event in turn, as arrays."""
        founds, promotions = [], []
        for index, (event, when) in enumerate(zip(events, at, strict=True)):
            arrived, promoted = self._arrive(event, when)
            founds.append(result_of(arrived))
            promoted.sort(key=lambda hit: hit[0])
            promotions += [Promotion(index, match, ordinal) for ordinal, match in promoted]
        return batch_result(founds, promotions)

    def _arrive(self, event: Event, at: int, *, describing: bool = False) -> tuple[Hits, Hits]:
        """Arrivals and promotions; mappings and bindings only if the match is described."""
        view = EventView(event, self.measure, self.types)
        if self._terms is None:
            conditions = [*self._conditions.values(), *self._windowed.values()]
            self._terms = tuple(dict.fromkeys(term for condition in conditions for term in condition.terms))
        if self._terms:
            view.relate(self._terms)
        arrived: Hits = []
        for ordinal, condition in self._conditions.items():
            needed = self._needed(ordinal)
            result = evaluate(condition, view, needed)
            if result is not None:
                subscription = self.subscriptions[ordinal]
                trace = (
                    _trace(condition, view, result, needed.part)
                    if describing and subscription.kind == "approximate"
                    else None
                )
                match = Match(
                    event.id,
                    subscription.id,
                    subscription.kind,
                    result.score,
                    result.product,
                    trace,
                    likelihood=self.curve,
                )
                arrived.append((ordinal, match))
        arrived += self._meet_others(event, describing)
        promoted = self.advance(at)
        if self._windowed or self._ranked:
            windowed, further = self._windows.enter(event, at, self._candidacies(event, view))
            arrived += windowed
            promoted += further
        if len(self.alerts):
            promoted += self.alerts.enter(event, at, view)
        arrived.sort(key=lambda hit: hit[0])
        return arrived, promoted

    def _candidacies(self, event: Event, view: EventView) -> list[tuple[int, ConditionMatch, Trace | None]]:
        """The top-k subscriptions whose condition, statements or near triple the event meets."""
        candidates: list[tuple[int, ConditionMatch, Trace | None]] = []
        for ordinal, condition in self._windowed.items():
            needed = self._needed(ordinal)
            result = evaluate(condition, view, needed)
            if result is not None:
                candidates.append(
                    (ordinal, result, _trace(condition, view, result, needed.part) if condition.terms else None)
                )
        for ordinal, subscription in self._ranked.items():
            if (result := self._meet_ranked(event, ordinal, subscription)) is not None:
                candidates.append((ordinal, result, None))
        return sorted(candidates, key=lambda candidate: candidate[0])

    def _meet_ranked(self, event: Event, ordinal: int, subscription: Subscription) -> ConditionMatch | None:
        body = subscription.body
        if isinstance(body, NearbyTriple):
            return meet_near(body, subscription.threshold, self._nearness, event)
        assert isinstance(body, Statements)
        way = subscription.using or "hybrid", subscription.best or self.m
        return meet_statements(body, way, self._needed(ordinal), EventStatements(event, self._named))

    def _meet_others(self, event: Event, describing: bool) -> Hits:
        hits: Hits = []
        statements: EventStatements | None = None
        for ordinal, subscription in self._others.items():
            score, body = 1.0, subscription.body
            bindings: Bindings = ()
            if isinstance(body, Interest):
                is_match = agrees(body.vector, event.interest())
            elif isinstance(body, NearbyTriple):
                near = self._nearness.within(body, subscription.threshold, event.graph)
                is_match, score = bool(near), max(map(score_of, near), default=0.0)
                bindings = solutions_of(body, event.graph, near) if describing else ()
            elif isinstance(body, GraphPattern):
                bindings = solutions(body, event.graph) if describing else ()
                is_match = bool(bindings) if describing else any(True for _ in search(body.patterns, event.graph))
            else:
                assert isinstance(body, Statements)
                if statements is None:
                    statements = EventStatements(event, self._named)
                using, m = subscription.using or "hybrid", subscription.best or self.m
                score = relevance(statements.answers(body, m, using))
                is_match = score >= self._needed(ordinal).score
            if is_match:
                match = Match(
                    event.id, subscription.id, subscription.kind, score, score, None, bindings, likelihood=self.curve
                )
                hits.append((ordinal, match))
        return hits

    # -- windows, explaining and keeping --------------------------------------------------------

    def advance(self, now: int) -> Hits:
        """Let time pass, one expiry after the other, as if in small steps; ordered by moment, then ordinal."""
        return self._windows.advance(now) + self.alerts.advance(now)

    def shift(self, by: int) -> None:
        """Let time, and everything in the windows, count as so many µs later, earlier if negative."""
        self._windows.shift(by)
        self.alerts.shift(by)

    def holds_for_long(self, event_id: str) -> bool:
        """Return whether an event is in a window of the last n events, or in one without an end."""
        return self._windows.holds_for_long(event_id)

    def withdraw(self, event_id: str) -> Hits:
        """Take an event out of every window; ordered by ordinal."""
        return sorted(self._windows.withdraw(event_id) + self.alerts.withdraw(event_id), key=lambda hit: hit[0])

    def explain(self, event: Event, ordinal: int, at: int) -> Explanation:
        """Explain why the event does or does not meet the subscription, by the functions that match."""
        subscription = self.subscriptions.get(ordinal)
        if subscription is None:
            raise UnknownId(str(ordinal))
        position = None
        if subscription.kind == "top":
            view = EventView(event, self.measure, self.types)
            result = (
                evaluate(self._windowed[ordinal], view, self._needed(ordinal))
                if ordinal in self._windowed
                else self._meet_ranked(event, ordinal, subscription)
            )
            position = self._windows.position(event, ordinal, at, result)
        explanation = explain(
            event,
            subscription,
            measure=self.measure,
            named=self._named,
            m=self.m,
            threshold=self.threshold,
            curve=self.curve,
            at=at,
            position=position,
            nearness=self._nearness,
            types=self.types,
        )
        return (
            explanation
            if subscription.alert is None
            else with_alert_status(explanation, subscription.alert, self._key(event, ordinal, at))
        )

    def _key(self, event: Event, ordinal: int, at: int) -> AlertKeyStatus:
        key, state = self.alerts.state_of(ordinal, event)
        now = at if self.alerts.now is None else max(self.alerts.now, at)
        if key is None:
            return AlertKeyStatus(False, now)
        alert = self.alerts.clauses(ordinal)
        return standing_of(
            alert,
            run_of(alert, state),
            state.active,
            spoken=state.spoken,
            quiet_until=state.quiet_until,
            now=now,
            source=event.source or "",
        )

    def board(self, ordinal: int) -> list[TopKEntry]:
        """The k best of a subscription's window now, best first."""
        return self._windows.board(ordinal)

    def save(self, folder: Path) -> None:
        """Write the windows, and the stories of alerts."""
        self._windows.save(folder)
        if len(self.alerts):
            self.alerts.save(folder)

    def load(self, folder: Path) -> None:
        """Read them back."""
        self._windows.load(folder)
        if len(self.alerts):
            self.alerts.load(folder)


def _trace(condition: PreparedCondition, view: EventView, result: ConditionMatch, floor: float) -> Trace:
    def best() -> Mapping | None:
        conjunction = condition.conjunctions[result.conjunction]
        if conjunction.relaxed_parts == 0:  # predicates may share a tuple: there is no mapping
            return None
        rows = rows_of(conjunction, view, condition.theme, floor)
        mappings = describe(rows, conjunction.relaxed_parts, 1, result.conjunction) if rows else []
        return mappings[0] if mappings else None

    return best


class _SavedWindows(msgspec.Struct, frozen=True):
    """Windows on disk: the engine's time (None before the first), its arrivals, and each window by ordinal."""

    v: int
    now: int | None
    arrivals: int
    windows: dict[int, list[Publication]]
