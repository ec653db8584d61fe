"""`/v1/sources/.../announcement` and `/keep`: what a source says that it can produce, and a person's word."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.api.sources import AnnouncementReceipt
from likewise.broker.tenants.tenant import Tenant
from likewise.model.announcements.announcement import Announcement
from likewise.server.announcements import decode_announcement
from likewise.server.gateway import Gateway
from likewise.server.http.openapi import route_options
from likewise.server.http.requests import authenticate, gateway_of, json_response, read_body

router = APIRouter(tags=["sources"])
_PATH: Final = "/v1/sources/{source:id}/announcement"
_BODIES: Final[dict[str, object]] = {
    "application/json": {
        "attributes": [{"name": "temp1", "unit": "degC", "low": -40, "high": 85}],
        "complete": True,
        "model": "X",
        "place": "roof",
        "interval": 60,
        "lease": 600,
    }
}


def authenticate_source(request: Request, source: str) -> tuple[Gateway, Tenant]:
    """Authenticate a caller that may publish as a source."""
    gateway = gateway_of(request)
    access, tenant = authenticate(gateway, request, "publish")
    access.require_source(source)
    return gateway, tenant


@router.put(
    _PATH,
    **route_options(
        "Announce what a source can produce, until the lease is over; announce again before that to renew it.",
        answer=AnnouncementReceipt,
        bodies=_BODIES,
    ),
)
async def announce(request: Request, source: str) -> Response:
    """Announce a source."""
    gateway, tenant = authenticate_source(request, source)
    announcement = decode_announcement(await read_body(gateway, request), source)
    gateway.check_rate(tenant, 1)
    renewed = await gateway.wait_committed(
        lambda done: gateway.broker.announcements.start_announce(tenant, announcement, done)
    )
    return json_response(AnnouncementReceipt(source, tenant.sources.announcement(source).ends, bool(renewed)))


@router.get(_PATH, **route_options("What a source announced.", answer=Announcement))
async def read_one(request: Request, source: str) -> Response:
    """Read an announcement."""
    _, tenant = authenticate_source(request, source)
    return json_response(tenant.sources.announcement(source).announcement)


@router.delete(_PATH, **route_options("Revoke what a source announced.", status=204))
async def revoke(request: Request, source: str) -> Response:
    """Revoke an announcement."""
    gateway, tenant = authenticate_source(request, source)
    await gateway.wait_committed(lambda done: gateway.broker.announcements.start_revoke(tenant, source, "", done))
    return Response(status_code=204)


@router.put("/v1/sources/{source:id}/keep", **route_options("Keep a source awake, whoever asks for it.", status=204))
async def keep(request: Request, source: str) -> Response:
    """Keep a source awake."""
    gateway, tenant = authenticate_source(request, source)
    await gateway.wait_committed(lambda done: gateway.broker.announcements.start_keep(tenant, source, True, done))
    return Response(status_code=204)


@router.delete(
    "/v1/sources/{source:id}/keep", **route_options("Let a source rest when nobody asks for it.", status=204)
)
async def let_rest(request: Request, source: str) -> Response:
    """Let a source rest."""
    gateway, tenant = authenticate_source(request, source)
    await gateway.wait_committed(lambda done: gateway.broker.announcements.start_keep(tenant, source, False, done))
    return Response(status_code=204)
