"""Quotas of a tenant, checked before anything is written, so that nothing has to be rolled back."""

from __future__ import annotations

from collections.abc import Sequence

from likewise.api.subscribers import QueuePolicy
from likewise.broker.config import QueueSettings, TenantLimits
from likewise.broker.log.entries import RegisterCommand
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import DuplicateId, LimitExceeded
from likewise.model import Subscription


def allowed_queue(
    tenant: Tenant, id: str, policy: QueuePolicy | None, limit: int | None, queues: QueueSettings, limits: TenantLimits
) -> RegisterCommand:
    """Return the command that registers a queue; missing settings are the current ones, else the configured ones."""
    known = tenant.subscribers.get(id)
    if known is None and len(tenant.subscribers) >= limits.subscribers:
        raise LimitExceeded("subscribers of a tenant", allowed=limits.subscribers)
    if policy is None:
        policy = known.policy if known is not None else queues.policy
    if limit is None:
        limit = known.limit if known is not None else queues.limit
    if not 1 <= limit <= limits.queue:
        raise LimitExceeded("deliveries a queue may hold (from 1)", allowed=limits.queue, found=limit)
    return RegisterCommand(id, policy, limit)


def check_retained(tenant: Tenant, topic: str, size: int, limits: TenantLimits) -> None:
    """Refuse a retained message past the tenant's limits; one in place of another counts with what it adds.

    Messages that are being written are not counted yet, so a burst may exceed the limits by what is under way.

    Raises:
        LimitExceeded: there would be too many retained topics, or too many bytes in them.
    """
    topics, total = tenant.retained.with_message(topic, size)
    if topics > limits.retained_topics and tenant.retained.with_message(topic, 0)[0] > len(tenant.retained):
        raise LimitExceeded("retained topics of a tenant", allowed=limits.retained_topics, found=topics)
    if total > limits.retained_bytes and total > tenant.retained.bytes:
        raise LimitExceeded("bytes of a tenant's retained messages", allowed=limits.retained_bytes, found=total)


def check_subscriptions(
    tenant: Tenant, subscriber: str, subscriptions: Sequence[Subscription], replace: bool, limits: TenantLimits
) -> None:
    """Refuse too many subscriptions, or an id in use; what comes meanwhile is seen to when they are applied."""
    queue, count = tenant.subscriber(subscriber), len(tenant.stateless) + len(tenant.windows) + len(tenant.alerts)
    new = [each for each in subscriptions if each.id not in queue.subscriptions]
    if count + len(new) > limits.subscriptions:
        raise LimitExceeded("subscriptions of a tenant", allowed=limits.subscriptions, found=count + len(new))
    ids = set() if replace else set(queue.subscriptions)
    for each in subscriptions:
        if each.id in ids:
            raise DuplicateId(each.id)
        ids.add(each.id)
