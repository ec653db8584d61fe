"""`/v1/subscribers`: register, unregister; what waits, and acknowledgements."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.api.deliveries import DeliveryAck, DeliveryPage
from likewise.api.subscribers import QueueRequest, SubscriberDetails
from likewise.broker.queries.match_reasons import with_reasons
from likewise.broker.queries.replay import replay
from likewise.broker.queries.select import selects, with_selected
from likewise.broker.tenants.queues import SubscriberQueue
from likewise.defaults import MAX_TERM_LENGTH
from likewise.errors import InputError, LimitExceeded
from likewise.server.http.openapi import route_options
from likewise.server.http.requests import (
    authenticate,
    authenticate_subscriber,
    decode_body,
    flag_parameter,
    integer_parameter,
    json_response,
    raw_json_response,
    read_body,
    sequence_parameter,
)

router = APIRouter(tags=["subscribers"])


def subscriber_details(queue: SubscriberQueue) -> SubscriberDetails:
    """Return a subscriber as a response."""
    return SubscriberDetails(
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
    **route_options(
        "Register a subscriber, or change its queue; what waits for it stays.",
        answer=SubscriberDetails,
        bodies={"application/json": {"policy": "drop-oldest", "limit": 1000}},
    ),
)
async def register(request: Request, id: str) -> Response:
    """Register a subscriber."""
    gateway, tenant = authenticate_subscriber(request, id)
    if not id.strip() or not id.isprintable():
        raise InputError("a subscriber's id needs printable text")
    if len(id) > MAX_TERM_LENGTH:
        raise LimitExceeded("characters of an id", allowed=MAX_TERM_LENGTH, found=len(id))
    body = await read_body(gateway, request)
    settings = decode_body(body, QueueRequest) if body.strip() else QueueRequest()
    queue: Any = await gateway.wait_committed(
        gateway.broker.start_register, tenant, id, settings.policy, settings.limit
    )
    return json_response(subscriber_details(queue))


@router.get(
    "/v1/subscribers",
    **route_options("The registered subscribers a token may see.", answer=SubscriberDetails, many=True),
)
async def list_subscribers(request: Request) -> Response:
    """List subscribers."""
    _, access, tenant = authenticate(request, "subscribe")
    return json_response(
        [subscriber_details(queue) for queue in list(tenant.subscribers.values()) if access.owns(queue.id)]
    )


@router.get("/v1/subscribers/{id:id}", **route_options("One subscriber and its queue.", answer=SubscriberDetails))
async def read_subscriber(request: Request, id: str) -> Response:
    """Read a subscriber."""
    _, tenant = authenticate_subscriber(request, id)
    return json_response(subscriber_details(tenant.subscriber(id)))


@router.delete(
    "/v1/subscribers/{id:id}",
    **route_options("Unregister: forget a subscriber, its subscriptions and its queue.", status=204),
)
async def unregister(request: Request, id: str) -> Response:
    """Unregister a subscriber."""
    gateway, tenant = authenticate_subscriber(request, id)
    await gateway.wait_committed(gateway.broker.start_unregister, tenant, id)
    return Response(status_code=204)


@router.get(
    "/v1/subscribers/{id:id}/deliveries",
    **route_options(
        "The deliveries after a sequence number: what is pending or, with `replay=true`, everything still kept, "
        "acknowledged or not.",
        answer=DeliveryPage,
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
    gateway, tenant = authenticate_subscriber(request, id)
    queue, after, limit = (
        tenant.subscriber(id),
        sequence_parameter(request, "after"),
        integer_parameter(request, "limit", 100, 1, 10_000),
    )
    broker = gateway.broker
    because = flag_parameter(request, "because")
    if flag_parameter(request, "replay"):
        page, last = await gateway.read(
            tenant, lambda: replay(broker.store, tenant, queue, after, limit, broker.clock())
        )
    else:
        page = await gateway.read(tenant, lambda: broker.page(tenant, queue, after=after, limit=limit))
        last = page[-1][0] if page else after
    if selects(tenant, queue):
        page = await gateway.query(tenant, lambda: with_selected(broker.store, tenant, queue, page, broker.clock()))
    if because:
        page = await gateway.query(tenant, lambda: with_reasons(broker.store, tenant, queue, page, broker.clock()))
    return raw_json_response(b'{"deliveries":[%s],"sequence":%d}' % (b",".join(frame for _, frame in page), last))


@router.post(
    "/v1/subscribers/{id:id}/acknowledgements",
    **route_options(
        "Acknowledge everything up to a sequence number; it is on disk when the answer comes.",
        status=204,
        bodies={"application/json": {"sequence": 12}},
    ),
)
async def acknowledge(request: Request, id: str) -> Response:
    """Acknowledge deliveries."""
    gateway, tenant = authenticate_subscriber(request, id)
    ack = decode_body(await read_body(gateway, request), DeliveryAck)
    await gateway.wait_committed(gateway.broker.acknowledge, tenant, id, ack.number)
    return Response(status_code=204)
