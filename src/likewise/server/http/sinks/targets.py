"""`/v1/.../targets`: where matches go out by themselves; set, list, change, remove, and try dead letters again."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.api.sinks import Retried, TargetShown, TargetState
from likewise.broker.tenants.sink_queues import TargetFeed
from likewise.broker.tenants.tenant import Tenant
from likewise.server.gateway import Door
from likewise.server.http.openapi import documented
from likewise.server.http.requests import admit, admit_subscriber, answer, body_of, door_of
from likewise.server.sinks.networks import read_networks
from likewise.server.sinks.settings import check_target, read_target, shown_target

router = APIRouter(tags=["targets"])
_PATH = "/v1/subscribers/{subscriber:id}/subscriptions/{subscription:id}/targets"
_BODIES: dict[str, object] = {
    "application/json": {"kind": "webhook", "url": "https://example.org/matches", "form": "json", "because": True}
}


async def _shown(door: Door, tenant: Tenant, feeds: list[TargetFeed], secret: str = "") -> list[TargetShown]:
    states = await door.read(tenant, lambda: door.broker.targets.states(tenant))
    owners = [(feed, tenant.by_number.get(feed.subscriber)) for feed in feeds]
    return [
        shown_target(feed, queue.id, states.get(feed.number, TargetState()), secret)
        for feed, queue in owners
        if queue is not None
    ]


async def _keep(request: Request, subscriber: str, subscription: str, id: str, *, partly: bool) -> Response:
    door, tenant = admit_subscriber(request, subscriber)
    targets = door.broker.targets
    own = tenant.feeds.of(tenant.subscriber(subscriber).number, subscription)
    known = next((feed for feed in own if feed.id == id), None)
    if partly:
        known = targets.find(tenant, subscriber, subscription, id)
    wanted = read_target(await body_of(door, request), None if known is None else known.setting, partly=partly)
    checked, made = check_target(wanted, read_networks(door.broker.config.targets.allow))
    feed: Any = await door.answer(lambda done: targets.start_set(tenant, subscriber, subscription, id, checked, done))
    [found] = await _shown(door, tenant, [feed], made)
    return answer(found)


@router.put(
    _PATH + "/{id:id}",
    **documented(
        "Set a target of a subscription, or put another in its place; how far it has come stays. Register "
        "the subscriber before; the subscription may follow, then the target gets its first deliveries, too. A "
        "secret that is left out is made, and shown in this answer alone.",
        answer=TargetShown,
        bodies=_BODIES,
    ),
)
async def keep(request: Request, subscriber: str, subscription: str, id: str) -> Response:
    """Set a target."""
    return await _keep(request, subscriber, subscription, id, partly=False)


@router.patch(
    _PATH + "/{id:id}",
    **documented(
        "Change some of a target's settings; what is left out stays.",
        answer=TargetShown,
        bodies={"application/json": {"because": True}},
    ),
)
async def change(request: Request, subscriber: str, subscription: str, id: str) -> Response:
    """Change a target."""
    return await _keep(request, subscriber, subscription, id, partly=True)


@router.get("/v1/targets", **documented("Every target a token may see.", answer=TargetShown, many=True))
async def list_all(request: Request) -> Response:
    """List the targets of every subscriber."""
    door = door_of(request)
    access, tenant = admit(door, request, "subscribe")
    found = await _shown(door, tenant, list(tenant.feeds))
    return answer([each for each in found if access.owns(each.subscriber)])


@router.get(_PATH, **documented("The targets of a subscription.", answer=TargetShown, many=True))
async def list_own(request: Request, subscriber: str, subscription: str) -> Response:
    """List the targets of a subscription."""
    door, tenant = admit_subscriber(request, subscriber)
    number = tenant.subscriber(subscriber).number
    return answer(await _shown(door, tenant, tenant.feeds.of(number, subscription)))


@router.get(_PATH + "/{id:id}", **documented("One target, and how it fares.", answer=TargetShown))
async def read_one(request: Request, subscriber: str, subscription: str, id: str) -> Response:
    """Read a target."""
    door, tenant = admit_subscriber(request, subscriber)
    [found] = await _shown(door, tenant, [door.broker.targets.find(tenant, subscriber, subscription, id)])
    return answer(found)


@router.delete(
    _PATH + "/{id:id}", **documented("Remove a target, what waits for it, and its dead letters.", status=204)
)
async def remove(request: Request, subscriber: str, subscription: str, id: str) -> Response:
    """Remove a target."""
    door, tenant = admit_subscriber(request, subscriber)
    feed = door.broker.targets.find(tenant, subscriber, subscription, id)
    await door.answer(lambda done: door.broker.targets.start_remove(tenant, feed, done))
    return Response(status_code=204)


@router.post(
    _PATH + "/{id:id}/retry",
    **documented(
        "Try the dead letters of a target again, oldest first. What is accepted leaves the list; at the first that is "
        "not taken now it ends, and the rest stay.",
        answer=Retried,
    ),
)
async def retry(request: Request, subscriber: str, subscription: str, id: str) -> Response:
    """Try a target's dead letters again."""
    door, tenant = admit_subscriber(request, subscriber)
    feed = door.broker.targets.find(tenant, subscriber, subscription, id)
    return answer(Retried(await door.read(tenant, lambda: door.broker.targets.retry_all(tenant, feed))))
