"""What a tenant may add: refused before anything is written, so that nothing has to be taken back."""

from __future__ import annotations

from collections.abc import Sequence

from likewise.broker.config import Limits, Queues
from likewise.broker.store.entries import Register
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import DuplicateId, LimitExceeded
from likewise.formats.wire.subscribers import Policy
from likewise.model import Subscription


def allowed_queue(
    tenant: Tenant, id: str, policy: Policy | None, limit: int | None, queues: Queues, limits: Limits
) -> Register:
    """A subscriber's queue as it is wanted; what is left out is as it was, or as the configuration says."""
    known = tenant.subscribers.get(id)
    if known is None and len(tenant.subscribers) >= limits.subscribers:
        raise LimitExceeded("subscribers of a tenant", allowed=limits.subscribers)
    if policy is None:
        policy = known.policy if known is not None else queues.policy
    if limit is None:
        limit = known.limit if known is not None else queues.limit
    if not 1 <= limit <= limits.queue:
        raise LimitExceeded("deliveries a queue may hold (from 1)", allowed=limits.queue, found=limit)
    return Register(id, policy, limit)


def check_subscriptions(
    tenant: Tenant, subscriber: str, wanted: Sequence[Subscription], replace: bool, limits: Limits
) -> None:
    """Refuse too many subscriptions, or an id in use; what comes meanwhile is seen to when they are applied."""
    queue, held = tenant.subscriber(subscriber), len(tenant.stateless) + len(tenant.windows)
    new = [each for each in wanted if each.id not in queue.subscriptions]
    if held + len(new) > limits.subscriptions:
        raise LimitExceeded("subscriptions of a tenant", allowed=limits.subscriptions, found=held + len(new))
    taken = set() if replace else set(queue.subscriptions)
    for each in wanted:
        if each.id in taken:
            raise DuplicateId(each.id)
        taken.add(each.id)
