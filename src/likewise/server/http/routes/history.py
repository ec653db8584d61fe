"""`/v1/tallies`, `/v1/series`, `/v1/events` and `/v1/trace`: what was, for somebody who looks back.

Each is a function of who asks and of the query, which runs beside the loop: reading the store may take a while.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias
from weakref import WeakKeyDictionary

from fastapi import APIRouter, Request
from fastapi.responses import Response

from likewise.api.history import EventCounts, StoredEvents, TimeSeries, Trace
from likewise.broker.queries.counts import DAY, ActivityCounts
from likewise.broker.queries.stored_events import FOREVER, series, stored_events
from likewise.broker.queries.traces import trace
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import MAX_TERM_LENGTH
from likewise.errors import InputError, LimitExceeded
from likewise.server.http.openapi import route_options
from likewise.server.http.requests import Caller, authenticate, integer_parameter, json_response, term

Look: TypeAlias = Callable[[Caller, Request], object]

router = APIRouter(tags=["looking back"])
_TIMES = {
    "since": ("integer", "the earliest moment of arrival, in µs since 1970"),
    "until": ("integer", "the moment (µs) before which they arrived"),
}
_counts: WeakKeyDictionary[Tenant, ActivityCounts] = WeakKeyDictionary()


def _route(
    path: str, summary: str, kind: type, query: dict[str, tuple[str, str]], *, one_subscriber: bool = False
) -> Callable[[Look], Look]:
    """Open an address that answers with what a look finds: at everybody's events, or `own` at one subscriber's."""

    def opened(look: Look) -> Look:
        async def door(request: Request) -> Response:
            caller = authenticate(request, "subscribe")
            if not one_subscriber:
                caller.access.require_free("subscribe")
            return json_response(await caller.gateway.query(caller.tenant, lambda: look(caller, request)))

        options = route_options(summary, answer=kind, query=query)
        router.get(path, name=look.__name__, description=look.__doc__, **options)(door)
        return look

    return opened


@_route(
    "/v1/tallies",
    "Events and matches by the minute, and how often each subscription was met, and when last.",
    EventCounts,
    {
        "minutes": ("integer", "how far back, at most a day: 1440"),
        "span": ("integer", "minutes that are counted together"),
    },
)
def read_tallies(caller: Caller, request: Request) -> EventCounts:
    """Count what there is."""
    minutes, span = integer_parameter(request, "minutes", 60, 1, DAY), integer_parameter(request, "span", 1, 1, 60)
    broker, tally = caller.gateway.broker, _counts.setdefault(caller.tenant, ActivityCounts())
    with broker.store.reading() as tables:
        return tally.count(tables, caller.tenant, broker.clock(), minutes, span)


@_route(
    "/v1/series",
    "The numbers of one reading of a source over time, and what was said about them.",
    TimeSeries,
    {
        "source": ("string", "the source"),
        "attribute": ("string", "the reading, as the source names it; without it the first that is a number"),
        **_TIMES,
        "points": ("integer", "how many numbers at most"),
    },
)
def read_series(caller: Caller, request: Request) -> TimeSeries:
    """Read one reading's past."""
    return series(
        caller.gateway.broker.store,
        caller.tenant,
        term(request, "source"),
        _text(request, "attribute"),
        since=integer_parameter(request, "since", 0),
        until=integer_parameter(request, "until", FOREVER),
        points=integer_parameter(request, "points", 600, 1, 5_000),
    )


@_route(
    "/v1/events",
    "Stored events by filter, the newest first, with what each met.",
    StoredEvents,
    {
        "containing": ("string", "words that the event holds, in its names, values, themes, id or source"),
        "source": ("string", "its source, as it is written"),
        "subscriber": ("string", "with `subscription`: only what met this"),
        "subscription": ("string", "the subscription's id"),
        **_TIMES,
        "before": ("integer", "the position before which to look; an answer's `before` is where to go on"),
        "limit": ("integer", "how many at most"),
    },
)
def list_events(caller: Caller, request: Request) -> StoredEvents:
    """List stored events."""
    recipient = (_text(request, "subscriber"), _text(request, "subscription"))
    if bool(recipient[0]) != bool(recipient[1]):
        raise InputError("`subscriber` and `subscription` go together")
    before = integer_parameter(request, "before", caller.tenant.appended + 1, 0, FOREVER)
    return stored_events(
        caller.gateway.broker.store,
        caller.tenant,
        before=before,
        limit=integer_parameter(request, "limit", 100, 1, 1_000),
        source=_text(request, "source") or None,
        containing=_text(request, "containing"),
        subscription=recipient if all(recipient) else None,
        since=integer_parameter(request, "since", 0),
        until=integer_parameter(request, "until", FOREVER),
    )


@_route(
    "/v1/trace",
    "What became of a stored event for a subscription: whether it was delivered then, and every step of it.",
    Trace,
    {
        "event": ("string", "the event's id"),
        "source": ("string", "its source, where several share the id"),
        "subscriber": ("string", "whose subscription"),
        "subscription": ("string", "its id"),
    },
    one_subscriber=True,
)
def read_trace(caller: Caller, request: Request) -> Trace:
    """Say what became of an event."""
    subscriber, subscription = term(request, "subscriber"), term(request, "subscription")
    caller.access.require_subscriber(subscriber)
    entry = caller.stored_event(term(request, "event"), _text(request, "source") or None)
    return trace(caller.gateway.broker.store, caller.tenant, entry, subscriber, subscription)


def _text(request: Request, name: str) -> str:
    text = request.query_params.get(name, "")
    if len(text) > MAX_TERM_LENGTH:
        raise LimitExceeded(f"characters of `{name}`", allowed=MAX_TERM_LENGTH, found=len(text))
    return text
