"""What every edge is asked for: the subscriptions of a tenant, compiled against what the edges' sources offer.

A source offers what it announced, and what the edge reports beside it: so what a source that announced nothing sends is
judged, too. An edge's own subscriptions that it decides itself are no demand on its own sources.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

from likewise.api.edge_frames import (
    Alternatives,
    DemandFrame,
    FilterSpec,
    LocalSubscriptionSpec,
    SourceGroupSpec,
    TermSpec,
    VocabularyFrame,
)
from likewise.broker.edge_hub.identities import EdgeSubscription, read_name, subscriber_of
from likewise.broker.log.entries import COMMAND, Entry, SubscribeCommand
from likewise.broker.tenants.tenant import StoredSubscription, Tenant
from likewise.defaults import EDGE_TEXTS, MAX_ANNOUNCED_ATTRIBUTES
from likewise.matching.demand.demand_filter import Judged
from likewise.matching.demand.index import DemandIndex
from likewise.matching.demand.score_rows import is_decidable_by_scores
from likewise.matching.registry import Profile
from likewise.model import Subscription
from likewise.model.announcements.announcement import AnnouncedAttribute, Announcement
from likewise.model.text import fold

Key = tuple[str, tuple[str, ...]]  # a source, and the themes of its events
Texts = Callable[[Tenant, str], Iterable[str]]
COMPARED_SECONDS = 30.0  # between two looks at whether what was asked for is held at all


class EdgeDemand(NamedTuple):
    """All that an edge is asked for."""

    filters: dict[str, FilterSpec]
    groups: dict[str, SourceGroupSpec]


class UpstreamDemand(NamedTuple):
    """What the broker above asks of sources that are below this one; None for one that it has not spoken of.

    `trouble` says why it refuses the line; None while it does not.
    """

    requests: Callable[[Sequence[Key]], EdgeDemand | None]
    trouble: Callable[[], str | None] = lambda: None


class _SourceOffer:
    """What is known about one source with certain themes of its events."""

    def __init__(self) -> None:
        self.announced: Announcement | None = None
        self.observed: dict[tuple[str, str], AnnouncedAttribute] = {}
        self.texts: dict[str, dict[str, None]] = {}

    def announcement(self, key: Key) -> Announcement | None:
        """Both as one announcement; None if there is nothing yet."""
        own = () if self.announced is None else self.announced.attributes
        known = {(fold(each.name), each.unit) for each in own}
        more = tuple(each for name, each in self.observed.items() if name not in known)
        attributes = (*own, *more)[:MAX_ANNOUNCED_ATTRIBUTES]
        if not attributes:
            return None
        if self.announced is not None:
            return msgspec.structs.replace(self.announced, attributes=attributes, themes=key[1])
        return Announcement(key[0] or "?", attributes, themes=key[1])


class EdgeDemands:
    """The demand of a tenant's edges; any thread may ask, one at a time is served."""

    def __init__(self, tenant: Tenant, profile: Profile, texts: Texts, decides: Callable[[Subscription], bool]) -> None:
        self._tenant = tenant
        self._texts = texts
        self._decides = decides
        self._index = DemandIndex(tenant.stateless.interpretation, profile)
        self._offered: dict[str, dict[Key, _SourceOffer]] = {}
        self._waiting: deque[int] = deque()  # subscriptions that are not held yet
        self._begins: int | None = None  # up to where entries were not handed over, and may not be applied yet
        self._begun = False
        self._compared = 0.0  # when what is held was last compared with what is compiled
        self._lock = threading.Lock()

    # -- what edges say ---------------------------------------------------------------------------

    def announce(self, edge: str, announcement: Announcement) -> None:
        """A source of an edge announced something."""
        key = (announcement.source, announcement.themes)
        with self._lock:
            for other, offered in self._offered.get(edge, {}).items():
                if other[0] == key[0] and other != key and offered.announced is not None:
                    offered.announced = None
                    self._offer(edge, other, offered)
            offered = self._offered.setdefault(edge, {}).setdefault(key, _SourceOffer())
            if offered.announced is None or not offered.announced.same_as(announcement):
                offered.announced = announcement
                self._offer(edge, key, offered)

    def revoke(self, edge: str, source: str) -> None:
        """What a source announced holds no longer; what was seen of it still counts."""
        with self._lock:
            for key, offered in self._offered.get(edge, {}).items():
                if key[0] == source and offered.announced is not None:
                    offered.announced = None
                    self._offer(edge, key, offered)

    def see(self, edge: str, said: VocabularyFrame) -> None:
        """An edge reports what events of a source have."""
        key = (said.source, said.themes)
        with self._lock:
            offered = self._offered.setdefault(edge, {}).setdefault(key, _SourceOffer())
            before = len(offered.observed) + sum(map(len, offered.texts.values()))
            for each in said.attributes:
                known = offered.observed.get((fold(each.name), each.unit))
                if known is None:
                    offered.observed[fold(each.name), each.unit] = each
                elif known.kind and known.kind != each.kind:
                    offered.observed[fold(each.name), each.unit] = AnnouncedAttribute(each.name, each.unit)
                    before -= 1
            for name, texts in said.texts.items():
                own = offered.texts.setdefault(fold(name), {})
                own.update(dict.fromkeys(texts[: max(0, EDGE_TEXTS - len(own))]))
            if len(offered.observed) + sum(map(len, offered.texts.values())) > before:
                self._offer(edge, key, offered)

    def forget(self, edge: str) -> None:
        """An edge is removed."""
        with self._lock:
            for key in self._offered.pop(edge, {}):
                self._index.revoke(_named(edge, key))

    def _offer(self, edge: str, key: Key, offered: _SourceOffer) -> None:
        said = offered.announcement(key)
        if said is None:
            self._index.revoke(_named(edge, key))
            return
        tenant = self._tenant

        def texts(name: str) -> list[str]:
            return [*self._texts(tenant, name), *offered.texts.get(fold(name), ())]

        self._index.announce(said, texts, _named(edge, key))

    # -- what is held -----------------------------------------------------------------------------

    def take(self, entries: list[Entry]) -> None:
        """New entries are on disk. On the writer's thread: as little as can be."""
        self._waiting.extend(
            e.position
            for e in entries
            if e.kind == COMMAND and e.tenant == self._tenant.number and isinstance(e.value, SubscribeCommand)
        )

    def _take_subscriptions(self) -> None:
        tenant, index = self._tenant, self._index
        applied = tenant.matched  # before it is looked at: what is not held then, up to here, never will be
        if not self._begun:
            self._begins = tenant.appended if self._begins is None else self._begins
            self._begun = applied >= self._begins
            for held in tenant.live():
                self._add(held)
        for number in [self._waiting.popleft() for _ in range(len(self._waiting))]:
            known = tenant.subscriptions.get(number)
            if known is not None and known.ended is None:
                self._add(known)
            elif number > applied:
                self._waiting.append(number)
        for number in list(tenant.ended):
            index.remove(number)
        if time.monotonic() >= self._compared + COMPARED_SECONDS:  # those that were forgotten since the last look
            self._compared = time.monotonic()
            for number in index.numbers() - tenant.subscriptions.keys():
                index.remove(number)

    def _add(self, held: StoredSubscription) -> None:
        if held.number not in self._index and self._decides(held.subscription):
            self._index.add(held.number, held.subscription)

    # -- what is asked ----------------------------------------------------------------------------

    def of(self, edge: str, above: UpstreamDemand | None = None) -> EdgeDemand:
        """What an edge is asked for now; `above` is what the broker above asks of it, if there is one."""
        with self._lock:
            self._take_subscriptions()
            if not self._index.up_to_date():
                self._index.recompile()
            return self._of(edge, above)

    def _of(self, edge: str, above: UpstreamDemand | None) -> EdgeDemand:
        filters: dict[str, FilterSpec] = {}
        groups: dict[str, SourceGroupSpec] = {}
        sources: dict[int, list[Key]] = {}
        known = set(self._index.sources())
        for key in self._offered.get(edge, {}):
            if _named(edge, key) in known:
                sources.setdefault(self._index.group_demand(_named(edge, key)).group, []).append(key)
        for keys in sources.values():
            made, sent = self._group(edge, keys)
            groups[made.group] = made
            filters |= sent
        asked_above = None if above is None else above.requests(list(self._offered.get(edge, {})))
        if asked_above is not None:
            filters |= asked_above.filters
            groups |= asked_above.groups
        return EdgeDemand(filters, groups)

    def _group(self, edge: str, keys: list[Key]) -> tuple[SourceGroupSpec, dict[str, FilterSpec]]:
        """What is asked of sources that offer the same, and its filters: what the edge decides itself apart."""
        source = _named(edge, keys[0])
        asked = self._index.group_demand(source)
        of = {number: self._of_edge(edge, number) for number in (*asked.filters, *asked.unfiltered)}
        sent = {
            number: filter_sent(each.alternatives)
            for number, each in asked.filters.items()
            if (own := of[number]) is None or own.above
        }
        here = {n: own.number for n in sent if (own := of[n]) is not None and self._decided_there(n)}
        columns, scores = self._index.scored(source, list(here)) if here else (None, {})
        name = _group_name(keys)
        made = group_sent(
            name,
            keys,
            {each.number for n, each in sent.items() if n not in here},
            asked.judged,
            any((own := of[n]) is None or own.above for n in asked.unfiltered),
        )
        if columns is not None:
            own_sent = sorted(
                (
                    LocalSubscriptionSpec(here[n], sent[n].number, *msgspec.structs.astuple(each))
                    for n, each in scores.items()
                ),
                key=lambda each: each.subscription,
            )
            values = tuple(TermSpec(t.text, t.theme, t.unit, t.kind, t.context) for t in columns.values)
            made = msgspec.structs.replace(made, own=tuple(own_sent), values=values)
        return made, {each.number: each for each in sent.values()}

    def _decided_there(self, number: int) -> bool:
        """Whether an edge decides a relaxed subscription by scores: nothing else is needed, or laid over events."""
        return not self._index.annotates and is_decidable_by_scores(self._index.subscription(number))

    def _of_edge(self, edge: str, number: int) -> EdgeSubscription | None:
        """The name of a subscription that an edge brought; None if it is another's."""
        held = self._tenant.subscriptions.get(number)
        queue = None if held is None else self._tenant.by_number.get(held.subscriber)
        if held is None or queue is None or queue.id != subscriber_of(edge):
            return None
        return read_name(held.id)


