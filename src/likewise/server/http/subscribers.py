"""`/v1/subscribers`: register, unregister; what waits, and acknowledgements."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.api.deliveries import Acknowledged, Pending
from likewise.api.subscribers import QueueWanted, SubscriberShown
from likewise.broker.queries.history import replay
from likewise.broker.queries.match_reasons import with_reasons
from likewise.broker.queries.select import selects, with_selected
from likewise.broker.tenants.queues import SubscriberQueue
from likewise.defaults import MAX_TERM_LENGTH
from likewise.errors import InputError, LimitExceeded
from likewise.server.http.openapi import documented
from likewise.server.http.requests import (
    admit,
    admit_subscriber,
    answer,
    body_of,
    door_of,
    flag,
    raw_answer,
    read,
    sequence_in,
    whole,
)

router = APIRouter(tags=["subscribers"])


def shown(queue: SubscriberQueue) -> SubscriberShown:
    """A subscriber as it is shown."""
    return SubscriberShown(
        queue.id,
        queue.policy,
        queue.limit,
        len(queue),
        queue.acknowledged,
        queue.dropped,
        len(queue.subscriptions),
        queue.served_by is not None,
    )


@router.put(
    "/v1/subscribers/{id:id}",
    **documented(
        "Register a subscriber, or change its queue; what waits for it stays.",
        answer=SubscriberShown,
        bodies={"application/json": {"policy": "drop-oldest", "limit": 1000}},
    ),
)
async def register(request: Request, id: str) -> Response:
    """Register a subscriber."""
    door, tenant = admit_subscriber(request, id)
    if not id.strip() or not id.isprintable():
        raise InputError("a subscriber's id needs printable text")
    if len(id) > MAX_TERM_LENGTH:
        raise LimitExceeded("characters of an id", allowed=MAX_TERM_LENGTH, found=len(id))
    body = await body_of(door, request)
    wanted = read(body, QueueWanted) if body.strip() else QueueWanted()
    queue: Any = await door.answer(
        lambda done: door.broker.start_register(tenant, id, wanted.policy, wanted.limit, done)
    )
    return answer(shown(queue))


@router.get(
    "/v1/subscribers",
    **documented("The registered subscribers a token may see.", answer=SubscriberShown, many=True),
)
async def list_subscribers(request: Request) -> Response:
    """List subscribers."""
    access, tenant = admit(door_of(request), request, "subscribe")
    return answer([shown(queue) for queue in list(tenant.subscribers.values()) if access.owns(queue.id)])


@router.get("/v1/subscribers/{id:id}", **documented("One subscriber and its queue.", answer=SubscriberShown))
async def read_subscriber(request: Request, id: str) -> Response:
    """Read a subscriber."""
    _, tenant = admit_subscriber(request, id)
    return answer(shown(tenant.subscriber(id)))


@router.delete(
    "/v1/subscribers/{id:id}",
    **documented("Unregister: forget a subscriber, its subscriptions and its queue.", status=204),
)
async def unregister(request: Request, id: str) -> Response:
    """Unregister a subscriber."""
    door, tenant = admit_subscriber(request, id)
    await door.answer(lambda done: door.broker.start_unregister(tenant, id, done))
    return Response(status_code=204)


@router.get(
    "/v1/subscribers/{id:id}/deliveries",
    **documented(
        "The deliveries after a sequence number: what is pending or, with `replay=true`, everything still kept, "
        "acknowledged or not.",
        answer=Pending,
        query={
            "sequence": ("integer", "the sequence number before the first one wanted; `after` is its old name"),
            "limit": ("integer", "how many at most"),
            "replay": ("boolean", "`true` for acknowledged deliveries, too, as long as their events are kept"),
            "because": ("boolean", "`true` for the readings that met each delivery"),
        },
    ),
)
async def pending(request: Request, id: str) -> Response:
    """Read what is pending, or replay what was given before."""
    door, tenant = admit_subscriber(request, id)
    queue, after, limit = tenant.subscriber(id), sequence_in(request, "after"), whole(request, "limit", 100, 1, 10_000)
    broker = door.broker
    because = flag(request, "because")
    if flag(request, "replay"):
        page, last = await door.read(tenant, lambda: replay(broker.store, tenant, queue, after, limit, broker.clock()))
    else:
        page = await door.read(tenant, lambda: broker.page(tenant, queue, after=after, limit=limit))
        last = page[-1][0] if page else after
    if selects(tenant, queue):
        page = await door.ask(tenant, lambda: with_selected(broker.store, tenant, queue, page, broker.clock()))
    if because:
        page = await door.ask(tenant, lambda: with_reasons(broker.store, tenant, queue, page, broker.clock()))
    return raw_answer(b'{"deliveries":[%s],"sequence":%d}' % (b",".join(frame for _, frame in page), last))


@router.post(
    "/v1/subscribers/{id:id}/acknowledgements",
    **documented(
        "Acknowledge everything up to a sequence number; it is on disk when the answer comes.",
        status=204,
        bodies={"application/json": {"sequence": 12}},
    ),
)
async def acknowledge(request: Request, id: str) -> Response:
    """Acknowledge deliveries."""
    door, tenant = admit_subscriber(request, id)
    said = read(await body_of(door, request), Acknowledged)
    await door.answer(lambda done: door.broker.acknowledge(tenant, id, said.number, done))
    return Response(status_code=204)
