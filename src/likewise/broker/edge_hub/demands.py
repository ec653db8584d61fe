"""Compile a tenant's subscriptions into the demand for every edge's sources.

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
    """All filters and groups that are requested from an edge."""

    filters: dict[str, FilterSpec]
    groups: dict[str, SourceGroupSpec]


class UpstreamDemand(NamedTuple):
    """The demand of the broker above for sources below this one; None for a source it has not mentioned.

    `trouble` says why it refuses the line; None while it does not.
    """

    requests: Callable[[Sequence[Key]], EdgeDemand | None]
    trouble: Callable[[], str | None] = lambda: None


class _SourceOffer:
    """Known facts about one source with certain themes of its events."""

    def __init__(self) -> None:
        self.announced: Announcement | None = None
        self.observed: dict[tuple[str, str], AnnouncedAttribute] = {}
        self.texts: dict[str, dict[str, None]] = {}

    def announcement(self, key: Key) -> Announcement | None:
        """Return announced and observed attributes as one announcement; None if there are none yet."""
        announced = () if self.announced is None else self.announced.attributes
        known = {(fold(each.name), each.unit) for each in announced}
        more = tuple(each for name, each in self.observed.items() if name not in known)
        attributes = (*announced, *more)[:MAX_ANNOUNCED_ATTRIBUTES]
        if not attributes:
            return None
        if self.announced is not None:
            return msgspec.structs.replace(self.announced, attributes=attributes, themes=key[1])
        return Announcement(key[0] or "?", attributes, themes=key[1])


class EdgeDemands:
    """The demand of a tenant's edges; thread-safe."""

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
        """Take in an announcement of an edge's source."""
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
        """Remove an announcement; the observed attributes of its source still count."""
        with self._lock:
            for key, offered in self._offered.get(edge, {}).items():
                if key[0] == source and offered.announced is not None:
                    offered.announced = None
                    self._offer(edge, key, offered)

    def see(self, edge: str, vocabulary: VocabularyFrame) -> None:
        """Take in an edge's report of observed attributes and texts."""
        key = (vocabulary.source, vocabulary.themes)
        with self._lock:
            offered = self._offered.setdefault(edge, {}).setdefault(key, _SourceOffer())
            before = len(offered.observed) + sum(map(len, offered.texts.values()))
            for each in vocabulary.attributes:
                known = offered.observed.get((fold(each.name), each.unit))
                if known is None:
                    offered.observed[fold(each.name), each.unit] = each
                elif known.kind and known.kind != each.kind:
                    offered.observed[fold(each.name), each.unit] = AnnouncedAttribute(each.name, each.unit)
                    before -= 1
            for name, texts in vocabulary.texts.items():
                known_texts = offered.texts.setdefault(fold(name), {})
                known_texts.update(dict.fromkeys(texts[: max(0, EDGE_TEXTS - len(known_texts))]))
            if len(offered.observed) + sum(map(len, offered.texts.values())) > before:
                self._offer(edge, key, offered)

    def forget(self, edge: str) -> None:
        """Remove an edge."""
        with self._lock:
            for key in self._offered.pop(edge, {}):
                self._index.revoke(_named(edge, key))

    def _offer(self, edge: str, key: Key, offered: _SourceOffer) -> None:
        announcement = offered.announcement(key)
        if announcement is None:
            self._index.revoke(_named(edge, key))
            return
        tenant = self._tenant

        def texts(name: str) -> list[str]:
            return [*self._texts(tenant, name), *offered.texts.get(fold(name), ())]

        self._index.announce(announcement, texts, _named(edge, key))

    # -- what is held -----------------------------------------------------------------------------

    def take(self, entries: list[Entry]) -> None:
        """Take in new entries that are on disk. Called on the writer's thread, so it only appends to a list."""
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
            for stored in tenant.live():
                self._add(stored)
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

    def _add(self, stored: StoredSubscription) -> None:
        if stored.number not in self._index and self._decides(stored.subscription):
            self._index.add(stored.number, stored.subscription)

    # -- what is asked ----------------------------------------------------------------------------

    def of(self, edge: str, above: UpstreamDemand | None = None) -> EdgeDemand:
        """Return the current demand for an edge; `above` adds what the broker above requests of it."""
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
        upstream = None if above is None else above.requests(list(self._offered.get(edge, {})))
        if upstream is not None:
            filters |= upstream.filters
            groups |= upstream.groups
        return EdgeDemand(filters, groups)

    def _group(self, edge: str, keys: list[Key]) -> tuple[SourceGroupSpec, dict[str, FilterSpec]]:
        """Return the demand for sources with the same offer, and its filters; without what the edge decides itself."""
        source = _named(edge, keys[0])
        requested = self._index.group_demand(source)
        of = {number: self._of_edge(edge, number) for number in (*requested.filters, *requested.unfiltered)}
        sent = {
            number: filter_sent(each.alternatives)
            for number, each in requested.filters.items()
            if (edge_subscription := of[number]) is None or edge_subscription.above
        }
        here = {
            n: edge_subscription.number
            for n in sent
            if (edge_subscription := of[n]) is not None and self._decided_there(n)
        }
        columns, scores = self._index.scored(source, list(here)) if here else (None, {})
        name = _group_name(keys)
        made = group_sent(
            name,
            keys,
            {each.number for n, each in sent.items() if n not in here},
            requested.judged,
            any((edge_subscription := of[n]) is None or edge_subscription.above for n in requested.unfiltered),
        )
        if columns is not None:
            scored = sorted(
                (
                    LocalSubscriptionSpec(here[n], sent[n].number, *msgspec.structs.astuple(each))
                    for n, each in scores.items()
                ),
                key=lambda each: each.subscription,
            )
            values = tuple(TermSpec(t.text, t.theme, t.unit, t.kind, t.context) for t in columns.values)
            made = msgspec.structs.replace(made, own=tuple(scored), values=values)
        return made, {each.number: each for each in sent.values()}

    def _decided_there(self, number: int) -> bool:
        """Return whether an edge decides a relaxed subscription by scores alone."""
        return not self._index.annotates and is_decidable_by_scores(self._index.subscription(number))

    def _of_edge(self, edge: str, number: int) -> EdgeSubscription | None:
        """Return the parsed name of a subscription that an edge brought; None if it is another's."""
        stored = self._tenant.subscriptions.get(number)
        queue = None if stored is None else self._tenant.by_number.get(stored.subscriber)
        if stored is None or queue is None or queue.id != subscriber_of(edge):
            return None
        return read_name(stored.id)


