"""What the broker above asks for, as an edge holds it: exact filters, and what they were judged by.

An event is wanted if a filter of a group of its source is met, or if it has something that the group was not judged by.
One of a source that no group names is wanted, too: nothing was judged of it. Relaxed subscriptions of the edge's own
subscribers are decided here about what was judged, by the scores that were sent; about all else above.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from likewise.api.edge_frames import Demanded, FilterSent, GroupSent, OwnSent
from likewise.broker.edge_hub.demands import EdgeDemand, Key
from likewise.edge.filter_index import FilterIndex
from likewise.edge.local_evaluation import Deciding, Undecided
from likewise.matching.demand.filters import DemandFilter, Judged
from likewise.model import Subscription
from likewise.model.event import Event, EventTuple
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.semantics.measure import Term


class KeptDemand(msgspec.Struct, frozen=True):
    """A demand as it is kept on disk."""

    version: str
    until: int
    filters: tuple[FilterSent, ...]
    groups: tuple[GroupSent, ...]


class Verdict(NamedTuple):
    """Whether an event is wanted, and whether because nothing was judged of it or something in it.

    `met` are the subscriptions that were decided here and that it meets, with their scores.
    """

    wanted: bool
    unjudged: bool = False
    met: tuple[tuple[int, float], ...] = ()


ByNumber = Callable[[int], Subscription | None]  # a subscription by its number; None if it holds no longer


class NotApplied(Exception):
    """A subscription stands in the log, but was not applied yet."""


class _Own:
    """A subscription that is decided here, about events of one group."""

    def __init__(self, sent: OwnSent, group: GroupSent, filter: DemandFilter) -> None:
        self._sent = sent
        self._group = group
        self._filter = filter
        self._deciding: Deciding | None = None

    @property
    def number(self) -> int:
        return self._sent.subscription

    def score(
        self, event: Event, by_name: Mapping[str, list[EventTuple]], types: Hierarchy, held: ByNumber
    ) -> float | None:
        """How well an event meets it; None if it does not, or it holds no longer."""
        if not self._filter.meets(by_name, types):
            return None
        subscription = held(self._sent.subscription)
        if subscription is None:
            return None
        if self._deciding is None:
            self._deciding = Deciding(subscription, self._sent, self._group)
        return self._deciding.score(event, types)


class _Group:
    """A group of sources, ready to look at events."""

    def __init__(self, sent: GroupSent, filters: dict[str, DemandFilter]) -> None:
        self.everything = sent.everything
        self.own = [_Own(each, sent, filters[each.filter]) for each in sent.own]
        self.filters = [filters[id] for id in sent.filters]
        self._index = FilterIndex(self.filters)
        terms = (Term(t.text, "attribute", t.theme, t.unit, t.kind, t.context) for t in sent.terms)  # type: ignore[arg-type]
        self.judged = Judged(
            frozenset(terms), sent.allowed, {name: frozenset(texts) for name, texts in sent.texts.items()}
        )

    def look(self, event: Event, types: Hierarchy, held: ByNumber) -> Verdict:
        if self.everything and not self.own:
            return Verdict(True)
        by_name, new, outside = self.judged.look(event)
        if new or outside:
            return Verdict(True, True)
        met, undecided = [], False
        for own in self.own:
            try:
                score = own.score(event, by_name, types, held)
            except (Undecided, NotApplied):
                undecided = True
            else:
                if score is not None:
                    met.append((own.number, score))
        return Verdict(
            self.everything or undecided or self._index.met(by_name, types),
            undecided and not self.everything,
            tuple(met),
        )


class HeldDemand:
    """A demand in force; a change makes another one.

    >>> import likewise as lw
    >>> HeldDemand().look(lw.event({"no2": 45}, source="roof"))
    Verdict(wanted=True, unjudged=True, met=())
    """

    def __init__(
        self,
        version: str = "",
        until: int = 0,
        filters: Sequence[FilterSent] = (),
        groups: Sequence[GroupSent] = (),
        types: Hierarchy = NO_TYPES,
        held: ByNumber = lambda number: None,
    ) -> None:
        self.version = version
        self.until = until
        self.filters = {each.number: each for each in filters}
        self.groups = {each.group: each for each in groups}
        self._types = types
        self._held = held
        self.own = frozenset(each.subscription for group in groups for each in group.own)  # decided here
        made = {id: DemandFilter(id, sent.alternatives) for id, sent in self.filters.items()}
        self._by_key: dict[Key, list[_Group]] = {}
        for sent in groups:
            group = _Group(sent, made)
            for source, themes in sent.sources:
                self._by_key.setdefault((source, themes), []).append(group)

    @classmethod
    def restored(
        cls, kept: KeptDemand | None, types: Hierarchy = NO_TYPES, held: ByNumber = lambda number: None
    ) -> HeldDemand:
        """The demand that was kept; one that asks for everything without one."""
        if kept is None:
            return cls(types=types, held=held)
        return cls(kept.version, kept.until, kept.filters, kept.groups, types, held)

    def kept(self) -> KeptDemand:
        """The demand as it is kept."""
        return KeptDemand(self.version, self.until, tuple(self.filters.values()), tuple(self.groups.values()))

    def look(self, event: Event) -> Verdict:
        """Whether an event of somebody here is wanted above."""
        groups = self._by_key.get((event.source or "", event.themes))
        if not groups:
            return Verdict(True, True)
        found = [group.look(event, self._types, self._held) for group in groups]
        return Verdict(
            any(each.wanted for each in found),
            any(each.unjudged for each in found),
            tuple({number: score for each in found for number, score in each.met}.items()),
        )

    def asked_texts(self, key: Key) -> frozenset[str]:
        """The names whose texts matter, for a source."""
        return frozenset(name for group in self._by_key.get(key, ()) for name in group.judged.texts)

    def changed(self, said: Demanded) -> HeldDemand | None:
        """The demand that a message makes of this one; None if it goes by another."""
        if said.base and said.base != self.version:
            return None
        filters = dict(self.filters) if said.base else {}
        groups = dict(self.groups) if said.base else {}
        for id in said.drop:
            filters.pop(id, None)
        filters |= {each.number: each for each in said.add}
        for name in said.gone:
            groups.pop(name, None)
        groups |= {each.group: each for each in said.groups}
        if any(id not in filters for each in groups.values() for id in _filters(each)):
            return None
        return HeldDemand(
            said.version, said.until, list(filters.values()), list(groups.values()), self._types, self._held
        )

    def gained(self, before: HeldDemand) -> dict[Key, list[DemandFilter] | None]:
        """By source, the filters that it was not asked by before; None for everything.

        Where texts of a name are asked about that were not, or a subscription is decided here that was not, a source is
        named, too: earlier events may have what was not judged, or meet it.
        """
        found: dict[Key, list[DemandFilter] | None] = {}
        for key, groups in self._by_key.items():
            had = before._by_key.get(key, [])
            if had and (self.asked_texts(key) - before.asked_texts(key) or self.own - before.own):
                found[key] = []
            if any(group.everything for group in groups):
                if had and not any(group.everything for group in had):
                    found[key] = None
                continue
            known = {each.id for group in had for each in group.filters}
            new = [each for group in groups for each in group.filters if each.id not in known]
            if new:
                found[key] = new
        return found

    def asks(self, keys: Sequence[Key], now: int) -> EdgeDemand:
        """What is asked of some sources, for an edge below: what this one is asked for, or everything."""
        filters: dict[str, FilterSent] = {}
        groups: dict[str, GroupSent] = {}
        unknown = [key for key in keys if key not in self._by_key]
        wanted = set(keys)
        for name, sent in self.groups.items():
            own = tuple(source for source in sent.sources if source in wanted)
            if own and self.until >= now:
                asked = tuple(sorted({*_filters(sent)}))
                groups["^" + name] = msgspec.structs.replace(
                    sent, group="^" + name, sources=own, filters=asked, own=(), values=()
                )
                filters |= {id: self.filters[id] for id in asked}
            elif own:
                unknown += own
        if unknown:
            groups["^"] = GroupSent("^", tuple(sorted(set(unknown))), everything=True)
        return EdgeDemand(filters, groups)


def _filters(sent: GroupSent) -> tuple[str, ...]:
    """All filters of a group: what is asked for, and the candidates of what is decided here."""
    return (*sent.filters, *(each.filter for each in sent.own))
