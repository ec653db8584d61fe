"""The k best of sliding windows, kept up to date (sources.md C, "Top-k/w subscription").

Subscriptions with the same condition, window and way of scoring form a family, which keeps the window's
publications once. A publication visits just the members whose region of interest it enters; time moves
through one queue of expiries; nothing looks at all subscriptions. Pripužić, Podnar Žarko and Aberer,
"Top-k/w publish/subscribe: A publish/subscribe model for continuous top-k processing over data streams",
Information Systems 39 (2014).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from likewise.defaults import CACHE_BYTES, HYBRID_M, LATENESS, THRESHOLD
from likewise.errors import ArtefactDamaged, ArtefactVersion, UnknownId, UnsupportedSubscription
from likewise.matching.cache_use import CacheUse
from likewise.matching.condition_index import ConditionIndex
from likewise.matching.engine import BaseEngine, EngineBatchResult, EngineResult, TopKEntry, batch_result, result_of
from likewise.matching.explain.explain import explain
from likewise.matching.graphs_nearby.engine import NearEngine
from likewise.matching.graphs_nearby.mvr_tree import MvrTree
from likewise.matching.hybrid.statements import StatementsEngine
from likewise.matching.reference.conditions import ConditionMatch, PreparedCondition, evaluate, prepare_condition
from likewise.matching.reference.event_view import EventView
from likewise.matching.reference.lateness import is_late
from likewise.matching.reference.match_threshold import MatchThreshold
from likewise.matching.reference.scoring import rank_value, scored_numbers
from likewise.matching.reference.statements import EventStatements, meet_statements
from likewise.matching.reference.triple_distance import TripleDistances, meet_near, nearest
from likewise.matching.reference.window import WindowPosition
from likewise.matching.topk.candidate_kernels import TIMED
from likewise.matching.topk.family import PublishedEvent, WindowFamily
from likewise.model import (
    Condition,
    Distance,
    Event,
    Explanation,
    Kind,
    Match,
    NearbyTriple,
    Promotion,
    Statements,
    Subscription,
    Top,
    fold,
)
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.model.probability import AS_SCORED, ProbabilityCurve

if TYPE_CHECKING:
    import pyarrow as pa

    from likewise.matching.reference.locality import Locality
    from likewise.semantics.measure import Measure

Hits = list[tuple[int, Match]]
SLACK = 1e-4  # of scores in 32 bits, within which the plain evaluation decides
PUBLISHED = 1_024  # events noted, beyond twice those in windows, before those in none are let go


class TopKEngine(BaseEngine):
    """Top-k subscriptions over windows of time or of events.

    `lateness` (µs) is how far an event's own time may lie behind the engine's and still enter windows;
    `refused_late` counts those that lay further back.

    >>> from likewise.language import parse
    >>> from likewise.model import event
    >>> engine = TopKEngine()
    >>> engine.add(0, parse("{x exists} top 1 within 2 events by value(x)", id="low"), at=0)
    >>> [m.rank_value for x in (5, 7, 6) for _, m in engine.match(event({"x": x}, id=str(x)), at=0)]
    [5.0, 6.0]
    """

    kinds: ClassVar[frozenset[Kind]] = frozenset({"top"})

    def __init__(
        self,
        measure: Measure | None = None,
        threshold: float = THRESHOLD,
        *,
        lateness: int = LATENESS,
        cache_bytes: int = CACHE_BYTES,
        curve: ProbabilityCurve = AS_SCORED,
        types: Hierarchy = NO_TYPES,
        named: Callable[[str], Measure] | None = None,
        m: int = HYBRID_M,
        meaning: Callable[[], Locality] | None = None,
    ) -> None:
        super().__init__()
        self.types = types
        self._named, self._m = named, m
        self._nearness = TripleDistances(meaning)
        self.curve = curve
        self.measure = measure
        self.threshold = threshold
        self.lateness = lateness
        self.now: int | None = None
        self.refused_late = 0
        self._cache_bytes = cache_bytes
        self._families: dict[Subscription, WindowFamily] = {}  # by what its members have in common
        self._conditions: dict[Subscription, WindowCondition] = {}  # by condition, themes and threshold
        self._by_number: dict[int, WindowCondition] = {}
        self._home: dict[int, tuple[Subscription, Subscription]] = {}  # ordinal -> its family and condition
        self._due: list[tuple[int, int, WindowFamily]] = []  # the next expiry of each family of timed windows
        self._published: dict[str, list[tuple[WindowFamily, int]]] = {}  # event id -> where it was taken in
        self._turn = 0
        self._shared = 0
        self._index = ConditionIndex(measure, threshold, cache_bytes, curve, types)
        self._statements: StatementsEngine | None = None  # finds statements that are ranked
        self._near = NearEngine(meaning, MvrTree)  # finds near triples that are ranked
        self._scorings: dict[object, int] = {}  # a number for each way of ranking
        self._patience = PUBLISHED

    # -- members --------------------------------------------------------------------------------

    def serves(self, subscription: Subscription) -> bool:
        """Conditions; statements with measures at hand; near triples, by meaning only with vectors."""
        if isinstance(subscription.body, NearbyTriple):
            return self._nearness.serves(subscription)
        return isinstance(subscription.body, Condition) or self._named is not None

    def add(self, ordinal: int, subscription: Subscription, at: int) -> None:
        """Hold a subscription; its window starts empty."""
        if not self.serves(subscription):
            raise UnsupportedSubscription(
                "ranking statements needs measures by their names, and what is near by meaning a space; give them"
            )
        self.register(ordinal, subscription)
        assert subscription.top is not None
        condition = _condition_of(subscription)
        shared = self._conditions.get(condition)
        if shared is None:
            prepared = prepare_condition(subscription) if isinstance(subscription.body, Condition) else None
            shared = self._conditions[condition] = WindowCondition(self._shared, condition, prepared)
            self._shared += 1
            self._by_number[shared.number] = shared
            self._index_body(shared)
        key = _family_of(subscription)
        family = shared.families.get(key)
        if family is None:
            family = shared.families[key] = self._families[key] = WindowFamily(subscription.top)
            assert key.top is not None
            family.scoring = self._scorings.setdefault(key.top.by, len(self._scorings))
        family.add_member(ordinal, subscription.top)
        self._home[ordinal] = (key, condition)

    def remove(self, ordinal: int) -> None:
        """Forget a subscription; a family without members goes with its window."""
        self.unregister(ordinal)
        key, condition = self._home.pop(ordinal)
        family = self._families[key]
        family.remove_member(ordinal)
        if not len(family):
            del self._families[key], self._conditions[condition].families[key]
            if not self._conditions[condition].families:
                shared = self._conditions.pop(condition)
                self._index_of(shared).remove(shared.number)
                del self._by_number[shared.number]

    def _index_of(self, shared: WindowCondition) -> ConditionIndex | StatementsEngine | NearEngine:
        body = shared.subscription.body
        if isinstance(body, NearbyTriple):
            return self._near
        if isinstance(body, Condition):
            return self._index
        if self._statements is None:
            assert self._named is not None
            self._statements = StatementsEngine(
                self._named, m=self._m, threshold=self.threshold, cache_bytes=self._cache_bytes, curve=self.curve
            )
        return self._statements

    def _index_body(self, shared: WindowCondition) -> None:
        index, subscription = self._index_of(shared), shared.subscription
        if isinstance(index, ConditionIndex):
            index.add(shared.number, subscription)
            return
        if isinstance(index, StatementsEngine):  # finds a little more than matches, for the score in 64 bits
            level = max(0.0, self._needed(subscription).score - SLACK)
            subscription = msgspec.structs.replace(subscription, threshold=level, confidence=None)
        index.add(shared.number, subscription, 0)

    def _candidates(self, event: Event, at: int) -> list[tuple[int, ConditionMatch]]:
        """The conditions, statements and near triples that an event meets, by their numbers, and how well."""
        matches = self._index.match(event, at)
        if self._statements is not None and len(self._statements):
            likely = self._statements.find(event, at).ordinals.tolist()
            view = EventStatements(event, self._named)
            results = [(number, self._meet(self._by_number[number], event, view)) for number in likely]
            matches += [(number, result) for number, result in results if result is not None]
        if len(self._near) and event.graph:
            for number, nearby in self._near.near([event.graph])[0].items():
                matches.append((number, nearest(nearby)))
        return matches

    def _meet(
        self, shared: WindowCondition, event: Event, view: EventStatements | None = None
    ) -> ConditionMatch | None:
        """Return how an event meets a condition, statements or a near triple, by the plain evaluation."""
        subscription, body = shared.subscription, shared.subscription.body
        needed = self._needed(subscription)
        if isinstance(body, NearbyTriple):
            return meet_near(body, subscription.threshold, self._nearness, event)
        if isinstance(body, Statements):
            way = subscription.using or "hybrid", subscription.best or self._m
            return meet_statements(body, way, needed, view or EventStatements(event, self._named))
        assert shared.condition is not None
        return evaluate(shared.condition, EventView(event, self.measure, self.types), needed)

    # -- events ---------------------------------------------------------------------------------

    def find(self, event: Event, at: int) -> EngineResult:
        """Return what the event meets on arrival. Promotions are told by `match` and `match_batch`."""
        arrived, _ = self._arrive(event, at)
        return result_of(arrived)

    def match(self, event: Event, at: int) -> Hits:
        """Return what the event meets on arrival, and what it promotes, ordered by ordinal."""
        arrived, promoted = self._arrive(event, at)
        return sorted(arrived + promoted, key=lambda hit: (hit[0], hit[1].cause != "arrival"))

    def match_batch(self, events: Sequence[Event], at: Sequence[int]) -> EngineBatchResult:
        """`match` for each event in turn, as arrays."""
        founds, promotions = [], []
        for index, (event, when) in enumerate(zip(events, at, strict=True)):
            arrived, promoted = self._arrive(event, when)
            founds.append(result_of(arrived))
            promotions += [Promotion(index, match, o) for o, match in sorted(promoted, key=lambda hit: hit[0])]
        return batch_result(founds, promotions)

    def _arrive(self, event: Event, at: int) -> tuple[Hits, Hits]:
        promoted = self.advance(at)
        arrived: Hits = []
        assert self.now is not None
        if is_late(event.time, self.now, self.lateness):
            self.refused_late += 1
            return arrived, promoted
        time = min(self.now, at if event.time is None else event.time)  # a clock ahead holds no place for longer
        known: dict[tuple[int, float], tuple[float, ...] | None] = {}  # what families that rank alike rank it by
        places: list[tuple[WindowFamily, int]] = []
        before: ConditionMatch | None = None
        for condition, met_conditions in self._candidates(event, at):
            if met_conditions is not before:
                entry, before = (
                    PublishedEvent(event.id, time, met_conditions.score, met_conditions.product),
                    met_conditions,
                )
            for family in self._by_number[condition].families.values():
                way = (family.scoring, met_conditions.ranked)
                if way not in known:
                    known[way] = _values(family.top, event, met_conditions.ranked)
                number = family.base + len(family.log)
                for ordinal, delivered in family.arrive(known[way], entry, self.now):
                    hit = self._hit(family, ordinal, delivered, "arrival" if delivered == number else "promoted")
                    (arrived if delivered == number else promoted).append(hit)
                if family.base + len(family.log) > number:
                    places.append((family, number))
                if family.kind == TIMED:
                    self._schedule(family)
        if event.id is not None and places:
            self._published.setdefault(event.id, []).extend(places)
            if len(self._published) > self._patience:
                self._forget_published()
        arrived.sort(key=lambda hit: hit[0])
        return arrived, promoted

    def _needed(self, subscription: Subscription) -> MatchThreshold:
        return MatchThreshold.of(subscription, self.threshold, self.curve)

    def _hit(self, family: WindowFamily, ordinal: int, number: int, cause: str) -> tuple[int, Match]:
        entry = family.entry(number)
        value = family.rank_of(ordinal, number)
        id = self.subscriptions[ordinal].id
        curve = self.curve
        return ordinal, Match(entry.event_id, id, "top", entry.score, entry.product, None, (), value, cause, curve)  # type: ignore[arg-type]

    def _schedule(self, family: WindowFamily) -> None:
        """Note a family's next expiry if it is earlier than the one noted."""
        due = family.next_expiry()
        if due is not None and (family.scheduled is None or due < family.scheduled):
            self._turn += 1
            family.scheduled = due
            heapq.heappush(self._due, (due, self._turn, family))

    def advance(self, now: int) -> Hits:
        """Let time pass, one expiry after the other; promotions by moment, then ordinal."""
        if self.now is not None and now <= self.now:
            return []
        promotions: list[tuple[int, int, int, Match]] = []
        while self._due and self._due[0][0] <= now:
            moment, _, family = heapq.heappop(self._due)
            if moment != family.scheduled:
                continue  # an earlier expiry was noted since
            family.scheduled = None
            for order, (ordinal, number) in enumerate(family.expire(moment)):
                promotions.append((moment, ordinal, order, self._hit(family, ordinal, number, "promoted")[1]))
            self._schedule(family)
        self.now = now
        promotions.sort(key=lambda hit: hit[:3])
        return [(ordinal, match) for _, ordinal, _, match in promotions]

    def next_due(self) -> int | None:
        """Return when time next takes something out of a window, or an earlier moment."""
        return self._due[0][0] if self._due else None

    def holds_for_long(self, event_id: str) -> bool:
        """Return whether an event is in a window of the last n events, or in one without an end."""
        return any(f.kind != TIMED and f.holds(number) for f, number in self._published.get(event_id, ()))

    def withdraw(self, event_id: str) -> Hits:
        """Take an event out of every window; promotions by ordinal."""
        promoted: list[tuple[WindowFamily, int, int]] = []
        for family, number in self._published.pop(event_id, ()):
            if number >= family.base and family.holds(number):
                promoted += [(family, o, n) for o, n in family.withdraw(number)]
        # what was published twice is not promoted by the first half of its withdrawal
        hits = [self._hit(family, o, n, "promoted") for family, o, n in promoted if family.counts(o, n)]
        return sorted(hits, key=lambda hit: hit[0])

    def _forget_published(self) -> None:
        """Now and then, let go of events that no window holds any more."""
        still_published: dict[str, list[tuple[WindowFamily, int]]] = {}
        for id, places in self._published.items():
            still = [(family, number) for family, number in places if family.holds(number)]
            if still:
                still_published[id] = still
        self._published = still_published
        self._patience = PUBLISHED + 2 * len(still_published)

    def explain(self, event: Event, ordinal: int, at: int) -> Explanation:
        """Explain why the event does or does not meet the subscription, and where it stands in the window."""
        subscription = self.subscriptions.get(ordinal)
        if subscription is None:
            raise UnknownId(str(ordinal))
        return explain(
            event,
            subscription,
            measure=self.measure,
            threshold=self.threshold,
            curve=self.curve,
            at=at,
            position=self._window_position(event, ordinal, at),
            types=self.types,
            named=self._named,
            m=self._m,
            nearness=self._nearness,
        )

    def _window_position(self, event: Event, ordinal: int, at: int) -> WindowPosition | None:
        """Where the event stands, or would stand if it came now; None if it is no candidate."""
        key, condition = self._home[ordinal]
        family = self._families[key]
        now = at if self.now is None else max(self.now, at)
        numbers = [n for f, n in self._published.get(event.id or "", ()) if f is family and family.counts(ordinal, n)]
        if numbers:
            values = family.values(numbers[-1])
            return (
                None
                if values is None
                else family.position(ordinal, values, family.entry(numbers[-1]).time, numbers[-1], now)
            )
        result = self._meet(self._conditions[condition], event)
        if result is None:
            return None
        if is_late(event.time, now, self.lateness):
            return WindowPosition(None, None, expired=True)
        values = _values(family.top, event, result.ranked)
        time = min(now, at if event.time is None else event.time)
        return None if values is None else family.position(ordinal, values, time, None, now)

    def board(self, ordinal: int) -> list[TopKEntry]:
        """The k best of a subscription's window now, best first, ties as in deliveries."""
        top, family = self.subscriptions[ordinal].top, self._families[self._home[ordinal][0]]
        assert top is not None
        ranked = sorted(
            (family.sign * family.rank_of(ordinal, number), -entry.time, -number, entry)
            for number, entry, _, _ in family.publications()
            if family.counts(ordinal, number) and family.values(number) is not None
        )
        return [
            TopKEntry(rank, entry.event_id, family.sign * value, entry.time)
            for rank, (value, _, _, entry) in enumerate(ranked[: top.k], 1)
        ]

    def caches(self) -> dict[str, CacheUse]:
        """Return what the indexes of conditions and statements look up."""
        uses = self._index.caches()
        if self._statements is not None:
            for name, use in self._statements.caches().items():
                uses.setdefault(name, CacheUse()).count(use.hits + use.misses, use.misses)
        return uses

    def forget_relatedness(self, of: Callable[[str], bool]) -> None:
        """Let the index of conditions forget what it knows about some seen texts."""
        self._index.forget_relatedness(of)
        if self._statements is not None:
            self._statements.forget_relatedness(of)

    # -- keeping --------------------------------------------------------------------------------

    def save(self, folder: Path) -> None:
        """Write every family's window, and what was delivered of it."""
        write_families(folder, self.now, [(min(f.slots), f) for f in self._families.values()])

    def load(self, folder: Path) -> None:
        """Fill the windows with what `save` wrote."""
        self.now, saved = read_families(folder)
        for first, publications, members, following in saved:
            if first not in self._home:
                raise UnknownId(str(first))
            self._fill(self._families[self._home[first][0]], publications, members, following)

    def shift(self, by: int) -> None:
        """Let time, and everything in the windows, count as so many µs later (earlier if negative): a clock was set."""
        if self.now is None:
            return
        self.now += by
        self._due, self._published = [], {}
        for key, old in list(self._families.items()):
            family = WindowFamily(old.top)
            family.scoring = old.scoring
            members = {ordinal: (began, delivered) for ordinal, began, delivered in old.members()}
            for ordinal in members:
                top = self.subscriptions[ordinal].top
                assert top is not None
                family.add_member(ordinal, top)
            moved = [(n, entry._replace(time=entry.time + by), counts, v) for n, entry, counts, v in old.publications()]
            self._families[key] = self._conditions[self._home[ordinal][1]].families[key] = family
            self._fill(family, moved, members, old.next)

    def _fill(
        self,
        family: WindowFamily,
        publications: Sequence[tuple[int, PublishedEvent, bool, list[float]]],
        members: dict[int, tuple[int, list[int]]],
        following: int,
    ) -> None:
        family.restore(publications, members, following)
        for number, entry, _, _ in publications:
            if entry.event_id is not None:
                self._published.setdefault(entry.event_id, []).append((family, number))
        self._schedule(family)


