"""`/v1/subscriptions`: create, replace, list, read, delete."""

from __future__ import annotations

from typing import Any

import msgspec
from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.api.subscriptions import SubscriptionDetails, SubscriptionList
from likewise.broker.queries.term_prefetch import prefetch_terms, with_terms
from likewise.broker.tenants.tenant import StoredSubscription, Tenant
from likewise.errors import InputError
from likewise.formats.json.subscriptions import subscription_to_json
from likewise.language import subscription_text
from likewise.server.http.openapi import route_options
from likewise.server.http.requests import (
    authenticate,
    authenticate_subscriber,
    json_response,
    raw_json_response,
    read_body,
)
from likewise.server.media_types import MediaType
from likewise.server.subscription_bodies import decode_subscriptions

router = APIRouter(tags=["subscriptions"])
_BODIES: dict[str, object] = {
    "text/plain": "{temperature~ > 25 degC, city = Galway}",
    "application/json": {"v": 1, "text": "{temperature~ > 25 degC, city = Galway}", "id": "warm"},
}


def subscription_details(tenant: Tenant, stored: StoredSubscription) -> SubscriptionDetails:
    """Return a subscription as a response."""
    text = subscription_text(stored.subscription)
    owner = tenant.by_number[stored.subscriber].id
    return SubscriptionDetails(
        owner, stored.id, text, stored.subscription.kind, stored.added, stored.ends, tenant.decided(stored)
    )


async def _store(request: Request, subscriber: str, id: str | None) -> tuple[Tenant, list[StoredSubscription]]:
    gateway, tenant = authenticate_subscriber(request, subscriber)
    tenant.subscriber(subscriber)
    subscriptions = decode_subscriptions(
        await read_body(gateway, request), MediaType.parse(request.headers.get("content-type")).name
    )
    if id is not None:
        if len(subscriptions) != 1:
            raise InputError(f"one subscription is replaced by one; found {len(subscriptions)}")
        subscriptions = [msgspec.structs.replace(subscriptions[0], id=id)]
    broker = gateway.broker
    if broker.topology is None and (concerned := with_terms(tenant, subscriptions)):
        await gateway.run_off_loop(tenant, lambda: prefetch_terms(tenant, concerned, broker.clock()))
    replace = id is not None
    stored: Any = await gateway.wait_committed(broker.start_subscribe, tenant, subscriber, subscriptions, replace)
    return tenant, stored


@router.post(
    "/v1/subscribers/{subscriber:id}/subscriptions",
    **route_options(
        "Subscribe: one or several, as text or JSON. Register the subscriber before (`PUT /v1/subscribers/{id}`). "
        "Valid earlier events that match are delivered first.",
        answer=SubscriptionList,
        status=201,
        bodies=_BODIES,
    ),
)
async def create(request: Request, subscriber: str) -> Response:
    """Hold new subscriptions."""
    tenant, stored = await _store(request, subscriber, None)
    return json_response(SubscriptionList(tuple(subscription_details(tenant, each) for each in stored)), 201)


@router.put(
    "/v1/subscribers/{subscriber:id}/subscriptions/{id:id}",
    **route_options(
        "Create a subscription under an id, or replace it. Register the subscriber before.",
        answer=SubscriptionDetails,
        bodies=_BODIES,
    ),
)
async def replace(request: Request, subscriber: str, id: str) -> Response:
    """Hold a subscription in place of another."""
    tenant, [stored] = await _store(request, subscriber, id)
    return json_response(subscription_details(tenant, stored))


@router.get(
    "/v1/subscriptions",
    **route_options("Every subscription a token may see.", answer=SubscriptionDetails, many=True),
)
async def list_all(request: Request) -> Response:
    """List the subscriptions of every subscriber."""
    _, access, tenant = authenticate(request, "subscribe")
    details = (subscription_details(tenant, stored) for stored in tenant.live())
    return json_response([each for each in details if access.owns(each.subscriber)])


@router.get(
    "/v1/subscribers/{subscriber:id}/subscriptions",
    **route_options("The subscriptions of a subscriber.", answer=SubscriptionDetails, many=True),
)
async def list_own(request: Request, subscriber: str) -> Response:
    """List a subscriber's subscriptions."""
    _, tenant = authenticate_subscriber(request, subscriber)
    numbers = list(tenant.subscriber(subscriber).subscriptions.values())
    return json_response([subscription_details(tenant, tenant.subscriptions[number]) for number in numbers])


@router.get(
    "/v1/subscribers/{subscriber:id}/subscriptions/{id:id}",
    **route_options(
        "One subscription; as its structure with `form=json`.",
        answer=SubscriptionDetails,
        query={"form": ("string", "`json` for the published JSON form")},
    ),
)
async def read_one(request: Request, subscriber: str, id: str) -> Response:
    """Read a subscription."""
    _, tenant = authenticate_subscriber(request, subscriber)
    stored = tenant.subscription(subscriber, id)
    if request.query_params.get("form") == "json":
        return raw_json_response(subscription_to_json(stored.subscription))
    return json_response(subscription_details(tenant, stored))


@router.delete("/v1/subscribers/{subscriber:id}/subscriptions/{id:id}", **route_options("Unsubscribe.", status=204))
async def delete(request: Request, subscriber: str, id: str) -> Response:
    """End a subscription."""
    gateway, tenant = authenticate_subscriber(request, subscriber)
    await gateway.wait_committed(gateway.broker.start_unsubscribe, tenant, subscriber, id)
    return Response(status_code=204)
