"""Who asks for a source by its topics: subscriptions of MQTT's kind are demand as any other.

A source is asked for if a filter takes the topic that it was last seen to publish to, or the topic that is called as
it is. Filters come from whoever holds some: the broker those that are acknowledged, a listener those that are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from likewise.broker.tenants.tenant import Tenant
from likewise.matching.topics.trie import TopicTrie

Filters = Callable[[Tenant], Iterable[str]]


class TopicDemand:
    """Looks up topics among the filters of a tenant; on one thread.

    >>> demand = TopicDemand(lambda tenant: ["home/+/t"])
    >>> demand.bring_up_to_date(None)  # type: ignore[arg-type]
    >>> demand.asks_for(None, ["home/attic/t"]), demand.asks_for(None, ["attic"])  # type: ignore[arg-type]
    (True, False)
    """

    def __init__(self, *filters: Filters) -> None:
        self.filters: list[Filters] = list(filters)
        self._made: dict[Tenant, tuple[frozenset[str], TopicTrie]] = {}

    def asks_for(self, tenant: Tenant, topics: Iterable[str]) -> bool:
        """Whether a filter takes one of some topics."""
        known = self._made.get(tenant)
        return known is not None and any(True for topic in topics for _ in known[1].find(topic))

    def bring_up_to_date(self, tenant: Tenant) -> None:
        """Take in which filters there are now."""
        asked = frozenset(each for filters in self.filters for each in filters(tenant))
        known = self._made.get(tenant)
        if known is None or known[0] != asked:
            trie = TopicTrie()
            for place, each in enumerate(sorted(asked)):
                trie.add(each, place)
            self._made[tenant] = asked, trie
