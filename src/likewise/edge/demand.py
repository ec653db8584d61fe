"""What the broker above asks for, as an edge holds it: exact filters, and what they were judged by.

An event is wanted if a filter of a group of its source is met, or if it has something that the group was not judged by.
One of a source that no group names is wanted, too: nothing was judged of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from likewise.broker.edges.demands import EdgeDemand, Key
from likewise.edge.filter_index import FilterIndex
from likewise.formats.wire.uplink import Demanded, FilterSent, GroupSent
from likewise.matching.demand.filters import DemandFilter, Judged
from likewise.model.event import Event
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.semantics.measure import Term


class KeptDemand(msgspec.Struct, frozen=True):
    """A demand as it is kept on disk."""

    version: str
    until: int
    filters: tuple[FilterSent, ...]
    groups: tuple[GroupSent, ...]


class Verdict(NamedTuple):
    """Whether an event is wanted, and whether because nothing was judged of it or something in it."""

    wanted: bool
    unjudged: bool = False


class _Group:
    """A group of sources, ready to look at events."""

    def __init__(self, sent: GroupSent, filters: dict[str, DemandFilter]) -> None:
        self.everything = sent.everything
        self.filters = [filters[id] for id in sent.filters]
        self._index = FilterIndex(self.filters)
        terms = (Term(t.text, "attribute", t.theme, t.unit, t.kind, t.context) for t in sent.terms)  # type: ignore[arg-type]
        self.judged = Judged(
            frozenset(terms), sent.allowed, {name: frozenset(texts) for name, texts in sent.texts.items()}
        )

    def look(self, event: Event, types: Hierarchy) -> Verdict:
        if self.everything:
            return Verdict(True)
        by_name, new, outside = self.judged.look(event)
        if new or outside:
            return Verdict(True, True)
        return Verdict(self._index.met(by_name, types))


class HeldDemand:
    """A demand in force; a change makes another one.

    >>> import likewise as lw
    >>> HeldDemand().look(lw.event({"no2": 45}, source="roof"))
    Verdict(wanted=True, unjudged=True)
    """

    def __init__(
        self,
        version: str = "",
        until: int = 0,
        filters: Sequence[FilterSent] = (),
        groups: Sequence[GroupSent] = (),
        types: Hierarchy = NO_TYPES,
    ) -> None:
        self.version = version
        self.until = until
        self.filters = {each.number: each for each in filters}
        self.groups = {each.group: each for each in groups}
        self._types = types
        made = {id: DemandFilter(id, sent.alternatives) for id, sent in self.filters.items()}
        self._by_key: dict[Key, list[_Group]] = {}
        for sent in groups:
            group = _Group(sent, made)
            for source, themes in sent.sources:
                self._by_key.setdefault((source, themes), []).append(group)

    @classmethod
    def restored(cls, kept: KeptDemand | None, types: Hierarchy = NO_TYPES) -> HeldDemand:
        """The demand that was kept; one that asks for everything without one."""
        return cls(types=types) if kept is None else cls(kept.version, kept.until, kept.filters, kept.groups, types)

    def kept(self) -> KeptDemand:
        """The demand as it is kept."""
        return KeptDemand(self.version, self.until, tuple(self.filters.values()), tuple(self.groups.values()))

    def look(self, event: Event) -> Verdict:
        """Whether an event of somebody here is wanted above."""
        groups = self._by_key.get((event.source or "", event.themes))
        if not groups:
            return Verdict(True, True)
        found = [group.look(event, self._types) for group in groups]
        return Verdict(any(each.wanted for each in found), any(each.unjudged for each in found))

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
        if any(id not in filters for each in groups.values() for id in each.filters):
            return None
        return HeldDemand(said.version, said.until, list(filters.values()), list(groups.values()), self._types)

    def gained(self, before: HeldDemand) -> dict[Key, list[DemandFilter] | None]:
        """By source, the filters that it was not asked by before; None for everything."""
        found: dict[Key, list[DemandFilter] | None] = {}
        for key, groups in self._by_key.items():
            had = before._by_key.get(key, [])
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
                groups["^" + name] = msgspec.structs.replace(sent, group="^" + name, sources=own)
                filters |= {id: self.filters[id] for id in sent.filters}
            elif own:
                unknown += own
        if unknown:
            groups["^"] = GroupSent("^", tuple(sorted(set(unknown))), everything=True)
        return EdgeDemand(filters, groups)
