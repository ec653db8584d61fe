"""`/v1/tallies`, `/v1/series`, `/v1/events` and `/v1/trace`: what was, for somebody who looks back."""

from __future__ import annotations

import asyncio
from weakref import WeakKeyDictionary

from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.broker.asking.stored import FOREVER, series, stored_events
from likewise.broker.asking.tallies import DAY, Tally
from likewise.broker.asking.traces import trace
from likewise.broker.tenants.tenant import Tenant
from likewise.connectors.http.openapi import documented
from likewise.connectors.http.questions import MatcherAnswers, tenant_asking, term
from likewise.connectors.http.requests import answer, whole
from likewise.defaults import MAX_TERM_LENGTH
from likewise.errors import InputError, LimitExceeded
from likewise.formats.wire.looking_back import Series, StoredEvents, Tallies, Trace

router = APIRouter(tags=["looking back"])
_TIMES = {
    "since": ("integer", "the earliest moment of arrival, in µs since 1970"),
    "until": ("integer", "the moment (µs) before which they arrived"),
}
_tallies: WeakKeyDictionary[Tenant, Tally] = WeakKeyDictionary()


@router.get(
    "/v1/tallies",
    **documented(
        "Events and matches by the minute, and how often each subscription was met, and when last.",
        answer=Tallies,
        query={
            "minutes": ("integer", "how far back, at most a day: 1440"),
            "span": ("integer", "minutes that are counted together"),
        },
    ),
)
async def read_tallies(request: Request) -> Response:
    """Count what there is."""
    asking = _watching(request)
    minutes, span = whole(request, "minutes", 60, 1, DAY), whole(request, "span", 1, 1, 60)
    tally = _tallies.setdefault(asking.tenant, Tally())
    broker = asking.door.broker

    def counted() -> Tallies:
        with broker.store.reading() as tables:
            return tally.count(tables, asking.tenant, broker.clock(), minutes, span)

    return answer(await asyncio.to_thread(counted))


@router.get(
    "/v1/series",
    **documented(
        "The numbers of one reading of a source over time, and what was said about them.",
        answer=Series,
        query={
            "source": ("string", "the source"),
            "attribute": ("string", "the reading, as the source names it; without it the first that is a number"),
            **_TIMES,
            "points": ("integer", "how many numbers at most"),
        },
    ),
)
async def read_series(request: Request) -> Response:
    """Read one reading's past."""
    asking = _watching(request)
    source, attribute = term(request, "source"), _text(request, "attribute")
    since, until = whole(request, "since", 0), whole(request, "until", FOREVER)
    points = whole(request, "points", 600, 1, 5_000)
    store, tenant = asking.door.broker.store, asking.tenant
    found = await asyncio.to_thread(series, store, tenant, source, attribute, since=since, until=until, points=points)
    return answer(found)


@router.get(
    "/v1/events",
    **documented(
        "Stored events by filter, the newest first, with what each met.",
        answer=StoredEvents,
        query={
            "containing": ("string", "words that the event holds, in its names, values, themes, id or source"),
            "source": ("string", "its source, as it is written"),
            "subscriber": ("string", "with `subscription`: only what met this"),
            "subscription": ("string", "the subscription's id"),
            **_TIMES,
            "before": ("integer", "the position before which to look; an answer's `before` is where to go on"),
            "limit": ("integer", "how many at most"),
        },
    ),
)
async def list_events(request: Request) -> Response:
    """List stored events."""
    asking = _watching(request)
    subscriber, subscription = _text(request, "subscriber"), _text(request, "subscription")
    if bool(subscriber) != bool(subscription):
        raise InputError("`subscriber` and `subscription` go together")
    before = whole(request, "before", asking.tenant.appended + 1, 0, FOREVER)
    limit, since, until = (
        whole(request, "limit", 100, 1, 1_000),
        whole(request, "since", 0),
        whole(request, "until", FOREVER),
    )
    containing, source = _text(request, "containing"), _text(request, "source") or None
    store, tenant = asking.door.broker.store, asking.tenant
    met = (subscriber, subscription) if subscription else None

    def found() -> StoredEvents:
        return stored_events(
            store, tenant, before=before, limit=limit, source=source, containing=containing, subscription=met,
            since=since, until=until,
        )  # fmt: skip

    return answer(await asyncio.to_thread(found))


@router.get(
    "/v1/trace",
    **documented(
        "What became of a stored event for a subscription: whether it was delivered then, and every step of it.",
        answer=Trace,
        query={
            "event": ("string", "the event's id"),
            "source": ("string", "its source, where several share the id"),
            "subscriber": ("string", "whose subscription"),
            "subscription": ("string", "its id"),
        },
    ),
)
async def read_trace(request: Request) -> Response:
    """Say what became of an event."""
    asking = tenant_asking(request)
    subscriber, subscription = term(request, "subscriber"), term(request, "subscription")
    asking.access.require_subscriber(subscriber)
    event, source = term(request, "event"), _text(request, "source") or None

    def found() -> Trace:
        entry = asking.stored_event(event, source)
        return trace(asking.door.broker.store, asking.tenant, entry, subscriber, subscription)

    return answer(await asyncio.to_thread(found))


def _watching(request: Request) -> MatcherAnswers:
    """Who may see everybody's events and matches."""
    asking = tenant_asking(request)
    asking.access.require_free("subscribe")
    return asking


def _text(request: Request, name: str) -> str:
    said = request.query_params.get(name, "")
    if len(said) > MAX_TERM_LENGTH:
        raise LimitExceeded(f"characters of `{name}`", allowed=MAX_TERM_LENGTH, found=len(said))
    return said
