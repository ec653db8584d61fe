"""`/v1/.../targets`: where matches go out by themselves; set, list, change, remove, and try dead letters again."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.api.sinks import RetryReceipt, TargetDetails, TargetStatus
from likewise.broker.tenants.sink_queues import SinkQueue
from likewise.broker.tenants.tenant import Tenant
from likewise.server.gateway import Gateway
from likewise.server.http.openapi import route_options
from likewise.server.http.requests import authenticate, authenticate_subscriber, json_response, read_body
from likewise.server.sinks.networks import parse_networks
from likewise.server.sinks.settings import check_target, decode_target, target_details

router = APIRouter(tags=["targets"])
_PATH = "/v1/subscribers/{subscriber:id}/subscriptions/{subscription:id}/targets"
_BODIES: dict[str, object] = {
    "application/json": {"kind": "webhook", "url": "https://example.org/matches", "form": "json", "because": True}
}


async def _details(gateway: Gateway, tenant: Tenant, feeds: list[SinkQueue], secret: str = "") -> list[TargetDetails]:
    states = await gateway.read(tenant, lambda: gateway.broker.targets.states(tenant))
    owners = [(feed, tenant.by_number.get(feed.subscriber)) for feed in feeds]
    return [
        target_details(feed, queue.id, states.get(feed.number, TargetStatus()), secret)
        for feed, queue in owners
        if queue is not None
    ]


async def _save(request: Request, subscriber: str, subscription: str, id: str, *, partly: bool) -> Response:
    gateway, tenant = authenticate_subscriber(request, subscriber)
    targets = gateway.broker.targets
    feeds = tenant.sinks.of(tenant.subscriber(subscriber).number, subscription)
    known = next((feed for feed in feeds if feed.id == id), None)
    if partly:
        known = targets.find(tenant, subscriber, subscription, id)
    target = decode_target(await read_body(gateway, request), None if known is None else known.setting, partly=partly)
    checked, made = check_target(target, parse_networks(gateway.broker.config.targets.allow))
    feed: Any = await gateway.wait_committed(targets.start_set, tenant, subscriber, subscription, id, checked)
    [details] = await _details(gateway, tenant, [feed], made)
    return json_response(details)


@router.put(
    _PATH + "/{id:id}",
    **route_options(
        "Set a target of a subscription, or put another in its place; how far it has come stays. Register "
        "the subscriber before; the subscription may follow, then the target gets its first deliveries, too. A "
        "secret that is left out is made, and shown in this answer alone.",
        answer=TargetDetails,
        bodies=_BODIES,
    ),
)
async def keep(request: Request, subscriber: str, subscription: str, id: str) -> Response:
    """Set a target."""
    return await _save(request, subscriber, subscription, id, partly=False)


@router.patch(
    _PATH + "/{id:id}",
    **route_options(
        "Change some of a target's settings; what is left out stays.",
        answer=TargetDetails,
        bodies={"application/json": {"because": True}},
    ),
)
async def change(request: Request, subscriber: str, subscription: str, id: str) -> Response:
    """Change a target."""
    return await _save(request, subscriber, subscription, id, partly=True)


@router.get("/v1/targets", **route_options("Every target a token may see.", answer=TargetDetails, many=True))
async def list_all(request: Request) -> Response:
    """List the targets of every subscriber."""
    gateway, access, tenant = authenticate(request, "subscribe")
    targets = await _details(gateway, tenant, list(tenant.sinks))
    return json_response([each for each in targets if access.owns(each.subscriber)])


@router.get(_PATH, **route_options("The targets of a subscription.", answer=TargetDetails, many=True))
async def list_own(request: Request, subscriber: str, subscription: str) -> Response:
    """List the targets of a subscription."""
    gateway, tenant = authenticate_subscriber(request, subscriber)
    number = tenant.subscriber(subscriber).number
    return json_response(await _details(gateway, tenant, tenant.sinks.of(number, subscription)))


@router.get(_PATH + "/{id:id}", **route_options("One target, and how it fares.", answer=TargetDetails))
async def read_one(request: Request, subscriber: str, subscription: str, id: str) -> Response:
    """Read a target."""
    gateway, tenant = authenticate_subscriber(request, subscriber)
    [details] = await _details(gateway, tenant, [gateway.broker.targets.find(tenant, subscriber, subscription, id)])
    return json_response(details)


@router.delete(
    _PATH + "/{id:id}", **route_options("Remove a target, what waits for it, and its dead letters.", status=204)
)
async def remove(request: Request, subscriber: str, subscription: str, id: str) -> Response:
    """Remove a target."""
    gateway, tenant = authenticate_subscriber(request, subscriber)
    feed = gateway.broker.targets.find(tenant, subscriber, subscription, id)
    await gateway.wait_committed(gateway.broker.targets.start_remove, tenant, feed)
    return Response(status_code=204)


@router.post(
    _PATH + "/{id:id}/retry",
    **route_options(
        "Try the dead letters of a target again, oldest first. What is accepted leaves the list; at the first that is "
        "not taken now it ends, and the rest stay.",
        answer=RetryReceipt,
    ),
)
async def retry(request: Request, subscriber: str, subscription: str, id: str) -> Response:
    """Try a target's dead letters again."""
    gateway, tenant = authenticate_subscriber(request, subscriber)
    feed = gateway.broker.targets.find(tenant, subscriber, subscription, id)
    return json_response(
        RetryReceipt(await gateway.read(tenant, lambda: gateway.broker.targets.retry_all(tenant, feed)))
    )
