"""`/v1/edges`: brokers at the edge: which there are, how each stands, and forgetting one."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.api.edge_frames import EdgeStatus, UplinkRequest, UplinkStatus
from likewise.broker.edge_hub.connections import UplinkControl
from likewise.defaults import TENANT
from likewise.errors import NotAllowed, StateError
from likewise.server.http.openapi import route_options
from likewise.server.http.requests import authenticate, decode_body, gateway_of, json_response, read_body

router = APIRouter(tags=["edges"])


@router.get(
    "/v1/uplink",
    **route_options("Where this broker at the edge connects, and how its connection stands.", answer=UplinkStatus),
)
async def show_uplink(request: Request) -> Response:
    """Show the uplink."""
    return json_response(_uplink(request).status())


@router.put(
    "/v1/uplink",
    **route_options(
        "Connect this broker at the edge to another broker, now and after a restart.",
        answer=UplinkStatus,
        bodies={"application/json": {"upstream": "http://hub:8787"}},
    ),
)
async def connect_uplink(request: Request) -> Response:
    """Connect to a broker."""
    uplink, gateway = _uplink(request), gateway_of(request)
    wanted = decode_body(await read_body(gateway, request), UplinkRequest)
    return json_response(await uplink.switch(wanted.upstream, wanted.token))


@router.delete(
    "/v1/uplink",
    **route_options(
        "Disconnect this broker at the edge; what is to go up waits, and local subscribers are served.",
        answer=UplinkStatus,
    ),
)
async def disconnect_uplink(request: Request) -> Response:
    """Disconnect from the broker above."""
    return json_response(await _uplink(request).switch(None))


def _uplink(request: Request) -> UplinkControl:
    gateway, access, _ = authenticate(request, "admin")
    if access.tenant != TENANT:
        raise NotAllowed(f"the uplink is everybody's: administrators of the tenant {TENANT!r} change it")
    uplink = gateway.broker.edges.uplink
    if uplink is None:
        raise StateError("this broker is none at the edge, so it connects to none; run one with `likewise edge`")
    return uplink


@router.get(
    "/v1/edges",
    **route_options("Every broker at the edge that ever connected, and how it stands.", answer=EdgeStatus, many=True),
)
async def list_edges(request: Request) -> Response:
    """List the tenant's edges."""
    gateway, _, tenant = authenticate(request, "admin")
    return json_response(await gateway.query(tenant, lambda: gateway.broker.edges.shown(tenant)))


@router.get("/v1/edges/{id}", **route_options("How one broker at the edge stands.", answer=EdgeStatus))
async def show_edge(request: Request, id: str) -> Response:
    """Show an edge."""
    gateway, _, tenant = authenticate(request, "admin")
    return json_response(await gateway.query(tenant, lambda: gateway.broker.edges.one_shown(tenant, id)))


@router.delete(
    "/v1/edges/{id}",
    **route_options("Forget a broker at the edge, its subscriptions and what waits for it.", status=204),
)
async def remove_edge(request: Request, id: str) -> Response:
    """Forget an edge."""
    gateway, _, tenant = authenticate(request, "admin")
    await gateway.wait_committed(gateway.broker.edges.start_remove, tenant, id)
    subscriber = gateway.broker.edges.subscriber(id)
    if subscriber in tenant.subscribers:
        await gateway.wait_committed(gateway.broker.start_unregister, tenant, subscriber)
    return Response(status_code=204)
