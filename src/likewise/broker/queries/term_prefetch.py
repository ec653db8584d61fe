"""Prefetch the relatedness of new subscriptions' terms on a thread beside the matching loop.

What relaxed subscriptions need is loaded with the first of them, and each new word takes its time: seconds, where many
come at once. Whoever brings them waits for that by themselves. When the log comes to them, everything is at hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from likewise.broker.cpu_gate import CpuSlices
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import LikewiseError
from likewise.model import Event, EventTuple, Subscription

# Words that no list has, beside a text and a unit: comparing them loads all that comparing words may need.
_PREFETCHED: Final = Event((EventTuple("balu kora", "dino"), EventTuple("mana 2", 3.5, "kWh")))


def with_terms(tenant: Tenant, subscriptions: Sequence[Subscription]) -> list[Subscription]:
    """Return the subscriptions with relaxed terms that are decided here."""
    return [each for each in subscriptions if each.degree > 0 and tenant.decides(each)]


def prefetch_terms(tenant: Tenant, subscriptions: Sequence[Subscription], now: int) -> None:
    """Let a matcher of their own compare their words, in slices; what it finds out, the tenant's know."""
    matcher = tenant.stateless.matcher.alike()
    with CpuSlices() as slices:
        for each in subscriptions:
            with suppress(LikewiseError):  # who subscribes is told when it is to be held
                matcher.add(each, at=now)
            slices.yield_cpu()
        matcher.match(_PREFETCHED, at=now)