class WindowCondition(msgspec.Struct):
    """A condition, statements or a near triple, and the families whose members share it.

    `subscription` has what is compared and nothing of windows; `condition` is what a condition in braces was made into.
    """

    number: int
    subscription: Subscription
    condition: PreparedCondition | None
    families: dict[Subscription, WindowFamily] = msgspec.field(default_factory=dict)


def _condition_of(subscription: Subscription) -> Subscription:
    return msgspec.structs.replace(subscription, id="", top=None, valid_for=None, select=(), from_one_source=False)


def _family_of(subscription: Subscription) -> Subscription:
    """Return what the members of a family have in common: everything but k, and the point of a distance."""
    top = subscription.top
    assert top is not None
    by = top.by
    if isinstance(by, Distance):
        by = Distance(tuple((fold(attribute), 0.0) for attribute, _ in by.point), by.units)
    return msgspec.structs.replace(subscription, id="", valid_for=None, top=msgspec.structs.replace(top, k=1, by=by))


def _values(top: Top, event: Event, score: float) -> tuple[float, ...] | None:
    """The numbers a family ranks by: the coordinates for a distance, else the value itself; None if any is missing."""
    if not isinstance(top.by, Distance):
        value = rank_value(top.by, event, score)
        return None if value is None else (value,)
    numbers = scored_numbers(top.by, event)
    return None if numbers is None else tuple(numbers)


