"""The hub's demand at an edge: exact filters, and the terms that they were computed from.

An event is wanted if a filter of a group of its source is met, or if it has something that the group was not judged by.
One of a source that no group names is wanted, too: nothing was judged of it. Relaxed subscriptions of the edge's own
subscribers are decided here about what was judged, by the scores that were sent; about all else above.

Filters are indexed by an equality that each of them needs, so that an event is compared with few of many: one equality
of each alternative, with a number or with a text without digits (with digits it may be a number or a date, which are
equal in other ways). A filter with an alternative that needs no equality is always evaluated, and so are all filters
on a name whose value has a unit or is a truth value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from likewise.api.edge_frames import DemandFrame, FilterSpec, LocalSubscriptionSpec, SourceGroupSpec, TermSpec
from likewise.broker.edge_hub.demands import EdgeDemand, Key
from likewise.matching.demand.demand_filter import DemandFilter, Judged, Parts
from likewise.matching.reference.conditions import evaluate, prepare_condition
from likewise.matching.reference.event_view import EventView
from likewise.matching.reference.match_threshold import MatchThreshold
from likewise.matching.reference.operators import register_operators
from likewise.matching.reference.terms import event_value_terms, predicate_attribute_term
from likewise.model import Subscription, fold
from likewise.model.event import Event, EventTuple
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.model.predicate import OPERATORS
from likewise.model.values import read_magnitude
from likewise.semantics.measure import Role, Term

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

EXACT = 2**53  # numbers below it are the same as floats

# Whether a filter can be found by a value that its operator needs; filters with other operators are always evaluated.
_LOOKED_UP: Final = register_operators("edge", {operator: operator == "=" for operator in OPERATORS})


# Local evaluation: relaxed subscriptions are decided without a space, by the reference semantics over the scores that
# the hub has sent. A term without a column was not judged; where it could matter, nothing is decided and the event
# goes up.


class ReceivedScores:
    """A measure that says what it was sent; what it was not sent is related to nothing."""

    name = "sent"

    def __init__(self, scores: dict[Term, dict[Term, float]], opposed: frozenset[tuple[str, str]]) -> None:
        self._scores = scores
        self._opposed = opposed

    def matrix(self, requested: Sequence[Term], event_terms: Sequence[Term]) -> NDArray[float32]:
        """Return the relatedness of each requested term to each event term."""
        import numpy as np

        known = [self._scores.get(term, {}) for term in requested]
        return np.array([[row.get(term, 0.0) for term in event_terms] for row in known], np.float32)

    def opposed(self, requested: str, observed: str) -> bool:
        """Return whether one name being true means that the other is false."""
        return (requested, observed) in self._opposed

    def configuration(self) -> dict[str, object]:
        """Return its name; it cannot be rebuilt from that."""
        return {"name": self.name}


class Undecided(Exception):
    """The scores do not say: a value that matters was not judged, or they are those of other terms."""


class LocalEvaluator:
    """One relaxed subscription, about events of one group.

    >>> import likewise as lw
    >>> group = SourceGroupSpec("g", (), terms=(TermSpec("temp", kind="number"),))
    >>> spec = LocalSubscriptionSpec(1, "f", (0.5, 0.4, 0.5), ((0.75,),))
    >>> warm = LocalEvaluator(lw.parse("{warmth~ > 25}"), spec, group)
    >>> warm.score(lw.event({"temp": 30})), warm.score(lw.event({"temp": 20}))
    (0.75, None)
    """

    def __init__(self, subscription: Subscription, sent: LocalSubscriptionSpec, group: SourceGroupSpec) -> None:
        self._condition = condition = prepare_condition(
            msgspec.structs.replace(subscription, select=(), from_one_source=False)
        )
        self._needed = MatchThreshold(*sent.needed)
        self._values = frozenset(_terms(group.values, "value"))
        scores: dict[Term, dict[Term, float]] = {}
        for role, rows, columns in (
            ("attribute", sent.attributes, _terms(group.terms, "attribute")),
            ("value", sent.values, _terms(group.values, "value")),
        ):
            requested = [term for term in condition.terms if term.role == role]
            if len(requested) != len(rows) or any(len(row) != len(columns) for row in rows):
                raise Undecided(f"the scores of subscription {sent.subscription} are not those of its terms")
            for term, row in zip(requested, rows, strict=True):
                scores[term] = {event_term: number for event_term, number in zip(columns, row, strict=True) if number}
        self._measure = ReceivedScores(scores, frozenset(sent.opposed))

    def score(self, event: Event, types: Hierarchy | None = None) -> float | None:
        """Return the score of an event, None if it does not match. Raise `Undecided` if a text could change that."""
        scored_event = EventView(event, self._measure) if types is None else EventView(event, self._measure, types)
        self._check(scored_event)
        evaluation = evaluate(self._condition, scored_event, self._needed)
        return None if evaluation is None else evaluation.score

    def _check(self, scored_event: EventView) -> None:
        """Raise if a value that was not judged stands where a relaxed value looks."""
        theme = self._condition.theme
        for conjunction in self._condition.conjunctions:
            for predicate, name in zip(conjunction.positive, conjunction.folded, strict=True):
                if not predicate.value_relaxed:
                    continue
                related = (
                    scored_event.related(predicate_attribute_term(predicate, theme))
                    if predicate.attribute_relaxed
                    else ()
                )
                for place, value in enumerate(event_value_terms(scored_event.event)):
                    matters = (
                        related[place] >= self._needed.part
                        if predicate.attribute_relaxed
                        else scored_event.tuples[place] in scored_event.by_attribute.get(name, ())
                    )
                    if matters and value is not None and value not in self._values:
                        raise Undecided(scored_event.tuples[place].attribute)


def _terms(sent: Sequence[TermSpec], role: Role) -> list[Term]:
    return [Term(each.text, role, each.theme, each.unit, each.kind, each.context) for each in sent]  # type: ignore[arg-type]


class FilterIndex:
    """Some filters, and whether an event meets one of them.

    >>> from likewise.model import Predicate
    >>> index = FilterIndex([DemandFilter("one", (((Predicate("a", "=", 1),), (Predicate("t", ">", 5.0),)),))])
    >>> from likewise.model.hierarchies.types import NO_TYPES
    >>> index.matches({"a": [EventTuple("a", 1)], "t": [EventTuple("t", 9)]}, NO_TYPES)
    True
    """

    def __init__(self, filters: Iterable[DemandFilter]) -> None:
        self._always: list[DemandFilter] = []
        self._equal: dict[str, dict[float | str, list[DemandFilter]]] = {}
        for each in filters:
            needed = [_required_equality(parts) for parts in each.alternatives]
            if not needed or any(key is None for key in needed):
                self._always.append(each)
                continue
            for name, value in dict.fromkeys(key for key in needed if key is not None):
                self._equal.setdefault(name, {}).setdefault(value, []).append(each)

    def matches(self, by_name: Mapping[str, list[EventTuple]], types: Hierarchy) -> bool:
        """Return whether an event, as its tuples by folded name, matches any filter."""
        if any(each.matches(by_name, types) for each in self._always):
            return True
        for name, values in self._equal.items():
            for item in by_name.get(name, ()):
                if any(each.matches(by_name, types) for each in _candidates(values, item)):
                    return True
        return False


def _required_equality(parts: Parts) -> tuple[str, float | str] | None:
    """Return an equality that an alternative requires; None if it has none that can be looked up."""
    for part in parts:
        if len(part) == 1 and _LOOKED_UP[part[0].operator] and not part[0].unit:
            name, value = fold(part[0].attribute), part[0].value
            if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < EXACT:
                return name, float(value)
            if isinstance(value, str) and not any(sign.isdigit() for sign in value):
                return name, fold(value)
    return None


def _candidates(values: dict[float | str, list[DemandFilter]], item: EventTuple) -> Iterator[DemandFilter]:
    value = item.value
    if item.unit or isinstance(value, bool):
        for filters in values.values():
            yield from filters
    elif isinstance(value, str):
        if any(sign.isdigit() for sign in value) and read_magnitude(value) is not None:
            for filters in values.values():
                yield from filters
        else:
            yield from values.get(fold(value), ())
    elif isinstance(value, (int, float)):
        if abs(value) < EXACT:
            yield from values.get(float(value), ())
        else:
            for filters in values.values():
                yield from filters


class StoredDemand(msgspec.Struct, frozen=True):
    """A demand as it is stored."""

    version: str
    until: int
    filters: tuple[FilterSpec, ...]
    groups: tuple[SourceGroupSpec, ...]


class ForwardDecision(NamedTuple):
    """Decision to forward an event, and whether it is only because the hub knows too little about it.

    `met` are the subscriptions that were decided here and that it meets, with their scores.
    """

    forward: bool
    unjudged: bool = False
    matched: tuple[tuple[int, float], ...] = ()


SubscriptionLookup = Callable[[int], Subscription | None]  # a subscription by its number; None if it holds no longer


class SubscriptionNotApplied(Exception):
    """A subscription stands in the log, but was not applied yet."""


class _LocalSubscription:
    """A subscription that is decided here, about events of one group."""

    def __init__(self, sent: LocalSubscriptionSpec, group: SourceGroupSpec, filter: DemandFilter) -> None:
        self._sent = sent
        self._group = group
        self._filter = filter
        self._evaluator: LocalEvaluator | None = None

    @property
    def number(self) -> int:
        return self._sent.subscription

    def score(
        self, event: Event, by_name: Mapping[str, list[EventTuple]], types: Hierarchy, lookup: SubscriptionLookup
    ) -> float | None:
        """Return the score of an event; None if it does not match, or the subscription was removed."""
        if not self._filter.matches(by_name, types):
            return None
        subscription = lookup(self._sent.subscription)
        if subscription is None:
            return None
        if self._evaluator is None:
            self._evaluator = LocalEvaluator(subscription, self._sent, self._group)
        return self._evaluator.score(event, types)


class _SourceGroup:
    """A group of sources, ready to look at events."""

    def __init__(self, sent: SourceGroupSpec, filters: dict[str, DemandFilter]) -> None:
        self.all_events = sent.everything
        self.local_subscriptions = [_LocalSubscription(each, sent, filters[each.filter]) for each in sent.own]
        self.filters = [filters[id] for id in sent.filters]
        self._index = FilterIndex(self.filters)
        terms = (Term(t.text, "attribute", t.theme, t.unit, t.kind, t.context) for t in sent.terms)  # type: ignore[arg-type]
        self.judged = Judged(
            frozenset(terms), sent.allowed, {name: frozenset(texts) for name, texts in sent.texts.items()}
        )

    def evaluate(self, event: Event, types: Hierarchy, lookup: SubscriptionLookup) -> ForwardDecision:
        if self.all_events and not self.local_subscriptions:
            return ForwardDecision(True)
        by_name, new, outside = self.judged.assess(event)
        if new or outside:
            return ForwardDecision(True, True)
        matched, undecided = [], False
        for local in self.local_subscriptions:
            try:
                score = local.score(event, by_name, types, lookup)
            except (Undecided, SubscriptionNotApplied):
                undecided = True
            else:
                if score is not None:
                    matched.append((local.number, score))
        return ForwardDecision(
            self.all_events or undecided or self._index.matches(by_name, types),
            undecided and not self.all_events,
            tuple(matched),
        )


class ActiveDemand:
    """A demand in force; a change makes another one.

    >>> import likewise as lw
    >>> ActiveDemand().evaluate(lw.event({"no2": 45}, source="roof"))
    ForwardDecision(forward=True, unjudged=True, matched=())
    """

    def __init__(
        self,
        version: str = "",
        until: int = 0,
        filters: Sequence[FilterSpec] = (),
        groups: Sequence[SourceGroupSpec] = (),
        types: Hierarchy = NO_TYPES,
        lookup: SubscriptionLookup = lambda number: None,
    ) -> None:
        self.version = version
        self.until = until
        self.filters = {each.number: each for each in filters}
        self.groups = {each.group: each for each in groups}
        self._types = types
        self._lookup = lookup
        self.local_ids = frozenset(each.subscription for group in groups for each in group.own)  # decided here
        made = {id: DemandFilter(id, sent.alternatives) for id, sent in self.filters.items()}
        self._by_key: dict[Key, list[_SourceGroup]] = {}
        for sent in groups:
            group = _SourceGroup(sent, made)
            for source, themes in sent.sources:
                self._by_key.setdefault((source, themes), []).append(group)

    @classmethod
    def restored(
        cls, stored: StoredDemand | None, types: Hierarchy = NO_TYPES, lookup: SubscriptionLookup = lambda number: None
    ) -> ActiveDemand:
        """Return the stored demand; without one, a demand for every event."""
        if stored is None:
            return cls(types=types, lookup=lookup)
        return cls(stored.version, stored.until, stored.filters, stored.groups, types, lookup)

    def to_stored(self) -> StoredDemand:
        """Return the demand as it is stored."""
        return StoredDemand(self.version, self.until, tuple(self.filters.values()), tuple(self.groups.values()))

    def evaluate(self, event: Event) -> ForwardDecision:
        """Return whether the hub needs an event."""
        groups = self._by_key.get((event.source or "", event.themes))
        if not groups:
            return ForwardDecision(True, True)
        decisions = [group.evaluate(event, self._types, self._lookup) for group in groups]
        return ForwardDecision(
            any(each.forward for each in decisions),
            any(each.unjudged for each in decisions),
            tuple({number: score for each in decisions for number, score in each.matched}.items()),
        )

    def text_attributes(self, key: Key) -> frozenset[str]:
        """Return the attributes of a source whose texts the hub has to know."""
        return frozenset(name for group in self._by_key.get(key, ()) for name in group.judged.texts)

    def apply(self, frame: DemandFrame) -> ActiveDemand | None:
        """Apply a demand frame; return None if it changes another version than this one."""
        if frame.base and frame.base != self.version:
            return None
        filters = dict(self.filters) if frame.base else {}
        groups = dict(self.groups) if frame.base else {}
        for id in frame.drop:
            filters.pop(id, None)
        filters |= {each.number: each for each in frame.add}
        for name in frame.gone:
            groups.pop(name, None)
        groups |= {each.group: each for each in frame.groups}
        if any(id not in filters for each in groups.values() for id in _filters(each)):
            return None
        return ActiveDemand(
            frame.version, frame.until, list(filters.values()), list(groups.values()), self._types, self._lookup
        )

    def added_since(self, before: ActiveDemand) -> dict[Key, list[DemandFilter] | None]:
        """Return the filters that are new, by source; None for every event.

        Where texts of a name are asked about that were not, or a subscription is decided here that was not, a source is
        named, too: earlier events may have what was not judged, or meet it.
        """
        added: dict[Key, list[DemandFilter] | None] = {}
        for key, groups in self._by_key.items():
            had = before._by_key.get(key, [])
            if had and (self.text_attributes(key) - before.text_attributes(key) or self.local_ids - before.local_ids):
                added[key] = []
            if any(group.all_events for group in groups):
                if had and not any(group.all_events for group in had):
                    added[key] = None
                continue
            known = {each.id for group in had for each in group.filters}
            new = [each for group in groups for each in group.filters if each.id not in known]
            if new:
                added[key] = new
        return added

    def demand_for(self, keys: Sequence[Key], now: int) -> EdgeDemand:
        """Return the demand for some sources of an edge below: this edge's own, or every event."""
        filters: dict[str, FilterSpec] = {}
        groups: dict[str, SourceGroupSpec] = {}
        unknown = [key for key in keys if key not in self._by_key]
        requested = set(keys)
        for name, sent in self.groups.items():
            sources = tuple(source for source in sent.sources if source in requested)
            if sources and self.until >= now:
                filter_ids = tuple(sorted({*_filters(sent)}))
                groups["^" + name] = msgspec.structs.replace(
                    sent, group="^" + name, sources=sources, filters=filter_ids, own=(), values=()
                )
                filters |= {id: self.filters[id] for id in filter_ids}
            elif sources:
                unknown += sources
        if unknown:
            groups["^"] = SourceGroupSpec("^", tuple(sorted(set(unknown))), everything=True)
        return EdgeDemand(filters, groups)


def _filters(sent: SourceGroupSpec) -> tuple[str, ...]:
    """Return all filters of a group: the requested ones, and those of local subscriptions."""
    return (*sent.filters, *(each.filter for each in sent.own))