@lru_cache(maxsize=100_000)
def filter_sent(alternatives: Alternatives) -> FilterSpec:
    """Return a filter named by its content, so that one that several groups request is sent once."""
    return FilterSpec(hashlib.sha256(msgspec.json.encode(alternatives)).hexdigest()[:16], alternatives)


def group_sent(
    name: str, keys: Sequence[Key], filters: Iterable[str], judged: Judged, all_events: bool
) -> SourceGroupSpec:
    """Return a group in canonical order, so that equal groups compare equal."""
    terms = sorted(judged.terms)
    return SourceGroupSpec(
        name,
        tuple(sorted(keys)),
        tuple(sorted(filters)),
        tuple(TermSpec(t.text, t.theme, t.unit, t.kind, t.context) for t in terms),
        dict(sorted(judged.allowed.items())),
        {name: tuple(sorted(texts)) for name, texts in sorted(judged.texts.items())},
        all_events,
    )


def _group_name(keys: Sequence[Key]) -> str:
    """Return a name for a group by its first source, stable over restarts."""
    return hashlib.sha256(repr(min(keys)).encode(errors="surrogatepass")).hexdigest()[:12]


def _named(edge: str, key: Key) -> str:
    return "\x00".join((edge, key[0], *key[1]))


def version_of(demand: EdgeDemand) -> str:
    """Return the content hash of a demand."""
    groups = [msgspec.json.encode(each) for _, each in sorted(demand.groups.items())]
    filters = [msgspec.json.encode(each) for _, each in sorted(demand.filters.items())]
    return hashlib.sha256(b"\n".join((*groups, b"", *filters))).hexdigest()[:16]


def changed(before: EdgeDemand, after: EdgeDemand, version: str, base: str, until: int) -> DemandFrame:
    """Return the message that turns one demand into another."""
    return DemandFrame(
        version=version,
        base=base,
        until=until,
        add=tuple(each for id, each in after.filters.items() if before.filters.get(id) != each),
        drop=tuple(id for id in before.filters if id not in after.filters),
        groups=tuple(each for id, each in after.groups.items() if before.groups.get(id) != each),
        gone=tuple(id for id in before.groups if id not in after.groups),
    )