VERSION = b"1"
Saved = tuple[int, list[tuple[int, PublishedEvent, bool, list[float]]], dict[int, tuple[int, list[int]]], int]


def write_families(folder: Path, now: int | None, families: Iterable[tuple[int, WindowFamily]]) -> None:
    """Write every family's window and members."""
    import pyarrow as pa

    all_families = list(families)
    rows = [(name, *row) for name, family in all_families for row in family.publications()]
    publications: dict[str, pa.Array[Any]] = {
        "family": pa.array([r[0] for r in rows], pa.int64()),
        "number": pa.array([r[1] for r in rows], pa.int64()),
        "event_id": pa.array([r[2].event_id for r in rows], pa.string()),
        "time": pa.array([r[2].time for r in rows], pa.int64()),
        "score": pa.array([r[2].score for r in rows], pa.float64()),
        "product": pa.array([r[2].product for r in rows], pa.float64()),
        "counts": pa.array([r[3] for r in rows], pa.bool_()),
        "values": pa.array([r[4] for r in rows], pa.list_(pa.float64())),
    }
    joined = [(name, family.next, *row) for name, family in all_families for row in family.members()]
    members: dict[str, pa.Array[Any]] = {
        "family": pa.array([r[0] for r in joined], pa.int64()),
        "next": pa.array([r[1] for r in joined], pa.int64()),
        "ordinal": pa.array([r[2] for r in joined], pa.int64()),
        "since": pa.array([r[3] for r in joined], pa.int64()),
        "delivered": pa.array([r[4] for r in joined], pa.list_(pa.int64())),
    }
    metadata = {"likewise.windows": VERSION, "now": b"" if now is None else str(now).encode()}
    for name, columns in (("publications", publications), ("members", members)):
        table = pa.table(columns).replace_schema_metadata(metadata)
        with pa.OSFile(str(folder / f"{name}.arrow"), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
            writer.write_table(table)


def read_families(folder: Path) -> tuple[int | None, list[Saved]]:
    """The engine's time and every family: its name, publications, members by ordinal, and next number."""
    publications, members = _read(folder / "publications.arrow"), _read(folder / "members.arrow")
    now = members.schema.metadata[b"now"]
    families: dict[int, Saved] = {}
    for row in members.to_pylist():
        family = families.setdefault(row["family"], (row["family"], [], {}, row["next"]))
        family[2][row["ordinal"]] = (row["since"], row["delivered"])
    for row in publications.to_pylist():
        entry = PublishedEvent(row["event_id"], row["time"], row["score"], row["product"])
        if row["family"] not in families:
            raise ArtefactDamaged(
                f"{folder}: a publication belongs to the family {row['family']}, which has no members"
            )
        families[row["family"]][1].append((row["number"], entry, row["counts"], row["values"]))
    return int(now) if now else None, list(families.values())


def _read(path: Path) -> pa.Table:
    import pyarrow as pa

    try:
        with pa.memory_map(str(path)) as source:
            table = pa.ipc.open_file(source).read_all()
    except (pa.ArrowInvalid, OSError) as error:
        raise ArtefactDamaged(f"{path} cannot be read ({error}); restore a copy") from None
    version = (table.schema.metadata or {}).get(b"likewise.windows")
    if version != VERSION:
        raise ArtefactVersion(
            f"{path} holds windows of version {version!r}; this one reads {VERSION!r}: upgrade likewise"
        )
    return table
