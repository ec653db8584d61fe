"""`/v1/edges`: brokers at the edge: which there are, how each stands, and forgetting one."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.api.edge_frames import EdgeStatus
from likewise.server.http.openapi import route_options
from likewise.server.http.requests import authenticate, json_response

router = APIRouter(tags=["edges"])


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