@lru_cache(maxsize=100_000)
def filter_sent(alternatives: Alternatives) -> FilterSpec:
    """A filter under a name for what it says: what is asked of several groups, or by several, is sent once."""
    return FilterSpec(hashlib.sha256(msgspec.json.encode(alternatives)).hexdigest()[:16], alternatives)


def group_sent(
    name: str, keys: Sequence[Key], filters: Iterable[str], judged: Judged, everything: bool
) -> SourceGroupSpec:
    """A group as it is sent, in an order of its own: equal ones are equal."""
    terms = sorted(judged.terms)
    return SourceGroupSpec(
        name,
        tuple(sorted(keys)),
        tuple(sorted(filters)),
        tuple(TermSpec(t.text, t.theme, t.unit, t.kind, t.context) for t in terms),
        dict(sorted(judged.allowed.items())),
        {name: tuple(sorted(texts)) for name, texts in sorted(judged.texts.items())},
        everything,
    )


def _group_name(keys: Sequence[Key]) -> str:
    """A name for a group by its first source: after a restart it is the same."""
    return hashlib.sha256(repr(min(keys)).encode(errors="surrogatepass")).hexdigest()[:12]


def _named(edge: str, key: Key) -> str:
    return "\x00".join((edge, key[0], *key[1]))


def version_of(demand: EdgeDemand) -> str:
    """A name for what a demand says: equal ones have equal names."""
    groups = [msgspec.json.encode(each) for _, each in sorted(demand.groups.items())]
    filters = [msgspec.json.encode(each) for _, each in sorted(demand.filters.items())]
    return hashlib.sha256(b"\n".join((*groups, b"", *filters))).hexdigest()[:16]


def changed(before: EdgeDemand, after: EdgeDemand, version: str, base: str, until: int) -> DemandFrame:
    """What makes one demand another, as the message that says so."""
    return DemandFrame(
        version=version,
        base=base,
        until=until,
        add=tuple(each for id, each in after.filters.items() if before.filters.get(id) != each),
        drop=tuple(id for id in before.filters if id not in after.filters),
        groups=tuple(each for id, each in after.groups.items() if before.groups.get(id) != each),
        gone=tuple(id for id in before.groups if id not in after.groups),
    )
