"""`/v1/events`: publish and withdraw."""

from __future__ import annotations

from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.api.events import PublishReceipts
from likewise.api.live_views import Arrival
from likewise.broker.log.entries import shown_event
from likewise.broker.tenants.access import Access
from likewise.errors import InputError
from likewise.server.http.openapi import route_options
from likewise.server.http.publishing import PATH, publish_request
from likewise.server.http.requests import authenticate, gateway_of, json_response, raw_json_response
from likewise.server.media_types import CLOUDEVENT, CLOUDEVENTS, JSON, LINES, SENML

router = APIRouter(tags=["events"])


_EXAMPLE: dict[str, Any] = {"v": 1, "payload": {"TempC_SHT": 27.1, "city": "Galway"}, "id": "e1", "source": "/roof"}
_CLOUD = {"specversion": "1.0", "id": "e1", "source": "/roof", "type": "reading", "data": {"temp": 27.1}}


@router.post(
    PATH,
    **route_options(
        "Publish events: one, an array, or lines. They are on disk when the answer comes; all of them or none. "
        "RDF is one event for each subject, or with `graph=whole` one for the document.",
        answer=PublishReceipts,
        bodies={
            JSON: _EXAMPLE,
            LINES: '{"temp": 27.1}\n{"temp": 27.3}\n',
            CLOUDEVENT: _CLOUD,
            CLOUDEVENTS: [_CLOUD],
            "text/turtle": "<http://e.org/m1> a <http://e.org/Match> .",
            SENML: [{"bn": "urn:dev:1/", "n": "temp", "u": "Cel", "v": 27.1}],
        },
    ),
)
async def publish_events(request: Request) -> Response:
    """Publish events; answer when they are on disk."""
    # Where we serve, `PublishMiddleware` answers before this; it describes the route, and serves under other servers.
    return raw_json_response(await publish_request(gateway_of(request), request.scope, request.receive))


@router.get(
    "/v1/events/{id:rest}",
    **route_options(
        "A stored event, as it came in.",
        answer=Arrival,
        query={"source": ("string", "the event's source, where several sources share an id")},
    ),
)
async def read_event(request: Request, id: str) -> Response:
    """Read an event."""
    caller = authenticate(request, "subscribe")
    entry = await caller.gateway.read(
        caller.tenant, lambda: caller.stored_event(id, request.query_params.get("source"))
    )
    return json_response(Arrival(entry.position, entry.arrival, shown_event(entry)))


@router.delete(
    "/v1/events/{id:rest}",
    **route_options(
        "Withdraw an event: it is given to nobody any more, and leaves the windows. For tokens bound to its source "
        "(`publish:SOURCE`) and administrators.",
        status=204,
        query={"source": ("string", "the event's source, where several sources share an id")},
    ),
)
async def withdraw(request: Request, id: str) -> Response:
    """Take an event back."""
    gateway, access, tenant = authenticate(request, "publish")
    if not id:
        raise InputError("the event's id is missing: DELETE /v1/events/ID")
    source = request.query_params.get("source")
    sees = partial(_may_know, access)
    entry = await gateway.read(tenant, lambda: gateway.broker.stored_event(tenant, id, source, sees))
    access.require_withdrawing(id, entry.source)
    await gateway.wait_committed(gateway.broker.start_withdraw, tenant, id, entry.source)
    return Response(status_code=204)


def _may_know(access: Access, position: int, source: str) -> bool:
    return access.free("publish") or access.covers(source)
