"""`/v1/dead-letters`: what could not be read, matched or delivered; list, read, retry, remove."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.api.operations import DeadLetterDetails
from likewise.broker.log import dead_letters
from likewise.broker.log.dead_letters import DeadLetter
from likewise.broker.log.entries import RetryCommand
from likewise.broker.tenants.tenant import Tenant
from likewise.server.gateway import Gateway
from likewise.server.http.openapi import route_options
from likewise.server.http.requests import authenticate, integer_parameter, json_response
from likewise.server.media_types import MediaType, UnreadableInput, read_events

router = APIRouter(tags=["dead letters"])


def _details(gateway: Gateway, tenant: Tenant, letter: DeadLetter) -> DeadLetterDetails:
    queue = tenant.by_number.get(letter.subscriber or 0)
    event = ""
    if letter.event is not None:
        entry = next(gateway.broker.store.entries(letter.event - 1, letter.event), None)
        event = entry.id if entry is not None else ""
    names = tuple(tenant.subscriptions[n].id for n in letter.subscriptions if n in tenant.subscriptions)
    return DeadLetterDetails(
        letter.number,
        letter.at,
        letter.reason,
        letter.detail,
        max(0.0, (gateway.broker.clock() - letter.at) / 1e6),  # the clock may have been set back since
        queue.id if queue is not None else "",
        event,
        names,
        letter.body.decode(errors="replace"),
        letter.media_type,
    )


def _find(gateway: Gateway, tenant: Tenant, number: int) -> DeadLetter:
    with gateway.broker.store.reading() as tables:
        return dead_letters.one(tables, tenant.number, number)


@router.get(
    "/v1/dead-letters",
    **route_options(
        "Dead letters, oldest first.",
        answer=DeadLetterDetails,
        many=True,
        query={"after": ("integer", "the number before the first one wanted"), "limit": ("integer", "how many")},
    ),
)
async def list_letters(request: Request) -> Response:
    """List dead letters."""
    gateway, _, tenant = authenticate(request, "admin")
    after, limit = integer_parameter(request, "after", 0), integer_parameter(request, "limit", 100, 1, 1_000)

    def find() -> list[DeadLetterDetails]:
        with gateway.broker.store.reading() as tables:
            rows = dead_letters.listed(tables, tenant.number, after, limit)
        return [_details(gateway, tenant, letter) for letter in rows]

    return json_response(await gateway.read(tenant, find))


@router.get("/v1/dead-letters/{number}", **route_options("One dead letter.", answer=DeadLetterDetails))
async def read_letter(request: Request, number: str) -> Response:
    """Read a dead letter."""
    gateway, _, tenant = authenticate(request, "admin")
    chosen = _number(number)
    return json_response(await gateway.read(tenant, lambda: _details(gateway, tenant, _find(gateway, tenant, chosen))))


@router.post("/v1/dead-letters/{number}/replay", include_in_schema=False)  # its old name
@router.post(
    "/v1/dead-letters/{number}/retry",
    **route_options("Try again: publish what was unreadable, or deliver what did not fit. Then it is forgotten."),
)
async def retry(request: Request, number: str) -> Response:
    """Try again what a dead letter is about."""
    gateway, _, tenant = authenticate(request, "admin")
    chosen = _number(number)
    letter = await gateway.read(tenant, lambda: _find(gateway, tenant, chosen))
    if letter.reason == "undelivered":
        feed = gateway.broker.targets.owner(tenant, letter.media_type)
        if feed is not None:
            gateway.broker.targets.retry(feed, [letter.number])
        else:
            await _delete(gateway, tenant, chosen)
        return json_response({"trying": feed is not None})  # a target takes it, or it comes back as a letter
    if letter.event is None:
        try:
            events = read_events(letter.body, MediaType.parse(letter.media_type or None), gateway.broker.clock)
        except UnreadableInput as still:
            raise still.error from still
        await gateway.publish(tenant, events)
        await _delete(gateway, tenant, chosen)
        return json_response({"published": [event.id for event in events]})
    command = RetryCommand(letter.number, letter.event, letter.subscriber, tuple(letter.subscriptions))
    delivered: Any = await gateway.wait_committed(gateway.broker.command, tenant, command)
    return json_response({"delivered": delivered})


@router.delete("/v1/dead-letters/{number}", **route_options("Forget a dead letter.", status=204))
async def remove(request: Request, number: str) -> Response:
    """Forget a dead letter."""
    gateway, _, tenant = authenticate(request, "admin")
    chosen = _number(number)
    await gateway.read(tenant, lambda: _find(gateway, tenant, chosen))
    await _delete(gateway, tenant, chosen)
    return Response(status_code=204)


async def _delete(gateway: Gateway, tenant: Tenant, number: int) -> None:
    store = gateway.broker.store
    await gateway.wait_committed(store.write, lambda tables: dead_letters.remove(tables, tenant.number, number))


def _number(text: str) -> int:
    from likewise.errors import UnknownId

    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise UnknownId(text)
    return int(text)
