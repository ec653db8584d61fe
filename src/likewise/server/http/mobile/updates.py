"""`/v1/me`: a subscriber's own subscriptions in words, and what came, in words. Nothing is consumed."""

from __future__ import annotations

from typing import Final

import msgspec
from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.api.deliveries import DeliveryDocument
from likewise.api.mobile import AlertKeyDetails, MobileNotification, MobilePage, MobileSubscription
from likewise.broker.queries.alert_states import alert_shown
from likewise.broker.queries.match_reasons import because, position_of
from likewise.broker.queries.replay import replay
from likewise.broker.queries.select import with_selected
from likewise.broker.tenants.queues import SubscriberQueue
from likewise.broker.tenants.tenant import StoredSubscription, Tenant
from likewise.errors import NotAllowed, UnknownId
from likewise.language import subscription_text
from likewise.language.description import describe_subscription
from likewise.server.gateway import Gateway
from likewise.server.http.openapi import route_options
from likewise.server.http.requests import authenticate, integer_parameter, json_response
from likewise.server.sinks.messages import delivery_message

router = APIRouter(tags=["subscribers"])
MAX_DELIVERIES_READ: Final = 2_000  # deliveries of the tenant that a first look goes back
MAX_NOTIFICATIONS: Final = 50
KEYS: Final = 20  # of an alert


@router.get(
    "/v1/me",
    **route_options(
        "A subscriber's own subscriptions in words, and what came for them; nothing is consumed.",
        answer=MobilePage,
        query={
            "name": ("string", "which subscriber, where several are the caller's"),
            "sequence": ("integer", "the last sequence number seen; only later news are listed"),
        },
    ),
)
async def read_me(request: Request) -> Response:
    """Read what is one's own."""
    gateway, access, tenant = authenticate(request, "subscribe")
    allowed = tuple(sorted(tenant.subscribers)) if access.free("subscribe") else access.bound("subscribe")
    names = tuple(name for name in allowed if name in tenant.subscribers)[:1_000]
    requested = request.query_params.get("name") or (names[0] if names else (allowed[0] if allowed else ""))
    if requested and not access.owns(requested):
        raise NotAllowed(f"subscribe:{requested}")
    queue = tenant.subscribers.get(requested)
    if queue is None:
        if requested in allowed or not requested:  # it has not subscribed to anything yet
            return json_response(MobilePage(requested, allowed[:1_000], 0))
        raise UnknownId(requested)
    after = integer_parameter(request, "sequence", 0)
    return json_response(await gateway.query(tenant, lambda: _mobile_page(gateway, tenant, queue, names, after)))


def _mobile_page(
    gateway: Gateway, tenant: Tenant, queue: SubscriberQueue, names: tuple[str, ...], after: int
) -> MobilePage:
    broker, now = gateway.broker, gateway.broker.clock()
    begin = after or max(0, tenant.stored_number - MAX_DELIVERIES_READ)
    deliveries, last = replay(broker.store, tenant, queue, begin, 10_000 if not after else 200, now)
    newest = with_selected(broker.store, tenant, queue, deliveries[-MAX_NOTIFICATIONS:], now)
    news = [_notification(gateway, tenant, queue, frame, now) for _, frame in newest]
    subscriptions = tuple(
        _subscription(tenant, tenant.subscriptions[number], now) for number in list(queue.subscriptions.values())
    )
    return MobilePage(queue.id, names, last, subscriptions, tuple(reversed(news)))


def _subscription(tenant: Tenant, stored: StoredSubscription, now: int) -> MobileSubscription:
    keys: tuple[AlertKeyDetails, ...] = ()
    if stored.subscription.alert is not None:
        keys = alert_shown(tenant, stored, now, KEYS).keys
    text = subscription_text(stored.subscription)
    return MobileSubscription(
        stored.id, text, describe_subscription(stored.subscription), stored.subscription.kind, keys
    )


def _notification(
    gateway: Gateway, tenant: Tenant, queue: SubscriberQueue, frame: bytes, now: int
) -> MobileNotification:
    delivery = msgspec.json.decode(frame, type=DeliveryDocument)
    matched = delivery.subscriptions[0] if delivery.subscriptions else None
    id, score = (matched.id, matched.score) if matched is not None else ("", 1.0)
    position = position_of(gateway.broker.store, tenant, delivery.sequence)
    numbered = [(queue.subscriptions.get(id, 0), id, score)]
    why = () if position is None else because(gateway.broker.store, tenant, position, numbered, now)
    words = delivery_message(frame, delivery.cause, id, score, why)
    event, at = (
        delivery.event,
        delivery.alert.moment if delivery.alert is not None else _arrival_time(gateway, position),
    )
    return MobileNotification(
        delivery.sequence,
        delivery.cause,
        id,
        words.headline,
        words.text,
        score,
        event.get("id"),
        event.get("source"),
        at,
    )


def _arrival_time(gateway: Gateway, position: int | None) -> int | None:
    """Return when the event at a position arrived."""
    entry = None if position is None else next(gateway.broker.store.entries(position - 1, position), None)
    return None if entry is None else entry.arrival
