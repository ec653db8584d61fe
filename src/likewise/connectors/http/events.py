"""`/v1/events`: publish and withdraw."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.broker.tenants.tenant import Tenant
from likewise.connectors.door import Door
from likewise.connectors.http.openapi import documented
from likewise.connectors.http.publishing import PATH, publish_request
from likewise.connectors.http.requests import admit, answer, door_of, raw_answer
from likewise.connectors.media_types import CLOUDEVENT, CLOUDEVENTS, JSON, LINES, SENML
from likewise.errors import InputError, UnknownId
from likewise.formats.wire.events import PublishedAll
from likewise.formats.wire.watching import Arrival

router = APIRouter(tags=["events"])


_EXAMPLE: dict[str, Any] = {"v": 1, "payload": {"TempC_SHT": 27.1, "city": "Galway"}, "id": "e1", "source": "/roof"}
_CLOUD = {"specversion": "1.0", "id": "e1", "source": "/roof", "type": "reading", "data": {"temp": 27.1}}


@router.post(
    PATH,
    **documented(
        "Publish events: one, an array, or lines. They are on disk when the answer comes; all of them or none. "
        "RDF is one event for each subject, or with `graph=whole` one for the document.",
        answer=PublishedAll,
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
    """Read, append, and answer when the events are on disk; `Publishing` stands in front of it where we serve."""
    return raw_answer(await publish_request(door_of(request), request.scope, request.receive))


@router.get(
    "/v1/events/{id:path}",
    **documented(
        "A stored event, as it came in.",
        answer=Arrival,
        query={"source": ("string", "the event's source, where several sources share an id")},
    ),
)
async def read_event(request: Request, id: str) -> Response:
    """Read an event."""
    door = door_of(request)
    _, tenant = admit(door, request, "subscribe")
    source = request.query_params.get("source")
    return answer(await asyncio.to_thread(_stored, door, tenant, id, source))


def _stored(door: Door, tenant: Tenant, id: str, source: str | None) -> Arrival:
    position = door.broker.find_event(tenant, id, source)
    entry = next(door.broker.store.entries(position - 1, position), None)
    if entry is None:
        raise UnknownId(id)
    return Arrival(entry.position, entry.arrival, msgspec.json.decode(entry.body))


@router.delete(
    "/v1/events/{id:path}",
    **documented(
        "Withdraw an event: it is given to nobody any more, and leaves the windows.",
        status=204,
        query={"source": ("string", "the event's source, where several sources share an id")},
    ),
)
async def withdraw(request: Request, id: str) -> Response:
    """Take an event back."""
    door = door_of(request)
    _, tenant = admit(door, request, "publish")
    if not id:
        raise InputError("the event's id is missing: DELETE /v1/events/ID")
    source = request.query_params.get("source")
    await door.answer(lambda done: door.broker.start_withdraw(tenant, id, source, done))
    return Response(status_code=204)
