"""`/v1/events`: publish and withdraw."""

from __future__ import annotations

import time
from typing import Any

import msgspec
from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.broker import dead_letters
from likewise.broker.log import Receipt
from likewise.connectors.documented import documented
from likewise.connectors.gate import Gate, answer, gate_of
from likewise.connectors.reading import CLOUDEVENT, CLOUDEVENTS, JSON, LINES, SENML, Unreadable, media_type, read_events
from likewise.errors import InputError

router = APIRouter(tags=["events"])


class Published(msgspec.Struct, frozen=True):
    """One event as it is kept: its id, its position in the log, and whether it was there before."""

    id: str
    position: int
    duplicate: bool


class PublishedAll(msgspec.Struct, frozen=True):
    """The events of one request, in their order."""

    events: tuple[Published, ...]


_EXAMPLE: dict[str, Any] = {"v": 1, "payload": {"TempC_SHT": 27.1, "city": "Galway"}, "id": "e1", "source": "/roof"}
_CLOUD = {"specversion": "1.0", "id": "e1", "source": "/roof", "type": "reading", "data": {"temp": 27.1}}


@router.post(
    "/v1/events",
    **documented(
        "Publish events: one, an array, or lines. They are on disk when the answer comes; all of them or none.",
        answer=PublishedAll,
        bodies={
            JSON: _EXAMPLE,
            LINES[0]: '{"temp": 27.1}\n{"temp": 27.3}\n',
            CLOUDEVENT: _CLOUD,
            CLOUDEVENTS: [_CLOUD],
            SENML: [{"bn": "urn:dev:1/", "n": "temp", "u": "Cel", "v": 27.1}],
        },
    ),
)
async def publish(request: Request) -> Response:
    """Read, append, and answer when the events are on disk."""
    begun = time.perf_counter()
    gate = gate_of(request)
    _, tenant = gate.admit(request, "publish")
    body = await gate.body(request)
    broker = gate.broker
    try:
        events = read_events(body, media_type(request.headers.get("content-type")), broker.clock())
    except Unreadable as refused:
        await _set_aside(gate, tenant.number, refused)
        raise refused.error from refused
    gate.take(tenant, len(events))
    await gate.unblocked(tenant)
    receipts: Any = await gate.answer(lambda done: broker.start_publish(tenant, events, done))
    broker.metrics.publishing.observe(time.perf_counter() - begun)
    return answer({"events": [_shown(receipt) for receipt in receipts]})


def _shown(receipt: Receipt) -> Published:
    return Published(receipt.id, receipt.position, receipt.duplicate)


async def _set_aside(gate: Gate, tenant: int, refused: Unreadable) -> None:
    """Keep what could not be read, so that it can be looked at and replayed."""
    detail = str(refused.error)
    letter = dead_letters.NewLetter(tenant, gate.broker.clock(), "unreadable", detail[:2000], body=refused.part)
    await gate.answer(lambda done: gate.broker.store.write(lambda c: dead_letters.insert(c, [letter]), done))


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
    gate = gate_of(request)
    _, tenant = gate.admit(request, "publish")
    if not id:
        raise InputError("the event's id is missing: DELETE /v1/events/ID")
    source = request.query_params.get("source")
    await gate.answer(lambda done: gate.broker.start_withdraw(tenant, id, source, done))
    return Response(status_code=204)
