"""`/v1/sources/.../announcement` and `/keep`: what a source says that it can produce, and a person's word."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.api.sources import AnnouncementHeld
from likewise.broker.tenants.tenant import Tenant
from likewise.model.announcements.announcement import Announcement
from likewise.server.announcements import read_announcement
from likewise.server.gateway import Door
from likewise.server.http.openapi import documented
from likewise.server.http.requests import admit, answer, body_of, door_of

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


def announcing(request: Request, source: str) -> tuple[Door, Tenant]:
    """Who may speak for a source: who may publish as it."""
    door = door_of(request)
    access, tenant = admit(door, request, "publish")
    access.require_source(source)
    return door, tenant


@router.put(
    _PATH,
    **documented(
        "Announce what a source can produce, until the lease is over; announce again before that to renew it.",
        answer=AnnouncementHeld,
        bodies=_BODIES,
    ),
)
async def announce(request: Request, source: str) -> Response:
    """Announce a source."""
    door, tenant = announcing(request, source)
    announcement = read_announcement(await body_of(door, request), source)
    door.take(tenant, 1)
    renewed = await door.answer(lambda done: door.broker.announcements.start_announce(tenant, announcement, done))
    return answer(AnnouncementHeld(source, tenant.known.announcement(source).ends, bool(renewed)))


@router.get(_PATH, **documented("What a source announced.", answer=Announcement))
async def read_one(request: Request, source: str) -> Response:
    """Read an announcement."""
    _, tenant = announcing(request, source)
    return answer(tenant.known.announcement(source).announcement)


@router.delete(_PATH, **documented("Revoke what a source announced.", status=204))
async def revoke(request: Request, source: str) -> Response:
    """Revoke an announcement."""
    door, tenant = announcing(request, source)
    await door.answer(lambda done: door.broker.announcements.start_revoke(tenant, source, "", done))
    return Response(status_code=204)


@router.put("/v1/sources/{source:id}/keep", **documented("Keep a source awake, whoever asks for it.", status=204))
async def keep(request: Request, source: str) -> Response:
    """Keep a source awake."""
    door, tenant = announcing(request, source)
    await door.answer(lambda done: door.broker.announcements.start_keep(tenant, source, True, done))
    return Response(status_code=204)


@router.delete("/v1/sources/{source:id}/keep", **documented("Let a source rest when nobody asks for it.", status=204))
async def let_rest(request: Request, source: str) -> Response:
    """Let a source rest."""
    door, tenant = announcing(request, source)
    await door.answer(lambda done: door.broker.announcements.start_keep(tenant, source, False, done))
    return Response(status_code=204)
