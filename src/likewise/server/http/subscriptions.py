"""`/v1/subscriptions`: create, replace, list, read, delete."""

from __future__ import annotations

from typing import Any

import msgspec
from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.api.subscriptions import SubscriptionShown, SubscriptionsShown
from likewise.broker.queries.term_prefetch import hear_words, with_words
from likewise.broker.tenants.tenant import Held, Tenant
from likewise.errors import InputError
from likewise.formats.json.subscriptions import subscription_to_json
from likewise.language import subscription_text
from likewise.server.http.openapi import documented
from likewise.server.http.requests import admit, admit_subscriber, answer, body_of, door_of, raw_answer
from likewise.server.media_types import Said
from likewise.server.subscription_bodies import read_subscriptions

router = APIRouter(tags=["subscriptions"])
_BODIES: dict[str, object] = {
    "text/plain": "{temperature~ > 25 degC, city = Galway}",
    "application/json": {"v": 1, "text": "{temperature~ > 25 degC, city = Galway}", "id": "warm"},
}


def shown(tenant: Tenant, held: Held) -> SubscriptionShown:
    """A subscription as it is shown."""
    text = subscription_text(held.subscription)
    owner = tenant.by_number[held.subscriber].id
    return SubscriptionShown(owner, held.id, text, held.subscription.kind, held.added, held.ends, tenant.decided(held))


async def _hold(request: Request, subscriber: str, id: str | None) -> tuple[Tenant, list[Held]]:
    door, tenant = admit_subscriber(request, subscriber)
    tenant.subscriber(subscriber)
    found = read_subscriptions(await body_of(door, request), Said.of(request.headers.get("content-type")).name)
    if id is not None:
        if len(found) != 1:
            raise InputError(f"one subscription is replaced by one; found {len(found)}")
        found = [msgspec.structs.replace(found[0], id=id)]
    broker = door.broker
    if broker.staff is None and (asking := with_words(tenant, found)):
        await door.aside(tenant, lambda: hear_words(tenant, asking, broker.clock()))
    replace = id is not None
    held: Any = await door.answer(lambda done: broker.start_subscribe(tenant, subscriber, found, replace, done))
    return tenant, held


@router.post(
    "/v1/subscribers/{subscriber:id}/subscriptions",
    **documented(
        "Subscribe: one or several, as text or JSON. Register the subscriber before (`PUT /v1/subscribers/{id}`). "
        "Valid earlier events that match are delivered first.",
        answer=SubscriptionsShown,
        status=201,
        bodies=_BODIES,
    ),
)
async def create(request: Request, subscriber: str) -> Response:
    """Hold new subscriptions."""
    tenant, held = await _hold(request, subscriber, None)
    return answer(SubscriptionsShown(tuple(shown(tenant, each) for each in held)), 201)


@router.put(
    "/v1/subscribers/{subscriber:id}/subscriptions/{id:id}",
    **documented(
        "Create a subscription under an id, or replace it. Register the subscriber before.",
        answer=SubscriptionShown,
        bodies=_BODIES,
    ),
)
async def replace(request: Request, subscriber: str, id: str) -> Response:
    """Hold a subscription in place of another."""
    tenant, [held] = await _hold(request, subscriber, id)
    return answer(shown(tenant, held))


@router.get(
    "/v1/subscriptions",
    **documented("Every subscription a token may see.", answer=SubscriptionShown, many=True),
)
async def list_all(request: Request) -> Response:
    """List the subscriptions of every subscriber."""
    access, tenant = admit(door_of(request), request, "subscribe")
    found = (shown(tenant, held) for held in tenant.live())
    return answer([each for each in found if access.owns(each.subscriber)])


@router.get(
    "/v1/subscribers/{subscriber:id}/subscriptions",
    **documented("The subscriptions of a subscriber.", answer=SubscriptionShown, many=True),
)
async def list_own(request: Request, subscriber: str) -> Response:
    """List a subscriber's subscriptions."""
    _, tenant = admit_subscriber(request, subscriber)
    numbers = list(tenant.subscriber(subscriber).subscriptions.values())
    return answer([shown(tenant, tenant.held[number]) for number in numbers])


@router.get(
    "/v1/subscribers/{subscriber:id}/subscriptions/{id:id}",
    **documented(
        "One subscription; as its structure with `form=json`.",
        answer=SubscriptionShown,
        query={"form": ("string", "`json` for the published JSON form")},
    ),
)
async def read_one(request: Request, subscriber: str, id: str) -> Response:
    """Read a subscription."""
    _, tenant = admit_subscriber(request, subscriber)
    held = tenant.subscription(subscriber, id)
    if request.query_params.get("form") == "json":
        return raw_answer(subscription_to_json(held.subscription))
    return answer(shown(tenant, held))


@router.delete("/v1/subscribers/{subscriber:id}/subscriptions/{id:id}", **documented("Unsubscribe.", status=204))
async def delete(request: Request, subscriber: str, id: str) -> Response:
    """End a subscription."""
    door, tenant = admit_subscriber(request, subscriber)
    await door.answer(lambda done: door.broker.start_unsubscribe(tenant, subscriber, id, done))
    return Response(status_code=204)
