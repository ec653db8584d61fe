"""`/v1/me`: a subscriber's own subscriptions in words, and what came, in words. Nothing is consumed."""

from __future__ import annotations

from typing import Final

import msgspec
from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.api.deliveries import DeliveryDocument
from likewise.api.mobile import KeyShown, Me, News, OwnSubscription
from likewise.broker.queries.alert_states import alert_shown
from likewise.broker.queries.history import replay
from likewise.broker.queries.match_reasons import because, position_of
from likewise.broker.queries.select import with_selected
from likewise.broker.tenants.queues import SubscriberQueue
from likewise.broker.tenants.tenant import Held, Tenant
from likewise.errors import NotAllowed, UnknownId
from likewise.language import subscription_text
from likewise.language.words import subscription_words
from likewise.server.gateway import Door
from likewise.server.http.openapi import documented
from likewise.server.http.requests import admit, answer, door_of, whole
from likewise.server.sinks.messages import words_about

router = APIRouter(tags=["subscribers"])
LOOKED_BACK: Final = 2_000  # deliveries of the tenant that a first look goes back
SHOWN: Final = 50
KEYS: Final = 20  # of an alert


@router.get(
    "/v1/me",
    **documented(
        "A subscriber's own subscriptions in words, and what came for them; nothing is consumed.",
        answer=Me,
        query={
            "name": ("string", "which subscriber, where several are the caller's"),
            "sequence": ("integer", "the last sequence number seen; only later news are listed"),
        },
    ),
)
async def read_me(request: Request) -> Response:
    """Read what is one's own."""
    door = door_of(request)
    access, tenant = admit(door, request, "subscribe")
    own = tuple(sorted(tenant.subscribers)) if access.free("subscribe") else access.bound("subscribe")
    names = tuple(name for name in own if name in tenant.subscribers)[:1_000]
    wanted = request.query_params.get("name") or (names[0] if names else (own[0] if own else ""))
    if wanted and not access.owns(wanted):
        raise NotAllowed(f"subscribe:{wanted}")
    queue = tenant.subscribers.get(wanted)
    if queue is None:
        if wanted in own or not wanted:  # it has not subscribed to anything yet
            return answer(Me(wanted, own[:1_000], 0))
        raise UnknownId(wanted)
    after = whole(request, "sequence", 0)
    return answer(await door.ask(tenant, lambda: _me(door, tenant, queue, names, after)))


def _me(door: Door, tenant: Tenant, queue: SubscriberQueue, names: tuple[str, ...], after: int) -> Me:
    broker, now = door.broker, door.broker.clock()
    begin = after or max(0, tenant.stored_number - LOOKED_BACK)
    found, last = replay(broker.store, tenant, queue, begin, 10_000 if not after else 200, now)
    newest = with_selected(broker.store, tenant, queue, found[-SHOWN:], now)
    news = [_news(door, tenant, queue, frame, now) for _, frame in newest]
    subscriptions = tuple(_own(tenant, tenant.held[number], now) for number in list(queue.subscriptions.values()))
    return Me(queue.id, names, last, subscriptions, tuple(reversed(news)))


def _own(tenant: Tenant, held: Held, now: int) -> OwnSubscription:
    keys: tuple[KeyShown, ...] = ()
    if held.subscription.alert is not None:
        keys = alert_shown(tenant, held, now, KEYS).keys
    text = subscription_text(held.subscription)
    return OwnSubscription(held.id, text, subscription_words(held.subscription), held.subscription.kind, keys)


def _news(door: Door, tenant: Tenant, queue: SubscriberQueue, frame: bytes, now: int) -> News:
    said = msgspec.json.decode(frame, type=DeliveryDocument)
    met = said.subscriptions[0] if said.subscriptions else None
    id, score = (met.id, met.score) if met is not None else ("", 1.0)
    position = position_of(door.broker.store, tenant, said.sequence)
    numbered = [(queue.subscriptions.get(id, 0), id, score)]
    why = () if position is None else because(door.broker.store, tenant, position, numbered, now)
    words = words_about(frame, said.cause, id, score, why)
    event, at = said.event, said.alert.moment if said.alert is not None else _arrival(door, position)
    return News(
        said.sequence, said.cause, id, words.headline, words.text, score, event.get("id"), event.get("source"), at
    )


def _arrival(door: Door, position: int | None) -> int | None:
    """When the event at a position came."""
    entry = None if position is None else next(door.broker.store.entries(position - 1, position), None)
    return None if entry is None else entry.arrival
