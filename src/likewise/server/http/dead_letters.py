"""`/v1/dead-letters`: what could not be read, matched or delivered; list, read, retry, remove."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.api.operations import LetterShown
from likewise.broker.log import dead_letters
from likewise.broker.log.dead_letters import DeadLetter
from likewise.broker.log.entries import Retry
from likewise.broker.tenants.tenant import Tenant
from likewise.server.gateway import Door
from likewise.server.http.openapi import documented
from likewise.server.http.requests import admit, answer, door_of, whole
from likewise.server.media_types import Said, Unreadable, read_events

router = APIRouter(tags=["dead letters"])


def _shown(door: Door, tenant: Tenant, letter: DeadLetter) -> LetterShown:
    queue = tenant.by_number.get(letter.subscriber or 0)
    event = ""
    if letter.event is not None:
        entry = next(door.broker.store.entries(letter.event - 1, letter.event), None)
        event = entry.id if entry is not None else ""
    names = tuple(tenant.held[n].id for n in letter.subscriptions if n in tenant.held)
    return LetterShown(
        letter.number,
        letter.at,
        letter.reason,
        letter.detail,
        queue.id if queue is not None else "",
        event,
        names,
        letter.body.decode(errors="replace"),
        letter.media_type,
    )


def _one(door: Door, tenant: Tenant, number: int) -> DeadLetter:
    with door.broker.store.reading() as tables:
        return dead_letters.one(tables, tenant.number, number)


@router.get(
    "/v1/dead-letters",
    **documented(
        "Dead letters, oldest first.",
        answer=LetterShown,
        many=True,
        query={"after": ("integer", "the number before the first one wanted"), "limit": ("integer", "how many")},
    ),
)
async def list_letters(request: Request) -> Response:
    """List dead letters."""
    door = door_of(request)
    _, tenant = admit(door, request, "admin")
    after, limit = whole(request, "after", 0), whole(request, "limit", 100, 1, 1_000)

    def find() -> list[LetterShown]:
        with door.broker.store.reading() as tables:
            letters = dead_letters.listed(tables, tenant.number, after, limit)
        return [_shown(door, tenant, letter) for letter in letters]

    return answer(await door.read(tenant, find))


@router.get("/v1/dead-letters/{number}", **documented("One dead letter.", answer=LetterShown))
async def read_letter(request: Request, number: str) -> Response:
    """Read a dead letter."""
    door = door_of(request)
    _, tenant = admit(door, request, "admin")
    chosen = _number(number)
    return answer(await door.read(tenant, lambda: _shown(door, tenant, _one(door, tenant, chosen))))


@router.post("/v1/dead-letters/{number}/replay", include_in_schema=False)  # its old name
@router.post(
    "/v1/dead-letters/{number}/retry",
    **documented("Try again: publish what was unreadable, or deliver what did not fit. Then it is forgotten."),
)
async def retry(request: Request, number: str) -> Response:
    """Try again what a dead letter is about."""
    door = door_of(request)
    _, tenant = admit(door, request, "admin")
    chosen = _number(number)
    letter = await door.read(tenant, lambda: _one(door, tenant, chosen))
    if letter.reason == "undelivered":
        feed = door.broker.targets.owner(tenant, letter.media_type)
        if feed is not None:
            door.broker.targets.retry(feed, [letter.number])
        else:
            await _forget(door, tenant, chosen)
        return answer({"trying": feed is not None})  # a target takes it, or it comes back as a letter
    if letter.event is None:
        try:
            events = read_events(letter.body, Said.of(letter.media_type or None), door.broker.clock)
        except Unreadable as still:
            raise still.error from still
        await door.publish(tenant, events)
        await _forget(door, tenant, chosen)
        return answer({"published": [event.id for event in events]})
    command = Retry(letter.number, letter.event, letter.subscriber, tuple(letter.subscriptions))
    delivered: Any = await door.answer(lambda done: door.broker.command(tenant, command, done))
    return answer({"delivered": delivered})


@router.delete("/v1/dead-letters/{number}", **documented("Forget a dead letter.", status=204))
async def remove(request: Request, number: str) -> Response:
    """Forget a dead letter."""
    door = door_of(request)
    _, tenant = admit(door, request, "admin")
    chosen = _number(number)
    await door.read(tenant, lambda: _one(door, tenant, chosen))
    await _forget(door, tenant, chosen)
    return Response(status_code=204)


async def _forget(door: Door, tenant: Tenant, number: int) -> None:
    store = door.broker.store
    await door.answer(lambda done: store.write(lambda tables: dead_letters.remove(tables, tenant.number, number), done))


def _number(said: str) -> int:
    from likewise.errors import UnknownId

    if not (said.isascii() and said.isdigit() and len(said) < 19):
        raise UnknownId(said)
    return int(said)
